#include "sim/import/execution/execution_trace.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "sim/base/error.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"
#include "sim/import/execution/parameter_list.hpp"

namespace gradcast {
namespace {

constexpr double kMicro = 1e-6;

Seconds seconds_of(std::int64_t microseconds, std::int64_t steps) {
  return Seconds{static_cast<double>(microseconds) * kMicro / static_cast<double>(steps)};
}

/// Data-parallel training all-reduces gradients and broadcasts buffers. Other collectives belong to
/// schemes in which ranks hold different parts of a model.
void require_data_parallel(const ExecutionTrace& trace) {
  for (const ExecutionNode& node : trace.nodes) {
    if (node.kind == ExecutionNode::Kind::PointToPoint)
      throw DataError(trace.file, 0,
                      "sends from rank to rank (" + one_line(node.name).substr(0, 60) +
                          "), as pipelines do: gradcast forecasts data-parallel training only");
    if (node.kind != ExecutionNode::Kind::Collective) continue;
    if (node.collective == "all-to-all")
      throw DataError(
          trace.file, 0,
          "has an all-to-all, as experts and embeddings on several ranks need: gradcast "
          "forecasts data-parallel training only");
    if (node.collective == "reduce-scatter" || node.collective == "all-gather")
      throw DataError(
          trace.file, 0,
          "has a " + node.collective +
              ", as sharded training (FSDP, ZeRO, tensor parallelism) does: import reads "
              "plain data-parallel runs only. For FSDP and ZeRO import a plain run of "
              "the model, and forecast it with --sharding");
  }
}

/// Follows data dependencies, never control's: those of real traces dangle and go in circles.
void require_no_circles(const ExecutionTrace& trace) {
  std::unordered_map<std::int64_t, std::size_t> place;
  for (std::size_t i = 0; i < trace.nodes.size(); ++i)
    if (!place.emplace(trace.nodes[i].id, i).second)
      throw DataError(trace.file, 0,
                      "two nodes have the number " + std::to_string(trace.nodes[i].id));
  std::vector<std::size_t> waits(trace.nodes.size(), 0);
  std::vector<std::vector<std::size_t>> after(trace.nodes.size());
  for (std::size_t i = 0; i < trace.nodes.size(); ++i)
    for (const std::int64_t needed : trace.nodes[i].data_deps)
      if (const auto at = place.find(needed); at != place.end()) {
        after[at->second].push_back(i);
        ++waits[i];
      }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < waits.size(); ++i)
    if (waits[i] == 0) ready.push_back(i);
  std::size_t done = 0;
  while (!ready.empty()) {
    const std::size_t node = ready.back();
    ready.pop_back();
    ++done;
    for (const std::size_t next : after[node])
      if (--waits[next] == 0) ready.push_back(next);
  }
  if (done < trace.nodes.size())
    throw DataError(trace.file, 0,
                    "data dependencies of " + std::to_string(trace.nodes.size() - done) +
                        " nodes go in a circle, so nothing says what runs first");
}

class Reading {
 public:
  Reading(const ExecutionTrace& trace, const std::string& name) : trace_(trace), name_(name) {
    for (const ExecutionNode& node : trace.nodes)
      if (node.kind == ExecutionNode::Kind::Host) hosts_[node.id] = &node;
  }

  Imported read() {
    require_data_parallel(trace_);
    require_no_circles(trace_);
    imported_.kind = trace_.kind;
    parameters_ = parameters_of(trace_);
    imported_.steps_used = static_cast<int>(parameters_.steps);
    count();
    take_collectives();
    if (parameters_.tensors.empty()) {
      imported_.notes.unknown.push_back(
          "the model: no foreach or fused optimizer lists its parameters, and nothing else does");
      return std::move(imported_);
    }
    make_model();
    if (trace_.timed)
      make_trace();
    else
      imported_.notes.unknown.push_back(
          "times: a PyTorch execution trace has none (the profiler's trace of the same run has)");
    return std::move(imported_);
  }

 private:
  void count() {
    std::int64_t gpu = 0, host = 0, gpu_us = 0, host_us = 0, unsized = 0, collectives = 0;
    for (const ExecutionNode& node : trace_.nodes) {
      if (node.kind == ExecutionNode::Kind::Gpu) {
        ++gpu;
        gpu_us += node.microseconds;
      } else if (node.kind == ExecutionNode::Kind::Collective) {
        ++(node.sized ? collectives : unsized);
      } else {
        ++host;
        host_us += node.microseconds;
      }
      if (node.kind == ExecutionNode::Kind::Gpu ||
          (node.kind == ExecutionNode::Kind::Collective && node.sized))
        imported_.linked += launcher(node) != nullptr ? 1 : 0;
    }
    std::string text = std::to_string(trace_.nodes.size()) + " nodes";
    if (trace_.timed)
      text += ": " + std::to_string(gpu) + " of the GPU, " + std::to_string(gpu_us) + " us, " +
              std::to_string(host) + " of the host, " + std::to_string(host_us) + " us";
    text += ", " + std::to_string(collectives) + " collectives";
    if (trace_.timed) text += "; data dependencies, not those of control";
    imported_.notes.used.push_back(text);
    if (unsized > 0)
      imported_.notes.dropped.push_back(std::to_string(unsized) +
                                        " communication nodes of the host, which have no size");
    imported_.provenance.push_back(trace_.kind + " trace, schema " + one_line(trace_.schema) +
                                   ", " + text);
  }

  /// The host's operator that launched a kernel: the first of its data dependencies on the host.
  const ExecutionNode* launcher(const ExecutionNode& node) const {
    for (const std::int64_t needed : node.data_deps)
      if (const auto at = hosts_.find(needed); at != hosts_.end()) return at->second;
    return nullptr;
  }

  void take_collectives() {
    const std::int64_t steps = parameters_.steps;
    std::map<std::string, ImportedCollective> all;
    std::vector<std::string> order;
    std::vector<const ExecutionNode*> reductions;
    std::int64_t ranks = 0;
    for (const ExecutionNode& node : trace_.nodes) {
      if (node.kind != ExecutionNode::Kind::Collective || !node.sized) continue;
      ImportedCollective& kept = all[node.collective];
      if (kept.count == 0) order.push_back(node.collective);
      kept.name = node.collective;
      ++kept.count;
      kept.bytes = kept.bytes + Bytes{node.bytes};
      kept.seconds += Seconds{static_cast<double>(node.microseconds) * kMicro};
      ranks = std::max(ranks, node.ranks);
      if (node.collective == "all-reduce") reductions.push_back(&node);
    }
    for (const std::string& name : order) {
      ImportedCollective& each = all[name];
      each.count = static_cast<int>(each.count / steps);
      each.bytes.count /= steps;
      each.seconds /= static_cast<double>(steps);
      imported_.collectives.push_back(each);
    }
    // The last step's, in order: the first may have buckets of its own, before DDP reorders them.
    if (reductions.size() % static_cast<std::size_t>(steps) != 0)
      imported_.notes.unknown.push_back(
          "the all-reduces of a step: " + std::to_string(reductions.size()) + " in " +
          std::to_string(steps) +
          " forward passes, so steps differ, as where gradients add up over several (no_sync)");
    const std::size_t each_step = reductions.size() / static_cast<std::size_t>(steps);
    for (std::size_t i = reductions.size() - each_step; i < reductions.size(); ++i) {
      imported_.buckets.push_back(reductions[i]->bytes / parameters_.element_bytes);
      if (reductions[i]->microseconds > 0)
        imported_.transfers.push_back(
            {Bytes{reductions[i]->bytes}, seconds_of(reductions[i]->microseconds, 1)});
    }
    if (ranks > 0) imported_.world_size = static_cast<int>(ranks);
    if (!order.empty() && ranks == 0)
      imported_.notes.unknown.push_back("how many ranks the collectives join: the trace is one's");
    if (!order.empty() && trace_.timed)
      imported_.notes.unknown.push_back("one rank only: collectives include waiting");
  }

  void make_model() {
    Model model{name_, {}};
    for (const TracedParameter& parameter : parameters_.tensors)
      model.tensors.push_back({parameter.layer, parameter.name, parameter.elements, 0});
    for (const ImportedCollective& one : imported_.collectives) {
      if (one.name != "broadcast" || model.tensors.empty()) continue;
      model.tensors.front().buffer_bytes = one.bytes.count;
      imported_.notes.inferred.push_back("buffers of " + std::to_string(one.bytes.count) +
                                         " bytes: what a step broadcasts");
    }
    imported_.shapes = ShapesFrom::Recorded;
    imported_.model = std::move(model);
    imported_.notes.used.push_back("sizes of " + std::to_string(parameters_.tensors.size()) +
                                   " tensors, from the optimizer's list");
    imported_.notes.inferred.push_back(
        "names: a trace has numbers only, so a tensor is named after the operator that first takes "
        "it, and stands where that does");
    imported_.notes.unknown.push_back("FLOPs (forward_flops is 0)");
  }

  enum class Phase { Forward, Backward, Update, Copies, Else };

  Phase phase_of(const ExecutionNode& host) const {
    if (host.name.find("_foreach_") != std::string::npos ||
        host.name.find("_fused_") != std::string::npos)
      return Phase::Update;
    if (host.sequence >= 0) return host.forward_thread > 0 ? Phase::Backward : Phase::Forward;
    const bool autograd = host.thread != parameters_.forward_thread;
    // DDP puts gradients into buckets, and copies the sums back: not the layer's own work.
    if (autograd && (host.name.starts_with("aten::copy_") || host.name.starts_with("aten::mul")))
      return Phase::Copies;
    if (autograd || host.name.find("backward") != std::string::npos) return Phase::Backward;
    return Phase::Else;
  }

  void make_trace() {
    const std::size_t tensors = parameters_.tensors.size();
    std::vector<std::int64_t> forward(tensors, 0), backward(tensors, 0);
    std::map<Phase, std::int64_t> sums;
    std::size_t at = 0;        // the tensor whose layer runs now
    std::int64_t waiting = 0;  // backward of operators without parameters, of the layer to come
    for (const ExecutionNode& node : trace_.nodes) {
      if (node.kind == ExecutionNode::Kind::Host) {
        const Phase phase = phase_of(node);
        const std::size_t taken = parameters_.first_taken_by(node);
        if (taken == tensors) continue;
        if (phase == Phase::Forward || phase == Phase::Backward) {
          at = taken;
          if (phase == Phase::Backward) {
            backward[parameters_.last_of_layer(at)] += waiting;
            waiting = 0;
          }
        }
        continue;
      }
      if (node.kind != ExecutionNode::Kind::Gpu) continue;
      const ExecutionNode* host = launcher(node);
      const Phase phase = host == nullptr ? Phase::Else : phase_of(*host);
      sums[phase] += node.microseconds;
      if (host == nullptr) continue;
      const std::size_t taken = parameters_.first_taken_by(*host);
      if (phase == Phase::Forward) {
        forward[parameters_.first_of_layer(taken < tensors ? taken : at)] += node.microseconds;
      } else if (phase == Phase::Backward) {
        if (taken < tensors)
          backward[parameters_.last_of_layer(taken)] += node.microseconds;
        else
          waiting += node.microseconds;
      }
    }
    backward[parameters_.last_of_layer(0)] += waiting;
    IterationTrace trace;
    trace.device = imported_.device.empty() ? "unnamed" : imported_.device;
    trace.batch = static_cast<int>(std::max<std::int64_t>(1, parameters_.batch));
    trace.update = seconds_of(sums[Phase::Update], parameters_.steps);
    for (std::size_t i = 0; i < tensors; ++i)
      trace.tensors.push_back({parameters_.tensors[i].name,
                               seconds_of(forward[i], parameters_.steps),
                               seconds_of(backward[i], parameters_.steps)});
    if (trace.iteration() < Seconds{kShortestMeasuredSeconds}) {
      imported_.notes.unknown.push_back("times: no kernel of the GPU belongs to a layer");
      return;
    }
    if (trace.iteration() > Seconds{kLongestSeconds})
      throw DataError(trace_.file, 0,
                      "takes " + number_to_text(trace.iteration().count()) + " s for an iteration");
    const auto us = [&](Phase phase) { return std::to_string(sums[phase]) + " us"; };
    imported_.notes.used.push_back("kernels by what launched them: forward " + us(Phase::Forward) +
                                   ", backward " + us(Phase::Backward) + ", update " +
                                   us(Phase::Update));
    if (sums[Phase::Copies] + sums[Phase::Else] > 0)
      imported_.notes.dropped.push_back("kernels that copy gradients into buckets and back, " +
                                        us(Phase::Copies) + ", and others, " + us(Phase::Else));
    imported_.notes.unknown.push_back(
        "gaps between kernels: durations are whole microseconds, without dates");
    if (parameters_.batch > 0)
      imported_.notes.inferred.push_back("a batch of " + std::to_string(parameters_.batch) +
                                         ", the first size of what the first layer takes");
    else
      imported_.notes.unknown.push_back("the batch (written as 1)");
    imported_.trace = std::move(trace);
  }

  const ExecutionTrace& trace_;
  std::string name_;
  Imported imported_;
  std::unordered_map<std::int64_t, const ExecutionNode*> hosts_;
  ParameterList parameters_;
};

}  // namespace

Imported imported_from(const ExecutionTrace& trace, const std::string& name) {
  return Reading(trace, name).read();
}

}  // namespace gradcast
