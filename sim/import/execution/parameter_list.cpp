#include "sim/import/execution/parameter_list.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

bool is_optimizer(const ExecutionNode& node) {
  return node.name.find("_foreach_") != std::string::npos ||
         node.name.find("_fused_") != std::string::npos;
}

bool is_forward(const ExecutionNode& node) {
  return node.kind == ExecutionNode::Kind::Host && node.sequence >= 0 && node.forward_thread == 0;
}

/// "conv2d" of "aten::conv2d(0)".
std::string short_name(const std::string& name) {
  std::string text = name.substr(0, name.find('('));
  if (const std::size_t colon = text.rfind(':'); colon != std::string::npos)
    text.erase(0, colon + 1);
  return shortened(clean_text(one_line(text)), 40);
}

using TensorList = std::vector<TensorInput>;

/// All lists of tensors that operators of the optimizer take.
std::vector<TensorList> lists_of(const ExecutionTrace& trace) {
  std::vector<TensorList> lists;
  for (const ExecutionNode& node : trace.nodes) {
    if (!is_optimizer(node)) continue;
    std::map<int, TensorList> arguments;
    for (const TensorInput& tensor : node.tensors)
      if (tensor.in_list) arguments[tensor.argument].push_back(tensor);
    for (auto& [argument, list] : arguments) lists.push_back(std::move(list));
  }
  return lists;
}

/// A tensor by its id and its size. PyTorch gives a freed tensor's id to a later one, so that a
/// gradient may have the id of an activation: the size tells them apart.
using TensorKey = std::pair<std::int64_t, std::int64_t>;

TensorKey key_of(const TensorInput& tensor) { return {tensor.id, tensor.elements}; }

/// Groups of parameters may have lists of their own: all lists whose tensors forward takes,
/// each tensor once.
TensorList taken_by_forward(const ExecutionTrace& trace) {
  std::set<TensorKey> taken;
  for (const ExecutionNode& node : trace.nodes)
    if (is_forward(node))
      for (const TensorInput& tensor : node.tensors) taken.insert(key_of(tensor));
  TensorList chosen;
  std::set<TensorKey> seen;
  TensorList longest;  // where forward's operators name none: momentum has the same sizes
  for (TensorList& list : lists_of(trace)) {
    const auto hits = std::count_if(list.begin(), list.end(), [&](const TensorInput& tensor) {
      return taken.contains(key_of(tensor));
    });
    if (2 * static_cast<std::size_t>(hits) > list.size())
      for (const TensorInput& tensor : list)
        if (seen.insert(key_of(tensor)).second) chosen.push_back(tensor);
    if (list.size() > longest.size()) longest = std::move(list);
  }
  return chosen.empty() ? longest : chosen;
}

std::string numbered(std::size_t number) {
  std::string text = std::to_string(number);
  return std::string(text.size() < 3 ? 3 - text.size() : 0, '0') + text;
}

}  // namespace

std::size_t ParameterList::first_taken_by(const ExecutionNode& node) const {
  std::size_t first = tensors.size();
  for (const TensorInput& tensor : node.tensors) {
    if (const auto at = by_id.find(tensor.id); at != by_id.end())
      first = std::min(first, at->second);
    else if (const auto view = by_storage.find(tensor.storage); view != by_storage.end())
      first = std::min(first, view->second);
  }
  return first;
}

std::size_t ParameterList::first_of_layer(std::size_t place) const {
  while (place > 0 && tensors[place - 1].layer == tensors[place].layer) --place;
  return place;
}

std::size_t ParameterList::last_of_layer(std::size_t place) const {
  while (place + 1 < tensors.size() && tensors[place + 1].layer == tensors[place].layer) ++place;
  return place;
}

ParameterList parameters_of(const ExecutionTrace& trace) {
  ParameterList parameters;
  TensorList list = taken_by_forward(trace);
  if (list.empty()) return parameters;
  // For each tensor, the number of the forward node that takes it first.
  std::map<TensorKey, std::size_t> first_use;
  std::set<TensorKey> keys;
  for (const TensorInput& tensor : list) keys.insert(key_of(tensor));
  for (std::size_t i = 0; i < trace.nodes.size(); ++i)
    if (is_forward(trace.nodes[i]))
      for (const TensorInput& tensor : trace.nodes[i].tensors)
        if (keys.contains(key_of(tensor))) first_use.emplace(key_of(tensor), i);
  const auto use_of = [&](const TensorInput& tensor) {
    const auto at = first_use.find(key_of(tensor));
    return at == first_use.end() ? trace.nodes.size() : at->second;
  };
  std::stable_sort(list.begin(), list.end(), [&](const TensorInput& a, const TensorInput& b) {
    return use_of(a) < use_of(b);
  });
  std::size_t layer = 0, in_layer = 0, last_use = trace.nodes.size() + 1;
  for (const TensorInput& tensor : list) {
    if (tensor.elements < 1 || tensor.elements > std::numeric_limits<std::int32_t>::max())
      throw DataError(trace.file, 0,
                      "a parameter has " + std::to_string(tensor.elements) +
                          " elements; 1 to 2147483647 are possible");
    const std::size_t use = use_of(tensor);
    const bool unused = use == trace.nodes.size();
    if (use != last_use || unused) {
      ++layer;
      in_layer = 0;
    }
    last_use = use;
    const std::string name =
        numbered(layer) + " " + (unused ? "tensor" : short_name(trace.nodes[use].name));
    parameters.by_id.emplace(tensor.id, parameters.tensors.size());
    parameters.by_storage.emplace(tensor.storage, parameters.tensors.size());
    parameters.tensors.push_back({name, name + "." + std::to_string(++in_layer), tensor.elements});
  }
  parameters.element_bytes = list.front().element_bytes;
  if (use_of(list.front()) == trace.nodes.size()) return parameters;
  const ExecutionNode& first = trace.nodes[use_of(list.front())];
  parameters.forward_thread = first.thread;
  std::set<std::int64_t> passes;
  for (const ExecutionNode& node : trace.nodes)
    if (is_forward(node) && node.name == first.name)
      for (const TensorInput& tensor : node.tensors)
        if (key_of(tensor) == key_of(list.front())) passes.insert(node.sequence);
  parameters.steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(passes.size()));
  constexpr std::int64_t kMostBatch = 1'000'000;
  for (const TensorInput& tensor : first.tensors)
    if (!parameters.by_id.contains(tensor.id) && tensor.first_size > 0 &&
        tensor.first_size <= kMostBatch) {
      parameters.batch = tensor.first_size;
      break;
    }
  return parameters;
}

}  // namespace gradcast
