// Runs plans on max-min flows: nothing outside of the run is touched, so that several runs may go
// on at the same time in threads.
#include <algorithm>

#include "sim/base/error.hpp"
#include "sim/engine/flow/max_min_flows.hpp"
#include "sim/engine/playback/simulation.hpp"
#include "sim/network/collective_time.hpp"

namespace gradcast {
namespace {

/// The first node, which stands for all: what leaves it comes in again, as from the node before.
///
/// Each link carries what the same link of any other node does, because all nodes send the same. So
/// the links of one node are enough, with every message on the links that it passes of whichever
/// node, and thousands of nodes cost what one does.
Topology fold(const Topology& topology) {
  const auto second =
      std::find_if(topology.links.begin(), topology.links.end(),
                   [](const TopologyLink& link) { return link.name.starts_with("node1."); });
  const auto links = static_cast<std::size_t>(second - topology.links.begin());
  Topology folded;
  folded.links.assign(topology.links.begin(), second);
  folded.ranks = topology.ranks;
  folded.route = [&topology, links](int from, int to, std::vector<std::uint32_t>& way) {
    const std::size_t begin = way.size();
    const Seconds latency = topology.route(from, to, way);
    for (std::size_t i = begin; i < way.size(); ++i)
      way[i] = static_cast<std::uint32_t>(way[i] % links);
    return latency;
  };
  return folded;
}

RunRecord run_grain(const Plan& plan, const Cluster& cluster, const World& world, Grain grain,
                    const Observation& observation) {
  if (!observation.paje.empty())
    throw ValueError("the flow engine writes no Paje trace; use --engine simgrid");
  require_observable(plan, observation);
  const Topology topology = make_topology(cluster);
  const RankLayout layout = layout_of(cluster);
  PlannedPhases planned(plan, layout);
  const bool folded = may_fold(cluster, world, observation) &&
                      (grain == Grain::Fluid ? planned.keep_one_node(topology)
                                             : nodes_compute_alike(plan, cluster, world) &&
                                                   planned.keep_one_node_exactly(topology));
  if (grain == Grain::Exact && !folded && plan.ranks() > kMostRanks)
    throw ValueError(too_many_for_exact(plan, "flow-fluid"));
  const Topology one_node = folded ? fold(topology) : Topology{};
  EventQueue events;
  MaxMinFlows flows(folded ? one_node : topology, events, observation.links);
  const Played played{plan, cluster, world, topology, planned, grain, folded};
  Simulation simulation(played, flows, events);
  RunRecord record =
      simulation.run(observation.links ? [&flows](Seconds end) { return flows.take_loads(end); }
                                       : std::function<BoundedLoads(Seconds)>{});
  record.engine = grain == Grain::Exact ? "flow-exact" : "flow-fluid";
  return record;
}

}  // namespace

RunRecord run_flow(const Plan& plan, const Cluster& cluster, const World& world,
                   const Observation& observation) {
  return run_grain(plan, cluster, world, usual_grain(plan, cluster, world), observation);
}

RunRecord run_flow_exact(const Plan& plan, const Cluster& cluster, const World& world,
                         const Observation& observation) {
  return run_grain(plan, cluster, world, Grain::Exact, observation);
}

RunRecord run_flow_fluid(const Plan& plan, const Cluster& cluster, const World& world,
                         const Observation& observation) {
  return run_grain(plan, cluster, world, Grain::Fluid, observation);
}

}  // namespace gradcast
