#include <algorithm>
#include <array>
#include <optional>

#include "sim/answers/json_reader.hpp"
#include "sim/base/block_reader.hpp"
#include "sim/base/error.hpp"
#include "sim/import/execution/execution_trace.hpp"

namespace gradcast {
namespace {

constexpr std::size_t kMostPytorchNodes = 5'000'000;

struct CollectiveName {
  std::string_view theirs;
  const char* ours;
};

/// Names of collectives in record_param_comms, and ours.
constexpr std::array kPytorchCollectives = {
    CollectiveName{"allreduce", "all-reduce"},
    CollectiveName{"all_reduce", "all-reduce"},
    CollectiveName{"allreduce_coalesced", "all-reduce"},
    CollectiveName{"broadcast", "broadcast"},
    CollectiveName{"reduce", "reduce"},
    CollectiveName{"all_gather", "all-gather"},
    CollectiveName{"allgather", "all-gather"},
    CollectiveName{"_allgather_base", "all-gather"},
    CollectiveName{"allgather_into_tensor_coalesced", "all-gather"},
    CollectiveName{"reduce_scatter", "reduce-scatter"},
    CollectiveName{"_reduce_scatter_base", "reduce-scatter"},
    CollectiveName{"reduce_scatter_tensor_coalesced", "reduce-scatter"},
    CollectiveName{"all_to_all", "all-to-all"},
    CollectiveName{"all_to_allv", "all-to-all"},
    CollectiveName{"alltoall", "all-to-all"},
};

std::optional<std::int64_t> whole_number(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const double near = value.get<double>();
  if (!(near >= -9e18 && near <= 9e18)) return std::nullopt;
  return value.get<std::int64_t>();
}

/// [id, storage, offset, elements, bytes of one, device].
std::optional<TensorInput> tensor_of(const Json& value) {
  if (!value.is_array() || value.size() != 6 || !value[5].is_string()) return std::nullopt;
  TensorInput tensor;
  std::int64_t* const places[] = {&tensor.id, &tensor.storage, nullptr, &tensor.elements,
                                  &tensor.element_bytes};
  for (std::size_t i = 0; i < 5; ++i) {
    const auto number = whole_number(value[i]);
    if (!number) return std::nullopt;
    if (places[i] != nullptr) *places[i] = *number;
  }
  constexpr std::int64_t kMostElements = std::int64_t{1} << 36;
  if (tensor.elements < 0 || tensor.elements > kMostElements || tensor.element_bytes < 1 ||
      tensor.element_bytes > 16)
    return std::nullopt;
  return tensor;
}

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}

void take_inputs(const Json& inputs, ExecutionNode& node) {
  const Json* values = member(inputs, "values");
  const Json* shapes = member(inputs, "shapes");
  if (values == nullptr || !values->is_array()) return;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const Json& value = (*values)[i];
    if (auto tensor = tensor_of(value)) {
      tensor->argument = static_cast<int>(i);
      if (shapes != nullptr && shapes->is_array() && i < shapes->size() &&
          (*shapes)[i].is_array() && !(*shapes)[i].empty())
        tensor->first_size = whole_number((*shapes)[i][0]).value_or(0);
      node.tensors.push_back(*tensor);
    } else if (value.is_array()) {
      for (const Json& each : value)
        if (auto inside = tensor_of(each)) {
          inside->argument = static_cast<int>(i);
          inside->in_list = true;
          node.tensors.push_back(*inside);
        }
    }
  }
}

void take_attributes(const Json& attributes, ExecutionNode& node) {
  if (!attributes.is_array()) return;
  for (const Json& each : attributes) {
    const Json* name = member(each, "name");
    const Json* value = member(each, "value");
    if (name == nullptr || value == nullptr || !name->is_string()) continue;
    const auto number = whole_number(*value);
    if (!number) continue;
    const auto& key = name->get_ref<const std::string&>();
    if (key == "tid") node.thread = *number;
    if (key == "seq_id") node.sequence = *number;
    if (key == "fw_tid") node.forward_thread = *number;
    if (key == "pg_size" && *number > 0 && *number <= 1'000'000) node.ranks = *number;
  }
}

/// record_param_comms has its collective's name among its inputs, and what is handed over first.
void take_collective(const Json& inputs, ExecutionNode& node) {
  const Json* values = member(inputs, "values");
  if (values == nullptr || !values->is_array()) return;
  for (const Json& value : *values) {
    if (!value.is_string()) continue;
    const auto& name = value.get_ref<const std::string&>();
    if (name == "send" || name == "recv") {
      node.kind = ExecutionNode::Kind::PointToPoint;
      return;
    }
    for (const CollectiveName& known : kPytorchCollectives) {
      if (name != known.theirs) continue;
      node.kind = ExecutionNode::Kind::Collective;
      node.collective = known.ours;
      for (const TensorInput& tensor : node.tensors)
        if (tensor.argument == 0) node.bytes += tensor.elements * tensor.element_bytes;
      constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
      node.sized = node.bytes > 0 && node.bytes <= kMostBytes;
      return;
    }
  }
}

ExecutionNode read_pytorch_node(const Json& json, const std::string& file) {
  ExecutionNode node;
  const Json* id = member(json, "id");
  const Json* name = member(json, "name");
  if (id == nullptr || name == nullptr || !whole_number(*id) || !name->is_string())
    throw DataError(file, 0, "has a node without \"id\" and \"name\"");
  node.id = *whole_number(*id);
  node.name = name->get<std::string>();
  const Json* inputs = member(json, "inputs");
  // Traces before schema 1.0.3 have them beside the name, and attributes too.
  const Json* attributes = member(json, "attrs");
  if (attributes != nullptr) take_attributes(*attributes, node);
  if (inputs != nullptr && inputs->is_object()) {
    take_inputs(*inputs, node);
    if (node.name == "record_param_comms") take_collective(*inputs, node);
  }
  return node;
}

}  // namespace

bool is_pytorch_trace(std::string_view begin) {
  const std::size_t brace = begin.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || begin[brace] != '{') return false;
  const std::string_view head = begin.substr(0, 4096);
  return head.find("\"schema\"") != std::string_view::npos &&
         head.find("\"traceEvents\"") == std::string_view::npos &&
         (head.find("\"start_ts\"") != std::string_view::npos ||
          head.find("execution_trace|") != std::string_view::npos);
}

ExecutionTrace read_pytorch_trace(const std::filesystem::path& path) {
  ExecutionTrace trace;
  trace.file = path.string();
  trace.kind = "pytorch_et";
  BlockReader file(path);
  const Json head = read_json(
      file, {{"nodes"}, [&](std::size_t, Json& node) {
               if (trace.nodes.size() == kMostPytorchNodes)
                 throw DataError(trace.file, 0,
                                 "has more than " + std::to_string(kMostPytorchNodes) + " nodes");
               trace.nodes.push_back(read_pytorch_node(node, trace.file));
             }});
  if (const Json* schema = member(head, "schema"); schema != nullptr && schema->is_string())
    trace.schema = schema->get<std::string>();
  if (trace.nodes.empty()) throw DataError(trace.file, 0, "has no \"nodes\"");
  return trace;
}

}  // namespace gradcast
