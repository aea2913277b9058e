// Scenarios drawn by chance: clusters, models, costs, schedules and what goes on around.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/engine/replicas.hpp"
#include "sim/inputs/cluster_faults.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/topology.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/plan/scenario.hpp"
#include "tests/sim/engine/random_choice.hpp"
#include "tests/sim/engine/random_training.hpp"

namespace gradcast::scenarios {

inline constexpr int kMostScenarioRanks = 24;

/// Requirements of a property on its scenarios.
struct Wanted {
  /// One GPU a node, one switch, all nodes alike.
  bool flat = false;
  /// Nothing but the job on the network, one collective at a time, and no choice that depends on
  /// times: FIFO queue, named collective, fixed fusion.
  bool plain = false;
  /// Ranks compute equally fast.
  bool in_step = false;
  bool several_gpus = false;
  /// No encoding on the side: that stream does what is ready first, so that a decode that may begin
  /// sooner may keep an encode waiting.
  bool in_order = false;
};

inline void draw_overrides(Cluster& cluster) {
  const auto override_some = [&](const std::string& property, const std::string& value) {
    if (!chance(15)) return;
    const int first = number(0, cluster.nodes - 1);
    const int last = number(first, cluster.nodes - 1);
    set_property(cluster, NodeOverride{property, first, last, value}.name(), value);
  };
  if (cluster.nodes * 4 <= kMostScenarioRanks)
    override_some("gpus_per_node", std::to_string(number(1, 4)));
  override_some("nic_bandwidth", to_text(rate()));
  override_some("nic_latency", to_text(time_or_none(-6, -4)));
  override_some("nics_per_node", std::to_string(number(1, 3)));
  override_some("intra_bandwidth", to_text(rate()));
  override_some("intra_latency", to_text(time_or_none(-6, -5)));
  override_some("pcie_bandwidth", to_text(rate()));
  override_some("compute_speed", number_to_text(number(5, 20) / 10.0));
}

inline void draw_switches(Cluster& cluster) {
  if (!chance(30)) return;
  cluster.nodes_per_leaf = number(1, cluster.nodes);
  cluster.leaf_uplink_bandwidth = rate();
  cluster.leaf_uplink_latency = time_or_none(-6, -5);
  if (!chance(40)) return;
  cluster.leaves_per_pod = number(1, 3);
  cluster.pod_uplink_bandwidth = rate();
  cluster.pod_uplink_latency = time_or_none(-6, -5);
}

inline void draw_software(Cluster& cluster) {
  if (chance(40)) cluster.per_message_latency = rough_time(-7, -5);
  if (chance(40)) cluster.per_collective_latency = rough_time(-6, -4);
  if (chance(40)) cluster.per_tensor_negotiation = rough_time(-6, -4);
  if (chance(40)) cluster.per_iteration_overhead = rough_time(-5, -3);
  if (chance(40)) cluster.per_tensor_overhead = rough_time(-6, -4);
  if (chance(40)) cluster.rank_spread = number(1, 100) / 1000.0;
  if (chance(40)) cluster.communication_slowdown = number(1, 50) / 100.0;
  if (chance(25)) cluster.computing_slowdown = number(1, 50) / 100.0;
  if (chance(25)) cluster.late_start = number(1, 100) / 100.0;
  if (chance(40)) cluster.reduction_bandwidth = rate();
  if (chance(20)) {
    cluster.planner_startup = time_or_none(-5, -3);
    cluster.planner_bandwidth = rate();
  }
}

inline Cluster draw_cluster(const Wanted& wanted) {
  Cluster cluster;
  cluster.name = "random";
  cluster.gpus_per_node = wanted.flat ? 1 : number(wanted.several_gpus ? 2 : 1, 6);
  cluster.nodes = number(1, kMostScenarioRanks / cluster.gpus_per_node);
  cluster.nic = {rate(), time_or_none(-6, -3)};
  cluster.intra = {wanted.flat ? BytesPerSecond{2 * cluster.nic.bandwidth.value} : rate(),
                   time_or_none(-6, -5)};
  draw_software(cluster);
  if (wanted.flat) return cluster;
  cluster.nics_per_node = chance(30) ? number(1, cluster.gpus_per_node) : 1;
  if (chance(40)) cluster.pcie_bandwidth = rate();
  draw_switches(cluster);
  draw_overrides(cluster);
  require_possible(cluster);
  return cluster;
}

inline void draw_model(Scenario& scenario) {
  const int tensors = number(1, 12);
  for (int i = 0; i < tensors; ++i) {
    const std::string name = "t" + std::to_string(i);
    const auto elements = std::clamp<std::int64_t>(std::llround(rough(-1, 6)), 1, 5'000'000);
    scenario.model.change().tensors.push_back({name, name, elements, 0});
    const std::int64_t rows = chance(30) ? elements : number(1, 64);
    scenario.model.change().tensors.back().shape =
        elements % rows == 0 ? std::vector{rows, elements / rows} : std::vector{elements};
    scenario.trace.change().tensors.push_back({name, time_or_none(-6, -2), time_or_none(-6, -2)});
  }
  scenario.model.change().name = "random";
  scenario.trace.change().name = "random-trace";
  scenario.trace.change().batch = 1;
  scenario.trace.change().update = time_or_none(-6, -3);
}

/// A line in the elements and in the workers, for each way the compressor has.
inline CostTable draw_costs(const Compressor& compressor, double density) {
  CostTable table{.name = "random-costs", .rows = {}};
  const double encode = rough(-10, -9);
  const double decode = rough(-10, -9);
  const bool varies = compressor.family == Family::Sparsifier && !compressor.exact_count;
  const double share = varies ? number(5, 15) / 10.0 : 1;
  const Seconds call = time_or_none(-6, -4);
  const auto modes = compressor.two_modes ? std::vector<std::string>{"code", "paper"}
                                          : std::vector<std::string>{""};
  for (const std::string& mode : modes)
    for (const double at : compressor.family == Family::Sparsifier
                               ? std::vector{density / 3, density * 2}
                               : std::vector{1.0})
      for (const std::int64_t elements : {1'000, 1'000'000})
        for (const int workers : {1, 32}) {
          const auto size = static_cast<double>(elements);
          table.rows.push_back(
              {.compressor = std::string(compressor.name),
               .mode = mode,
               .implementation = "random",
               .elements = elements,
               .density = at,
               .workers = workers,
               .distribution = "normal",
               .selected = share * static_cast<double>(wanted_elements(elements, at)),
               .encode = call + Seconds{encode * size},
               .encode_p95 = {},
               .decode = call + Seconds{decode * size * workers * at},
               .decode_p95 = {},
               .samples = 0,
               .evidence = "derived"});
        }
  return table;
}

inline bool can_serve(const Collective& collective, const Cluster& cluster) {
  try {
    collective.phases(layout_of(cluster), {.payload = Bytes{1}, .elements = 1});
    return true;
  } catch (const ValueError&) {
    return false;
  }
}

inline const Collective* draw_collective(const Scenario& scenario, bool training) {
  std::vector<const Collective*> possible;
  for (const Collective* collective : all_collectives()) {
    const bool fits = training
                          ? carries(*collective, *scenario.compressor) &&
                                collective->outcome != Outcome::Scattered &&
                                (!collective->needs_exact_count || scenario.compressor->exact_count)
                          : !collective->sparse;
    if (fits && can_serve(*collective, scenario.cluster)) possible.push_back(collective);
  }
  return one_of(possible);
}

inline Fusion draw_fusion(bool fixed) {
  std::vector<const char*> kinds{
      "layer", "merged", "1B", "100KiB", "4MiB", "ddp:1MiB", "ddp-find-unused:1MiB"};
  if (!fixed)
    kinds.insert(kinds.end(), {"mg-wfbp", "omgs", "cycle:5ms,4MiB", "cycle:100us,100KiB"});
  return parse_fusion(one_of(kinds));
}

inline void draw_schedule(Scenario& scenario, const Wanted& wanted) {
  scenario.fusion = draw_fusion(wanted.plain);
  scenario.overlap = chance(70);
  scenario.pipeline = chance(30);
  scenario.selection = chance(30) ? SelectionScope::PerTensor : SelectionScope::Merged;
  scenario.wire_bytes_per_element = !scenario.sparse() ? number(0, 4) : chance(20) ? 6 : 8;
  scenario.wire_messages = chance(20) ? 2 : 1;
  scenario.compressing = chance(90);
  scenario.extrapolate = true;  // tensors are drawn larger than the costs are
  if (!wanted.in_order && chance(40)) scenario.encode_stream = EncodeStream::Side;
  if (chance(40)) scenario.encode_slowdown = number(1, 100) / 100.0;
  if (wanted.plain) {
    draw_training(scenario, true);
    return;
  }
  if (chance(40)) scenario.queue = Queue::Priority;
  if (chance(30)) scenario.network_streams = number(2, 4);
  if (chance(30)) {
    scenario.count_spread = number(1, 50) / 100.0;
    scenario.seed = static_cast<std::uint64_t>(number(0, 1000));
  }
  draw_training(scenario, false);
}

inline Period draw_period() {
  Period period{time_or_none(-5, -2), {}};
  if (chance(85)) period.lasting = time_or_none(-4, -1);
  return period;
}

inline std::string draw_link(const Topology& topology) {
  std::string name = one_of(topology.links).name;
  if (chance(50)) name.erase(name.rfind('.'));  // both directions
  return name;
}

inline World draw_world(const Cluster& cluster) {
  World world;
  const int ranks = cluster.ranks();
  const auto rank = [&] { return number(0, ranks - 1); };
  if (chance(30))
    for (int i = number(1, 3); i > 0; --i)
      world.ranks.push_back({rank(), draw_period(), chance(40) ? 0 : number(1, 30) / 10.0});
  if (chance(25)) {
    const Topology topology = make_topology(cluster);
    for (int i = number(1, 3); i > 0; --i)
      world.links.push_back(
          {draw_link(topology), draw_period(), chance(40) ? 0 : number(1, 30) / 20.0});
  }
  if (ranks > 1 && chance(25))
    for (int i = number(1, 2); i > 0; --i) {
      const int from = rank();
      world.flows.push_back({from, (from + number(1, ranks - 1)) % ranks, draw_period(),
                             chance(50) ? rate() : BytesPerSecond{}});
    }
  if (chance(25)) world.concurrent_jobs = number(2, 3);
  return world;
}

inline Scenario draw_scenario(const Wanted& wanted) {
  Scenario scenario;
  scenario.cluster = draw_cluster(wanted);
  const bool training = !chance(8);
  scenario.compressor = training ? one_of(std::vector<const Compressor*>(all_compressors().begin(),
                                                                         all_compressors().end()))
                                 : find_compressor("dense");
  if (training)
    draw_model(scenario);
  else
    scenario.payload = Bytes{std::llround(rough(0, 7))};
  if (wanted.plain || chance(85)) scenario.collective = draw_collective(scenario, training);
  scenario.density = rough(-4, -2);
  scenario.parameter = scenario.compressor->parameter.usual;
  if (scenario.compresses()) scenario.costs = draw_costs(*scenario.compressor, scenario.density);
  if (scenario.compressor->two_modes && chance(30)) scenario.mode = "paper";
  draw_schedule(scenario, wanted);
  if (!wanted.plain) scenario.world = draw_world(scenario.cluster);
  if (!wanted.in_step && chance(40)) {
    const Noise noise{number(0, 10) / 100.0, wanted.plain ? 0 : number(0, 10) / 100.0,
                      static_cast<std::uint64_t>(number(1, 1000))};
    scenario = replica_of(scenario, noise, number(0, 9));
  }
  return scenario;
}

}  // namespace gradcast::scenarios
