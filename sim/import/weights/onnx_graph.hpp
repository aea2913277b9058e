// The graph of an ONNX file: nodes, shapes, and the initializers without their values.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gradcast {

/// A size that the file leaves open ("batch") is kUnknownSize.
using OnnxShape = std::vector<std::int64_t>;
inline constexpr std::int64_t kUnknownSize = -1;

struct OnnxNode {
  std::string name;
  std::string type;  // "Conv"
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, std::vector<std::int64_t>>
      integers;                              // attributes that are numbers or lists
  std::map<std::string, std::string> texts;  // attributes that are texts
};

struct OnnxInitializer {
  OnnxShape shape;
  std::int64_t type = 0;     // TensorProto.DataType
  bool external = false;     // its values lie in another file
  std::uint64_t values = 0;  // where they begin in this file; 0: not as raw bytes
};

struct OnnxGraph {
  std::string producer;         // "pytorch 2.1.0"
  std::vector<OnnxNode> nodes;  // each after those whose outputs it takes
  std::map<std::string, OnnxInitializer> initializers;
  std::map<std::string, OnnxShape> inputs;  // without initializers
  std::map<std::string, OnnxShape> shapes;  // of values between nodes, where the file has them
};

/// Whether a file may be ONNX. `begin`: its first bytes.
bool is_onnx(std::string_view begin);

/// Reads a file of any length: what is not asked for is skipped. Throws DataError.
OnnxGraph read_onnx_graph(const std::filesystem::path& path);

/// True if a matrix of the file is the table, turned: compares some values, of which equal zeros
/// say nothing. Both have two sizes, and their values in this file.
bool is_same_turned(const std::filesystem::path& path, const OnnxInitializer& table,
                    const OnnxInitializer& matrix);

}  // namespace gradcast
