#include "sim/request.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sim/error.hpp"
#include "sim/text.hpp"

namespace gradcast {
namespace {

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto* entry : table) names.emplace_back(entry->name);
  return names;
}

ValueError unknown(const std::string& what, const std::string& typed,
                   const std::vector<std::string>& known) {
  return ValueError("unknown " + what + " '" + typed + "'" + did_you_mean(typed, known) +
                    " (known: " + join(known) + ")");
}

const Collective& choose_collective(const std::string& name, const Compressor& compressor) {
  if (name.empty()) return default_collective(compressor.aggregation);
  const Collective* collective = find_collective(name);
  if (collective == nullptr) throw unknown("collective", name, names_of(all_collectives()));
  if (collective->serves != compressor.aggregation)
    throw ValueError("collective '" + name + "' does not serve compressor '" +
                     std::string(compressor.name) + "': use '" +
                     std::string(default_collective(compressor.aggregation).name) + "'");
  return *collective;
}

bool same_choices(const MeasuredRun& run, const Scenario& scenario) {
  const bool sparse = scenario.sparse();
  return run.model == scenario.model.name && run.batch == scenario.trace.batch &&
         run.compressor == scenario.compressor->name &&
         (!sparse || run.density == scenario.density) &&
         (run.mode.empty() || scenario.mode.empty() || run.mode == scenario.mode) &&
         (run.collective.empty() || run.collective == scenario.collective->name) &&
         to_text(run.fusion) == to_text(scenario.fusion) && run.overlap == scenario.overlap;
}

/// To 0.1 %: a trace is written to the nanosecond, a measured compute time to four digits.
bool same_compute(const MeasuredRun& run, const Scenario& scenario) {
  return std::abs(run.compute / scenario.trace.iteration() - 1) < 1e-3;
}

bool same_cluster(const Cluster& a, const Cluster& b) {
  const auto first = properties_of(a);
  const auto second = properties_of(b);
  return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                    [](const ClusterProperty& x, const ClusterProperty& y) {
                      return x.name == y.name && x.value == y.value;
                    });
}

/// The named cluster with the request's changes. Throws as make_scenario does.
Cluster changed_cluster(const Request& request, DataFiles& files) {
  if (request.cluster.ends_with(".xml"))
    throw ValueError("'" + request.cluster +
                     "': SimGrid's platform files are not read yet; describe the cluster in a .csv "
                     "file like platforms/10gbe-4x4.csv");
  Cluster cluster = load_cluster(files.read(kClusters, request.cluster));
  for (const ClusterProperty& property : request.changed) {
    try {
      set_property(cluster, property.name, property.value);
    } catch (const ValueError& error) {
      throw ValueError(property.name + ": " + error.what());
    }
  }
  require_possible(cluster);
  return cluster;
}

}  // namespace

Request request_of(const MeasuredRun& run) {
  Request request;
  request.model = run.model;
  request.trace = run.trace;
  if (!run.costs.empty()) request.costs = run.costs;
  request.cluster = run.cluster;
  request.compressor = run.compressor;
  request.mode = run.mode;
  request.collective = run.collective;
  request.density = run.density;
  request.batch = run.batch;
  request.fusion = run.fusion;
  request.overlap = run.overlap;
  request.wire_bytes_per_element = run.wire_bytes_per_element;
  request.wire_messages = run.wire_messages;
  request.compute = run.compute;
  request.changed = {{"nodes", std::to_string(run.nodes)},
                     {"gpus_per_node", std::to_string(run.gpus_per_node)}};
  if (!run.nic_bandwidth.empty()) request.changed.push_back({"nic_bandwidth", run.nic_bandwidth});
  if (!run.nic_latency.empty()) request.changed.push_back({"nic_latency", run.nic_latency});
  return request;
}

std::optional<MeasuredRun> measured_like(const Scenario& scenario, const DataFiles& files) {
  DataFiles others(files.root());  // what is looked through here is no input of the forecast
  for (const std::string& name : others.names(kMeasuredRuns))
    for (const MeasuredRun& run : load_measured_runs(others.read(kMeasuredRuns, name)).runs)
      if (same_choices(run, scenario) && same_compute(run, scenario) &&
          same_cluster(changed_cluster(request_of(run), others), scenario.cluster))
        return run;
  return std::nullopt;
}

std::string Request::trace_name() const {
  if (!trace.empty()) return trace;
  return "iteration-" + std::filesystem::path(model).filename().replace_extension().string() +
         "-v100";
}

Scenario make_scenario(const Request& request, DataFiles& files) {
  Scenario scenario;
  scenario.compressor = find_compressor(request.compressor);
  if (scenario.compressor == nullptr)
    throw unknown("compressor", request.compressor, names_of(all_compressors()));
  scenario.collective = &choose_collective(request.collective, *scenario.compressor);
  scenario.model = load_model(files.read(kModels, request.model));
  scenario.trace = load_iteration_trace(files.read(kIterationTraces, request.trace_name()));
  if (request.batch) scenario.trace = with_batch(scenario.trace, *request.batch);
  if (request.compute) scenario.trace = scaled_to(scenario.trace, *request.compute);
  scenario.cluster = changed_cluster(request, files);
  if (scenario.sparse()) scenario.costs = load_cost_table(files.read(kCostTables, request.costs));
  scenario.density = request.density;
  scenario.mode = request.mode;
  scenario.fusion = request.fusion;
  scenario.overlap = request.overlap;
  scenario.wire_bytes_per_element = request.wire_bytes_per_element;
  scenario.wire_messages = request.wire_messages;
  return scenario;
}

}  // namespace gradcast
