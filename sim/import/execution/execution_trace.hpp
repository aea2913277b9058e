// Execution traces: the operators of a run and what they take, as a graph. Chakra's (.et) have
// times and the GPU's kernels; PyTorch's (JSON) have only the host's operators.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/imported.hpp"

namespace gradcast {

/// A tensor among an operator's inputs: [id, storage, offset, elements, bytes of one, device].
struct TensorInput {
  std::int64_t id = 0;
  std::int64_t storage = 0;
  std::int64_t elements = 0;
  std::int64_t element_bytes = 0;
  int argument = 0;             // which of the operator's inputs, from 0
  bool in_list = false;         // the input is a list of tensors
  std::int64_t first_size = 0;  // of its shape; 0 where that is not recorded
};

struct ExecutionNode {
  enum class Kind { Host, Gpu, Collective, PointToPoint };
  Kind kind = Kind::Host;
  std::int64_t id = 0;
  std::string name;
  std::int64_t microseconds = 0;
  std::int64_t thread = 0;
  std::int64_t sequence = -1;       // autograd's number; -1 for none
  std::int64_t forward_thread = 0;  // above 0 in backward, where the trace has it
  bool sized = false;               // of a collective: bytes are known
  std::string collective;           // "all-reduce", ...
  std::int64_t bytes = 0;
  std::int64_t ranks = 0;  // of a collective's group; 0 where it does not say
  std::vector<std::int64_t> data_deps;
  std::vector<TensorInput> tensors;
};

struct ExecutionTrace {
  std::string file;
  std::string kind;    // "chakra", "pytorch_et"
  std::string schema;  // "1.0.1"
  bool timed = false;  // durations and the GPU's kernels are there
  std::vector<ExecutionNode> nodes;
};

/// Appends what a text like "[[1, 2, 0, 64, 4, 'cuda:0'], 3, [[...]]]" has of tensors.
/// `shapes`: "[[64], [], [[8, 3]]]", or "".
void append_tensors(std::string_view values, std::string_view shapes,
                    std::vector<TensorInput>& tensors);

/// The model, by the lists that a foreach or fused optimizer takes; with kernels, the trace. Throws
/// DataError for groups of ranks that are not data-parallel (all-to-all, sends, reduce-scatter) and
/// for data dependencies that go in circles.
Imported imported_from(const ExecutionTrace& trace, const std::string& name);

/// Whether unpacked bytes begin as a Chakra trace does: with a GlobalMetadata message.
bool is_chakra(std::string_view begin);

/// Reads a Chakra trace (.et, .et.gz) message by message. Throws DataError.
ExecutionTrace read_chakra(const std::filesystem::path& path);

/// Whether unpacked bytes begin as a trace of torch.profiler.ExecutionTraceObserver does.
bool is_pytorch_trace(std::string_view begin);

/// Reads PyTorch's trace node by node, .json or .json.gz. Throws DataError.
ExecutionTrace read_pytorch_trace(const std::filesystem::path& path);

}  // namespace gradcast
