#include "sim/forecast/estimates.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "sim/base/error.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/fitted_with.hpp"
#include "sim/plan/stack.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kSuffix = "-fitted";
constexpr std::string_view kTable = ".csv";

/// A table's name without its ".csv".
std::string stem_of(const std::string& name) {
  return name.ends_with(kTable) ? name.substr(0, name.size() - kTable.size()) : name;
}

bool known(const DataFiles& files, const DataKind& kind, const std::string& name) {
  std::error_code ignored;
  if (is_path(name)) return std::filesystem::is_regular_file(name, ignored);
  return files.has(kind, name);
}

/// `stem` as `name` is written: a path ends in .csv.
std::string like(const std::string& name, const std::string& stem) {
  return is_path(name) ? stem + std::string(kTable) : stem;
}

/// The file from which a fitted file was made, if it still exists (for a path: beside it).
std::string unfitted(const std::string& name, const DataKind& kind, const DataFiles& files) {
  if (!is_fitted(name)) return name;
  const std::string stem = stem_of(name);
  const std::string base = like(name, stem.substr(0, stem.size() - kSuffix.size()));
  return known(files, kind, base) ? base : name;
}

/// Its own fit, where there is one.
std::string fit_of(const std::string& name, const DataKind& kind, const DataFiles& files) {
  const std::string its_fit = like(name, stem_of(name) + std::string(kSuffix));
  return !is_fitted(name) && known(files, kind, its_fit) ? its_fit : name;
}

constexpr std::array<std::string_view, 17> kSoftware = {"per_message_latency",
                                                        "per_collective_latency",
                                                        "per_tensor_negotiation",
                                                        "per_iteration_overhead",
                                                        "per_tensor_overhead",
                                                        "shard_copy_passes",
                                                        "rank_spread",
                                                        "communication_slowdown",
                                                        "computing_slowdown",
                                                        "late_start",
                                                        "eager_limit",
                                                        "reduction_bandwidth",
                                                        "nic_share",
                                                        "staging_bandwidth",
                                                        "host_bandwidth",
                                                        "forecast_deviation",
                                                        "forecast_deviation_share"};

bool is_software(const std::string& property) {
  return std::find(kSoftware.begin(), kSoftware.end(), property) != kSoftware.end();
}

/// Encode and decode seconds of a compressor's rows in the cost table.
std::vector<std::pair<Seconds, Seconds>> costs_of(const Request& request, DataFiles& files) {
  const auto table =
      files.parsed(files.read(kCostTables, request.costs, request.costs_folder), load_cost_table);
  std::vector<std::pair<Seconds, Seconds>> costs;
  for (const CostRow& row : table->rows)
    if (row.compressor == request.compressor) costs.emplace_back(row.encode, row.decode);
  return costs;
}

/// Takes the software of `from`; the request's own values stay.
void take_software(Cluster& cluster, const Cluster& from, const Request& request) {
  const auto asked = [&](const std::string& name) {
    return std::any_of(request.changed.begin(), request.changed.end(),
                       [&](const ClusterProperty& property) { return property.name == name; });
  };
  for (const ClusterProperty& property : properties_of(from))
    if (is_software(property.name) && !asked(property.name))
      set_property(cluster, property.name, property.value);
  std::erase_if(cluster.deviations,
                [](const PropertyDeviation& each) { return is_software(each.property); });
  for (const PropertyDeviation& deviation : from.deviations)
    if (is_software(deviation.property) && !asked(deviation.property))
      cluster.deviations.push_back(deviation);
}

}  // namespace

bool is_fitted(const std::string& name) { return stem_of(name).ends_with(kSuffix); }

bool is_stack(const std::string& name, const DataFiles& files) {
  if (is_path(name))
    return std::filesystem::path(name).filename().string().starts_with(kStacks.prefix);
  return known(files, kStacks, name) || known(files, kStacks, std::string(kStacks.prefix) + name);
}

Request with_fitted_collective(Request request, const DataFiles& files) {
  if (!is_fitted(request.cluster)) return request;
  DataFiles others = files.beside();  // make_scenario names it as an input, or says what is wrong
  try {
    const FittedCollective its =
        fitted_collective(others.read(kClusters, request.cluster, request.folder));
    const std::vector<std::string> known = collective_names();
    if (std::find(known.begin(), known.end(), its.collective) == known.end())
      return request;  // none, or a comment of other people's
    if (request.collective.empty()) request.collective = its.collective;
    if (request.collective == its.collective && request.nccl.empty()) request.nccl = its.nccl;
  } catch (const ValueError&) {
    return request;
  }
  return request;
}

Estimates estimates_of(const Request& request, const std::string& software,
                       const DataFiles& files) {
  Estimates both{{request}, std::nullopt};
  if (software == "none") return both;
  both.physics.request.cluster = unfitted(request.cluster, kClusters, files);
  both.physics.request.costs = unfitted(request.costs, kCostTables, files);
  both.physics.request.stack.clear();
  both.physics.ways_of = request.stack;
  both.fitted = Asked{request};
  Request& fit = both.fitted->request;
  // Whoever fitted a cluster of his own, or names a fit, means that fit.
  const bool own_fit =
      is_fitted(request.cluster) ||
      (is_path(request.cluster) && fit_of(request.cluster, kClusters, files) != request.cluster);
  if (!request.stack.empty() || (!own_fit && is_stack(software, files))) {
    fit = both.physics.request;
    fit.stack = request.stack.empty() ? software : request.stack;
    return both;
  }
  fit.cluster = fit_of(request.cluster, kClusters, files);
  fit.costs = fit_of(request.costs, kCostTables, files);
  if (!is_fitted(fit.cluster)) both.fitted->software = software;
  fit = with_fitted_collective(std::move(fit), files);
  return both;
}

std::string software_of(const Asked& fitted) {
  if (!fitted.request.stack.empty()) return fitted.request.stack;
  return fitted.software.empty() ? fitted.request.cluster : fitted.software;
}

bool costs_fitted(const Estimates& estimates, DataFiles& files) {
  if (!estimates.fitted) return false;
  const Request& fitted = estimates.fitted->request;
  const Compressor* compressor = find_compressor(fitted.compressor);
  if (compressor != nullptr && compressor->family == Family::Dense) return true;
  if (!fitted.stack.empty())
    return costs_fitted(*stack_of(fitted, files), make_scenario(fitted, files));
  return fitted.costs != estimates.physics.request.costs &&
         costs_of(fitted, files) != costs_of(estimates.physics.request, files);
}

bool costs_fitted(const Stack& stack, const Scenario& scenario) {
  const bool ran = std::any_of(stack.kinds.begin(), stack.kinds.end(), [&](const KindFactor& kind) {
    return kind.kind.compressor == scenario.compressor->name &&
           is_made_by(kind.implementation, scenario);
  });
  if (ran) return true;
  const std::vector<const StackTerm*> terms = terms_for(stack, scenario);
  return std::any_of(terms.begin(), terms.end(), [](const StackTerm* term) {
    const bool of_calls = term->quantity->name == "encode_per_call";
    return !term->compressor.empty() || (of_calls && !term->implementation.empty());
  });
}

Scenario make_scenario(const Asked& asked, DataFiles& files) {
  Scenario scenario = make_scenario(asked.request, files);
  if (!asked.ways_of.empty()) {
    Request with = asked.request;
    with.stack = asked.ways_of;
    take_ways(scenario, *stack_of(with, files));
  }
  if (!asked.software.empty())
    take_software(scenario.cluster,
                  *files.parsed(files.read(kClusters, asked.software), load_cluster),
                  asked.request);
  return scenario;
}

}  // namespace gradcast
