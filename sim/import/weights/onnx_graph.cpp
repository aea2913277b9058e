// Field numbers: onnx.proto of onnx/onnx (IR version 10); older files have the same.
#include "sim/import/weights/onnx_graph.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/clean_text.hpp"
#include "sim/base/text.hpp"
#include "sim/import/protobuf_wire.hpp"
#include "sim/import/weights/weight.hpp"

namespace gradcast {
namespace {

constexpr std::size_t kMostDimensionsOfOnnx = 32;
constexpr std::size_t kMostNumbersOfAttribute = 10'000;  // windows, axes; longer ones are data
constexpr std::uint64_t kLongestName = 4096;
constexpr std::size_t kMostNodes = 2'000'000;

/// The bytes of an element of a TensorProto.DataType; 0 where it has no fixed size.
std::uint64_t bytes_of_onnx_type(std::int64_t type) {
  switch (type) {
    case 2:
    case 3:
    case 9:
    case 17:
    case 18:
    case 19:
    case 20:
      return 1;
    case 4:
    case 5:
    case 10:
    case 16:
      return 2;
    case 1:
    case 6:
    case 12:
      return 4;
    case 7:
    case 11:
    case 13:
    case 14:
      return 8;
    default:
      return 0;
  }
}

std::string quoted_name(const std::string& name) {
  return in_quotes(shortened(clean_text(one_line(name)), 80));
}

struct NamedInitializer {
  std::string name;
  OnnxInitializer tensor;
};

NamedInitializer read_tensor(WireMessage proto) {
  NamedInitializer read;
  std::uint64_t raw = 0;
  while (proto.next()) {
    switch (proto.field()) {
      case 1:
        proto.append_to(read.tensor.shape, kMostDimensionsOfOnnx);
        break;
      case 2:
        read.tensor.type = proto.integer();
        break;
      case 8:
        read.name = proto.text(kLongestName);
        break;
      case 9:
        raw = proto.length();
        read.tensor.values = raw > 0 ? proto.place() : 0;
        break;
      case 14:
        read.tensor.external = proto.number() == 1;
        break;
      default:
        break;
    }
  }
  std::uint64_t elements = 0;
  try {
    elements = static_cast<std::uint64_t>(elements_of(read.tensor.shape));
  } catch (const ValueError& error) {
    throw proto.failure("initializer " + quoted_name(read.name) + " has " + error.what());
  }
  const std::uint64_t each = bytes_of_onnx_type(read.tensor.type);
  if (raw > 0 && each > 0 && raw != each * elements)
    throw proto.failure("initializer " + quoted_name(read.name) + " has " + std::to_string(raw) +
                        " bytes of values; its shape takes " + std::to_string(each * elements));
  return read;
}

void read_attribute(WireMessage proto, OnnxNode& node) {
  std::string name;
  std::vector<std::int64_t> integers;
  std::string text;
  while (proto.next()) {
    if (proto.field() == 1) name = proto.text(kLongestName);
    if (proto.field() == 4 && proto.length() <= kLongestName) text = proto.text(kLongestName);
    if (proto.field() == 3) integers.push_back(proto.integer());
    if (proto.field() == 8 && proto.length() <= 10 * kMostNumbersOfAttribute)
      proto.append_to(integers, kMostNumbersOfAttribute);
    if (proto.field() == 5) {  // a Constant's value: its shape, for what takes it
      const NamedInitializer value = read_tensor(proto.message());
      node.integers["value.shape"] = value.tensor.shape;
      node.integers["value.type"] = {value.tensor.type};
    }
  }
  if (!text.empty()) node.texts[name] = text;
  if (!integers.empty()) node.integers[name] = std::move(integers);
}

OnnxNode read_node(WireMessage proto) {
  OnnxNode node;
  constexpr std::size_t kMostEnds = 100'000;
  while (proto.next()) {
    switch (proto.field()) {
      case 1:
        node.inputs.push_back(proto.text(kLongestName));
        break;
      case 2:
        node.outputs.push_back(proto.text(kLongestName));
        break;
      case 3:
        node.name = proto.text(kLongestName);
        break;
      case 4:
        node.type = proto.text(kLongestName);
        break;
      case 5:
        read_attribute(proto.message(), node);
        break;
      default:
        break;
    }
    if (node.inputs.size() + node.outputs.size() > kMostEnds)
      throw proto.failure("a node with more than " + std::to_string(kMostEnds) + " inputs");
  }
  if (node.outputs.empty())
    throw proto.failure("node " + quoted_name(node.name) + " puts out nothing");
  return node;
}

/// The sizes of a TensorShapeProto.
OnnxShape read_shape(WireMessage proto) {
  OnnxShape shape;
  while (proto.next()) {
    if (proto.field() != 1 || !proto.is_bytes()) continue;
    std::int64_t size = kUnknownSize;
    WireMessage dimension = proto.message();
    while (dimension.next())
      if (dimension.field() == 1 && dimension.integer() > 0) size = dimension.integer();
    if (shape.size() == kMostDimensionsOfOnnx) throw proto.failure("a shape of too many sizes");
    shape.push_back(size);
  }
  return shape;
}

/// Adds what a ValueInfoProto says of a value's shape: ValueInfo.type.tensor_type.shape.
void read_value(WireMessage proto, std::map<std::string, OnnxShape>& values) {
  std::string name;
  OnnxShape shape;
  while (proto.next()) {
    if (proto.field() == 1) name = proto.text(kLongestName);
    if (proto.field() != 2 || !proto.is_bytes()) continue;
    WireMessage type = proto.message();
    while (type.next()) {
      if (type.field() != 1 || !type.is_bytes()) continue;
      WireMessage tensor = type.message();
      while (tensor.next())
        if (tensor.field() == 2 && tensor.is_bytes()) shape = read_shape(tensor.message());
    }
  }
  values[name] = std::move(shape);
}

void read_graph(WireMessage proto, OnnxGraph& graph) {
  while (proto.next()) {
    switch (proto.field()) {
      case 1:
        if (graph.nodes.size() == kMostNodes)
          throw proto.failure("a graph of more than " + std::to_string(kMostNodes) + " nodes");
        graph.nodes.push_back(read_node(proto.message()));
        break;
      case 5: {
        NamedInitializer read = read_tensor(proto.message());
        if (!graph.initializers.emplace(read.name, std::move(read.tensor)).second)
          throw proto.failure("two initializers are named " + quoted_name(read.name));
        break;
      }
      case 11:
        read_value(proto.message(), graph.inputs);
        break;
      case 12:
      case 13:
        read_value(proto.message(), graph.shapes);
        break;
      default:
        break;
    }
  }
}

}  // namespace

bool is_onnx(std::string_view begin) {
  // ModelProto begins with its ir_version, a small number; then comes a text or a number.
  constexpr char kMostIrVersion = 30;
  return begin.size() > 2 && begin[0] == 0x08 && begin[1] > 0 && begin[1] <= kMostIrVersion &&
         (begin[2] == 0x12 || begin[2] == 0x3a || begin[2] == 0x42 || begin[2] == 0x1a ||
          begin[2] == 0x22 || begin[2] == 0x28 || begin[2] == 0x32);
}

OnnxGraph read_onnx_graph(const std::filesystem::path& path) {
  ByteSource source(path);
  OnnxGraph graph;
  WireMessage model(source);
  bool found = false;
  std::string version;
  while (model.next()) {
    if (model.field() == 2 && model.is_bytes()) graph.producer = model.text(kLongestName);
    if (model.field() == 3 && model.is_bytes()) version = model.text(kLongestName);
    if (model.field() != 7 || !model.is_bytes()) continue;
    found = true;
    read_graph(model.message(), graph);
  }
  if (!found) throw DataError(path.string(), 0, "has no graph, so it is no ONNX model");
  if (!version.empty()) graph.producer += (graph.producer.empty() ? "" : " ") + version;
  // Files of IR version 3 list initializers among the inputs too.
  for (const auto& [name, initializer] : graph.initializers) graph.inputs.erase(name);
  return graph;
}

bool is_same_turned(const std::filesystem::path& path, const OnnxInitializer& table,
                    const OnnxInitializer& matrix) {
  if (table.type != matrix.type) return false;
  constexpr std::int64_t kRows = 8, kColumns = 64;
  const std::uint64_t bytes = bytes_of_onnx_type(table.type);
  ByteSource source(path);
  const std::int64_t rows = table.shape[0], columns = table.shape[1];
  bool any = false;
  for (std::int64_t i = 0; i < std::min(kRows, rows); ++i)
    for (std::int64_t j = 0; j < std::min(kColumns, columns); ++j) {
      const std::int64_t row = i * rows / std::min(kRows, rows);
      const std::int64_t column = j * columns / std::min(kColumns, columns);
      const auto place = [&](const OnnxInitializer& of, std::int64_t element) {
        return of.values + static_cast<std::uint64_t>(element) * bytes;
      };
      const std::uint64_t a = place(table, row * columns + column);
      const std::uint64_t b = place(matrix, column * rows + row);
      const std::string value = source.copy(a, a + bytes);
      if (value != source.copy(b, b + bytes)) return false;
      any = any || value.find_first_not_of('\0') != std::string::npos;
    }
  return any;
}

}  // namespace gradcast
