#include "sim/forecast/measured_like.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sim/base/error.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/plan/plan_summary.hpp"

namespace gradcast {
namespace {

/// A path from the root on, so that a file has one name wherever the request's paths begin. Names
/// of `gradcast list` stay.
std::string located(const std::string& name, const std::string& folder) {
  if (!is_path(name)) return name;
  std::error_code ignored;
  return std::filesystem::absolute(std::filesystem::path(folder) / name, ignored)
      .lexically_normal()
      .string();
}

/// Values of the choices that a request leaves open.
struct UsualChoices {
  std::string mode;
  std::string collective;
  int wire_bytes_per_element = 0;
  int wire_messages = 1;
};

/// The request as it is compared. Two requests are of one run if all members are equal after this,
/// so every exception stands here, with its reason.
Request as_compared(Request request, const UsualChoices& usual, bool compresses) {
  const Request nothing;
  // Compared by what they make of the scenario: images of the whole iteration, its seconds to
  // 0.1 %, every property of the cluster, the kernels that the cost table chooses.
  request.batch = nothing.batch;
  request.compute = nothing.compute;
  request.changed = nothing.changed;
  request.implementation = nothing.implementation;
  // Left open, they are what the run has.
  request.trace = request.trace_name();
  if (request.mode.empty()) request.mode = usual.mode;
  if (request.collective.empty()) request.collective = usual.collective;
  if (!request.wire_bytes_per_element)
    request.wire_bytes_per_element = usual.wire_bytes_per_element;
  if (!request.wire_messages) request.wire_messages = usual.wire_messages;
  // The folders in which paths begin: the paths are compared whole.
  for (std::string* file : {&request.model, &request.trace, &request.cluster})
    *file = located(*file, request.folder);
  request.costs = located(request.costs, request.costs_folder);
  request.folder = nothing.folder;
  request.costs_folder = nothing.costs_folder;
  // Whether somebody chose fusion, overlap and sharding: the choices are compared themselves.
  request.sharding_given = nothing.sharding_given;
  request.fusion_given = nothing.fusion_given;
  request.overlap_given = nothing.overlap_given;
  // A row names the stack that ran it. A request that names one is compared with no row.
  request.stack = nothing.stack;
  request.stack_given = nothing.stack_given;
  // A row that does not say so had none, as far as anybody knows.
  request.broadcast_buffers = request.broadcast_buffers.value_or(false);
  request.network_streams = request.network_streams.value_or(1);
  // The rule by which open choices were made: the choices are compared themselves.
  request.today = nothing.today;
  // The reasons for the cluster's compute_speed and for the trace: both are compared themselves.
  request.speed_derived = nothing.speed_derived;
  request.others_trace = nothing.others_trace;
  request.shares_by_flops = nothing.shares_by_flops;
  // Compared by what it makes of the trace.
  request.optimizer = nothing.optimizer;
  // No row says it, and only memory depends on it.
  request.precision.activation = nothing.precision.activation;
  // It allows an answer beyond the cost table, and changes none.
  request.extrapolate = nothing.extrapolate;
  // Nothing but count_spread draws by it, which is compared: rows have none.
  request.seed = nothing.seed;
  if (compresses) return request;
  // A dense run heeds none of these.
  request.costs = nothing.costs;
  request.costs_device = nothing.costs_device;
  request.costs_of = nothing.costs_of;
  request.density = nothing.density;
  request.sent_share = nothing.sent_share;
  request.parameter = nothing.parameter;
  request.mode = nothing.mode;
  request.value_type = nothing.value_type;
  request.wire_bytes_per_element = nothing.wire_bytes_per_element;
  request.wire_messages = nothing.wire_messages;
  request.selection = nothing.selection;
  request.compressing = nothing.compressing;
  return request;
}

/// Whether the kernels asked for are those that the cost table chooses by itself.
bool usual_implementation(const Request& request, const Scenario& scenario) {
  if (request.implementation.empty() || !scenario.compresses()) return true;
  CostChoice choice = cost_choice(scenario);
  choice.implementation.clear();
  const CompressorCosts usual(scenario.costs, choice);
  return usual.implementation() == request.implementation;
}

/// True if compute times agree to 0.1 %: a trace is written to the nanosecond, a measured compute
/// time to four digits.
bool same_compute(const MeasuredRun& run, const Scenario& scenario) {
  return std::abs(run.compute / scenario.compute() - 1) < 1e-3;
}

/// True if the run's optimizer is not that of its trace, which rows have.
bool takes_another_step(const Request& request, DataFiles& files) {
  if (!request.optimizer || request.payload) return false;
  const auto trace = parsed_trace(request, files);
  return trace->optimizer.value_or(*request.optimizer) != *request.optimizer;
}

/// All measured runs of the project. None from a broken file: `list` and `selftest` name such a
/// file, and a forecast does not need it.
std::vector<MeasuredRun> readable_runs(DataFiles& files) {
  std::vector<MeasuredRun> all;
  for (const std::string& name : files.names(kMeasuredRuns)) {
    try {
      const auto measured = files.parsed(files.read(kMeasuredRuns, name), load_measured_runs);
      all.insert(all.end(), measured->runs.begin(), measured->runs.end());
    } catch (const DataError&) {
      continue;
    }
  }
  return all;
}

}  // namespace

std::optional<MeasuredRun> measured_like(const Request& request, const Scenario& scenario,
                                         const Plan& plan, const DataFiles& files) {
  if (!request.stack.empty()) return std::nullopt;  // it may have been estimated from that very run
  if (!usual_implementation(request, scenario)) return std::nullopt;
  UsualChoices usual;
  // The cost table's choice, and only where nobody made one.
  if (request.mode.empty() && !plan.buckets.empty()) usual.mode = plan.buckets[0].cost.mode;
  usual.collective = collectives_of(plan);
  usual.wire_bytes_per_element = usual_wire_bytes(scenario, request.value_type);
  const bool compresses = scenario.compresses();
  DataFiles others = files.beside();  // these files are not inputs of the forecast
  if (takes_another_step(request, others)) return std::nullopt;
  const auto runs = files.made<std::vector<MeasuredRun>>("", [&] { return readable_runs(others); });
  for (const MeasuredRun& run : *runs) {
    if (run.batch != scenario.batch() || !same_compute(run, scenario)) continue;
    // An open number of messages is the row's: what the authors' code sends is not a choice that
    // the user made against them.
    usual.wire_messages = run.wire_messages;
    const Request measured = request_of(run, others);
    if (as_compared(request, usual, compresses) == as_compared(measured, usual, compresses) &&
        properties_of(cluster_of(measured, others)) == properties_of(scenario.cluster))
      return run;
  }
  return std::nullopt;
}

}  // namespace gradcast
