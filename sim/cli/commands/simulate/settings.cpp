#include "sim/cli/commands/simulate/settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_holdout.hpp"
#include "sim/inputs/fusion.hpp"
#include "sim/plan/plan_summary.hpp"
#include "sim/plan/shard_units.hpp"

namespace gradcast::commands {
namespace {

/// The interpolation error in the rows that priced a plan.
HoldOut interpolation_of(const Scenario& scenario, const Plan& plan) {
  if (plan.buckets.empty()) return {};
  const CostEstimate& cost = plan.buckets[0].cost;
  const CompressorCosts used(scenario.costs, {.compressor = std::string(scenario.compressor->name),
                                              .mode = cost.mode,
                                              .implementation = cost.implementation});
  return held_out_error(used.rows());
}

/// Tensors of each bucket, in backward order: "12+3+1".
std::string groups_of(const Plan& plan) {
  std::vector<std::string> sizes;
  for (const PlannedBucket& bucket : plan.buckets) sizes.push_back(std::to_string(bucket.tensors));
  return join(sizes, "+");
}

/// The type that all tensors have, or "mixed".
std::string type_of(const Scenario& scenario, NumberType GradientTensor::*which) {
  std::set<NumberType> types;
  for (const GradientTensor& tensor : scenario.model->tensors) types.insert(tensor.*which);
  if (types.empty()) return "";
  return types.size() > 1 ? "mixed" : std::string(to_text(*types.begin()));
}

void add_sharding(Json& settings, const Scenario& scenario) {
  settings["parameter_type"] = type_of(scenario, &GradientTensor::type);
  settings["gradient_type"] = type_of(scenario, &GradientTensor::gradient_type);
  settings["sum_type"] = type_of(scenario, &GradientTensor::sum_type);
  settings["sharding"] = to_text(scenario.sharding);
  settings["shards"] = scenario.shards();
  settings["replicas_of_shards"] = scenario.replicas();
  if (scenario.sharding.kind == Sharding::Fsdp) {
    settings["units"] = shard_units(scenario.model, scenario.sharding.unit_elements).size();
    settings["prefetch"] = scenario.prefetch();
    settings["reshard_after_forward"] = scenario.sharding.reshard_after_forward ? "yes" : "no";
  }
  settings["activation_type"] = type_of(scenario, &GradientTensor::activation_type);
  settings["recompute"] = to_text(scenario.recompute);
  settings["optimizer"] = to_text(scenario.optimizer);
}

/// A threshold says nothing of how many elements pass it: the density does, and so it stands alone
/// where no threshold is named.
bool takes_parameter(const Compressor& compressor, const Request& request) {
  if (compressor.parameter.selects) return request.parameter.has_value();
  return !compressor.parameter.name.empty();
}

}  // namespace

Json settings_of(const Scenario& scenario, const Request& request, const Plan& plan,
                 const DataFiles& files, const NoiseChoice& noise, const std::string& engine) {
  Json settings;
  settings["model"] = scenario.model->name;
  settings["parameters"] = scenario.model->elements();
  settings["tensors"] = scenario.model->tensors.size();
  settings["trace"] = request.shares_by_flops ? "by forward_flops" : request.trace_name();
  settings["device"] = scenario.trace->device;
  settings["batch"] = scenario.batch();
  settings["framework_in_compute"] = scenario.framework_in_compute ? "yes" : "no";
  settings["gradient_copies"] = to_text(scenario.gradient_copies);
  settings["broadcast_buffers"] = scenario.broadcast_buffers ? "yes" : "no";
  settings["accumulation"] = scenario.accumulation;
  settings["synchronise"] = scenario.synchronises_every() ? "every" : "last";
  add_sharding(settings, scenario);
  settings["compressor"] = scenario.compressor->name;
  settings["fusion"] = to_text(scenario.fusion);
  settings["overlap"] = scenario.overlap ? "yes" : "no";
  settings["pipeline"] = scenario.pipeline ? "yes" : "no";
  settings["queue"] = to_text(scenario.queue);
  settings["network_streams"] = plan.network_streams;
  settings["collective"] = collectives_of(plan);
  if (scenario.fusion.needs_times()) settings["groups"] = groups_of(plan);
  settings["buckets"] = plan.buckets.size();
  std::int64_t payload = 0;
  std::int64_t selected = 0;
  for (const PlannedBucket& bucket : plan.buckets) {
    payload += bucket.payload.count;
    for (const DenseCollective& first : bucket.first) payload += first.load.payload.count;
    selected += bucket.selected;
  }
  settings["payload_bytes_per_rank"] = payload;
  settings["sent_bytes_per_rank"] = std::llround(sent_bytes_per_rank(plan, scenario.cluster));
  if (scenario.compresses()) {
    settings["density"] = scenario.sparse() ? scenario.density : 1;
    settings["parameter"] =
        takes_parameter(*scenario.compressor, request) ? Json(scenario.parameter) : Json();
    settings["selected_elements"] = selected;
    const bool pairs = scenario.sparse() && scenario.compressor->payload == nullptr;
    settings["value_type"] = pairs ? Json(value_type_text(request.value_type)) : Json();
    settings["wire_bytes_per_element"] =
        scenario.wire_bytes_per_element > 0 ? Json(scenario.wire_bytes_per_element) : Json();
    settings["wire_messages"] = scenario.wire_messages;
    settings["costs"] = request.costs;
    settings["costs_scaled_to"] = request.costs_device;
    settings["mode"] = plan.buckets.empty() ? "" : plan.buckets[0].cost.mode;
    settings["implementation"] = plan.buckets.empty() ? "" : plan.buckets[0].cost.implementation;
    settings["evidence"] = evidence_of(plan);
    settings["selection"] = to_text(scenario.selection);
    settings["encode_calls"] = encode_calls(plan);
    settings["encode_stream"] = to_text(scenario.encode_stream);
    settings["encode_slowdown"] = percent_to_text(scenario.encode_slowdown);
    settings["compressing"] = scenario.compressing ? "yes" : "no";
    settings["count_spread"] = percent_to_text(scenario.count_spread);
    settings["interpolated_buckets"] =
        std::count_if(plan.buckets.begin(), plan.buckets.end(),
                      [](const PlannedBucket& bucket) { return bucket.cost.interpolated; });
    const ErrorSummary errors = interpolation_of(scenario, plan).errors;
    const auto rounded = [&](double percent) {
      return errors.rows > 0 ? Json(std::round(100 * percent) / 100) : Json();
    };
    settings["interpolation_error_percent"] = rounded(errors.median_absolute);
    settings["interpolation_error_p90_percent"] = rounded(errors.p90_absolute);
  }
  settings["events"] = request.events;
  settings["concurrent_jobs"] = request.concurrent_jobs;
  settings["compute_jitter"] = percent_to_text(noise.noise.compute);
  settings["network_jitter"] = percent_to_text(noise.noise.network);
  settings["replicas"] = noise.replicas;
  settings["cluster"] = request.cluster;
  settings["assumed"] = assumed_words(request, scenario);
  settings["stack"] = request.stack;
  settings["ranks"] = plan.ranks();
  for (const ClusterProperty& property : properties_of(scenario.cluster))
    settings[property.name] = property.value;
  std::vector<std::string> read;
  for (const InputFile& input : files.inputs())
    read.push_back(input.typed + "=" + input.sha256.substr(0, 12));
  settings["inputs_sha256"] = join(read, " ");
  settings["engine"] = engine;
  return settings;
}

}  // namespace gradcast::commands
