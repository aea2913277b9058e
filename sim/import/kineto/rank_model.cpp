#include "sim/import/kineto/rank_model.hpp"

#include <algorithm>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/import/kineto/buckets.hpp"
#include "sim/import/kineto/model.hpp"
#include "sim/import/kineto/shards.hpp"
#include "sim/import/kineto/sizes.hpp"
#include "sim/inputs/sharding.hpp"

namespace gradcast::kineto {
namespace {

/// The share of a step that the GPU waits for its host from which launches are part of the trace.
constexpr double kHostMatters = 0.1;

void require_fitting(const std::vector<Parameter>& parameters, const TextFile& file,
                     const Rank& rank, const Sizes& sizes) {
  const std::vector<Gradient>& gradients = rank.gradients.front().gradients;
  const std::string path = file.path.string();
  if (parameters.size() != gradients.size())
    throw DataError(path, 0,
                    "has " + std::to_string(parameters.size()) + " parameters, and " + rank.file +
                        " has " + std::to_string(gradients.size()) +
                        " gradients; list those that are trained");
  const std::vector<std::size_t> places = forward_places(gradients);
  for (std::size_t i = 0; i < places.size() && !sizes.elements.empty(); ++i) {
    const Parameter& parameter = parameters[places[i]];
    const std::int64_t seen = sizes.elements[i];
    const std::int64_t off = sizes.from == ShapesFrom::Recorded ? 0 : 511;
    if (parameter.elements < seen - off || parameter.elements > seen + off)
      throw DataError(path, 0,
                      "parameter " + std::to_string(places[i] + 1) + ", '" + parameter.name +
                          "', has " + std::to_string(parameter.elements) +
                          " elements, and the trace's has " + std::to_string(seen) +
                          "; list them in the order of the forward pass");
  }
}

/// Sizes that the trace has; in a sharded run what the optimizer touches are shards.
Sizes recorded_sizes(const StepGradients& step) {
  StepGradients bare;
  bare.gradients = step.gradients;
  for (Gradient& gradient : bare.gradients) gradient.room = -1;
  return sizes_of(bare, {}, 4);
}

/// Whether a unit is one tensor of the model: the run made it so (FSDP1), or nothing tells the
/// sizes of its gradients.
bool merges(const StepGradients& step, const Sizes& sizes) {
  return sizes.from == ShapesFrom::Unknown ||
         std::all_of(step.units.begin(), step.units.end(),
                     [](const SentUnit& unit) { return unit.gradients.size() == 1; });
}

/// Each gradient's size where units are what counts: of the first of a unit all of it. Unknown
/// where the trace does not say what was scattered.
Sizes unit_sizes(const StepGradients& step) {
  Sizes sizes{ShapesFrom::Inferred, std::vector<std::int64_t>(step.gradients.size(), 0),
              "what was scattered: one tensor a unit, with the padding of its shards"};
  for (const SentUnit& unit : step.units) {
    if (unit.elements < 1) return {};
    sizes.elements[unit.gradients.front()] = unit.elements;
  }
  return sizes;
}

void note_optimizer(const Rank& rank, ImportNotes& notes) {
  const std::string& its = rank.optimizer_class;
  if (rank.optimizer)
    notes.used.push_back("the optimizer, " + its + ", by the name of its step: " +
                         to_text(*rank.optimizer) + " for --optimizer");
  else
    notes.unknown.push_back(
        (its.empty()    ? std::string("the optimizer: no step has the name of one, or several have")
         : its == "SGD" ? std::string("the momentum of SGD: the trace has no calls of its step")
                        : "the memory that the optimizer " + its + " moves") +
        "; `# optimizer:` in the trace's file says adam, momentum or sgd");
}

}  // namespace

void set_model(const Rank& rank, const ImportOptions& options, int element_bytes,
               Imported& imported) {
  const StepGradients& first = rank.gradients.front();
  imported.gradients = static_cast<int>(first.gradients.size());
  Sizes sizes =
      rank.shards ? recorded_sizes(first) : sizes_of(first, imported.buckets, element_bytes);
  std::vector<Parameter> parameters;
  if (options.params) {
    parameters = load_parameters(*options.params);
    require_fitting(parameters, *options.params, rank, sizes);
    const std::vector<std::size_t> places = forward_places(first.gradients);
    sizes = {ShapesFrom::Given, {}, options.params->path.string()};
    for (const std::size_t place : places) sizes.elements.push_back(parameters[place].elements);
  }
  const bool merge = rank.shards && merges(first, sizes);
  if (merge) sizes = unit_sizes(first);
  imported.shapes = sizes.from;
  if (sizes.from == ShapesFrom::Unknown) {
    imported.notes.unknown.push_back(
        "the sizes of " + std::to_string(imported.gradients) +
        " gradients: no shapes, no copies into buckets, no kernels of the optimizer tell them; "
        "record with record_shapes=True, or give --params");
    return;
  }
  const std::string told = std::string("the sizes of ") +
                           std::to_string(merge ? first.units.size() : first.gradients.size()) +
                           (merge ? " units, from " : " gradients, from ") + sizes.how;
  (sizes.from == ShapesFrom::Inferred ? imported.notes.inferred : imported.notes.used)
      .push_back(told);
  if (imported.buckets.empty() && rank.sends_each) {
    set_separate_sends(rank, sizes, element_bytes, imported);
  } else if (imported.buckets.empty() && sizes.from != ShapesFrom::Unknown) {
    set_buckets_by_calls(first, sizes, imported);
  }
  TimedModel made = timed_model(rank.gradients, sizes.elements, parameters);
  made.model.name = options.name;
  if (!rank.shards) {
    const BroadcastBytes buffers = broadcast_in_forward(rank.collectives);
    made.model.tensors.front().buffer_bytes = buffers.numbers;
    made.model.tensors.front().counter_bytes = buffers.counters;
    if (const std::int64_t bytes = buffers.numbers + buffers.counters; bytes > 0)
      imported.notes.used.push_back("the sizes of buffers, " + std::to_string(bytes) +
                                    " bytes: rank 0 broadcasts them before forward");
  }
  imported.model = made.model;
  IterationTrace trace;
  trace.device = rank.device.empty() ? "unknown GPU" : rank.device;
  trace.tensors = made.times;
  // A rank updates its shard only, and a trace has the update of all parameters.
  const int shards = rank.shards ? rank.shards->group : 1;
  const double update = median_of(rank, &WindowTimes::update) * shards;
  if (shards > 1)
    imported.notes.inferred.push_back(
        "the update of all parameters, " + std::to_string(shards) +
        " times that of one rank's shard: " + to_text(Seconds{rounded_to(3, update)}));
  const double beside =
      median_of(rank, &WindowTimes::copy_back) + median_of(rank, &WindowTimes::zero);
  trace.update = rounded_to_nanosecond(Seconds{update + beside});
  if (beside > 0)
    imported.notes.used.push_back(
        "the update has what clearing gradients and copying them out of "
        "buckets takes: " +
        to_text(Seconds{rounded_to(3, beside)}));
  if (!made.forward_known)
    imported.notes.inferred.push_back(
        "the forward time of each tensor, in proportion to its backward time: the trace has no "
        "sequence numbers; the sum is measured");
  trace.optimizer = rank.optimizer;
  trace.fused = rank.fused_update;
  note_optimizer(rank, imported.notes);
  trace.batch = made.batch;
  if (options.batch) {
    trace.batch = *options.batch;
  } else if (made.batch > 0) {
    imported.notes.inferred.push_back("the batch, " + std::to_string(made.batch) +
                                      ", from the first operator's input");
  } else {
    trace.batch = 1;
    imported.notes.unknown.push_back(
        "the batch: 1 stands for whatever it was, so that --batch cannot scale it; give --batch "
        "here");
  }
  // Launches run ahead where the GPU hardly waits for its host: they say nothing of its pace then.
  if (imported.times->host > kHostMatters * imported.times->window) {
    set_launches(rank.gradients, rank.launch_latency, trace);
    imported.notes.used.push_back(
        "the dates of the host's launches, and " + to_text(to_seconds(rank.launch_latency)) +
        " from a launch to its kernel: no part of a forecast begins earlier");
  }
  if (rank.shards) {
    arrange_units(first, merge, *imported.model, trace);
    if (merge) imported.gradients = static_cast<int>(imported.model->tensors.size());
  }
  imported.trace = trace;
}

void set_sharding(const Rank& rank, Imported& imported) {
  if (!rank.shards) return;
  const Shards& its = *rank.shards;
  ImportNotes& notes = imported.notes;
  imported.sharding.kind = Sharding::Fsdp;
  imported.sharding.group = its.group < imported.world_size ? its.group : 0;
  imported.sharding.reshard_after_forward = its.gathered_again;
  std::string told = "fully sharded (FSDP) over " + std::to_string(its.group) + " ranks";
  if (imported.sharding.group > 0)
    told += ", " + std::to_string(its.copies) + " copies of the model";
  notes.used.push_back(told + ": " + std::to_string(imported.buckets.size()) +
                       " units, by their reduce-scatters; parameters are gathered in forward" +
                       (its.gathered_again ? " and again in backward" : ", and kept for backward"));
  const int parameter = its.parameter_bytes > 0 ? its.parameter_bytes : 4;
  const int sum = its.sum_bytes > 0 ? its.sum_bytes : parameter;
  const auto type_of = [&](int bytes) { return bytes == 2 ? NumberType::Bf16 : NumberType::Fp32; };
  if ((parameter != 2 && parameter != 4) || (sum != 2 && sum != 4))
    notes.unknown.push_back("parameters of " + std::to_string(parameter) + " and sums of " +
                            std::to_string(sum) +
                            " bytes an element: forecasts send 2 or 4 bytes an element");
  if (imported.model) {
    set_types(*imported.model, {.parameter = type_of(parameter)});
    imported.precision.parameter = type_of(parameter);
    if (type_of(sum) != type_of(parameter)) imported.precision.sum = type_of(sum);
    if (parameter == 2)
      notes.inferred.push_back("parameters of 2 bytes an element are taken to be bf16");
  }
  // A unit is padded so that its shards are equal, by less than a hundredth of it.
  if (its.scattered > 0 && its.gathered > its.scattered + its.scattered / 50)
    notes.unknown.push_back(
        "the parameters that get no gradient: forward gathers " + std::to_string(its.gathered) +
        " elements, and backward scatters " + std::to_string(its.scattered) +
        "; frozen parameters, or a forward pass that gathers more than once, are in no forecast");
}

/// Both 16-bit types take as long.
void set_element_type(int element_bytes, Imported& imported) {
  if (element_bytes == 4) return;
  if (element_bytes != 2 || !imported.model) {
    imported.notes.unknown.push_back("gradients of " + std::to_string(element_bytes) +
                                     " bytes an element: forecasts send 4 bytes an element");
    return;
  }
  set_types(*imported.model, {.parameter = NumberType::Bf16});
  imported.notes.inferred.push_back(
      "gradients of 2 bytes an element are taken to be bf16, and so are the parameters");
}

}  // namespace gradcast::kineto
