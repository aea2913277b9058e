#include "sim/request.hpp"

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

}  // namespace

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
  if (request.cluster.ends_with(".xml"))
    throw ValueError("'" + request.cluster +
                     "': SimGrid's platform files are not read yet; describe "
                     "the cluster in a .csv file like platforms/10gbe-4x4.csv");
  scenario.cluster = load_cluster(files.read(kClusters, request.cluster));
  for (const ClusterProperty& property : request.changed) {
    try {
      set_property(scenario.cluster, property.name, property.value);
    } catch (const ValueError& error) {
      throw ValueError(property.name + ": " + error.what());
    }
  }
  require_possible(scenario.cluster);
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
