// Runs plans on a network that SimGrid simulates. Only this folder includes SimGrid, and only here
// do typed units become SimGrid's doubles.
#include "sim/base/error.hpp"
#include "sim/engine/playback/simulation.hpp"
#include "sim/engine/simgrid/flows.hpp"
#include "sim/engine/simgrid/folded_network.hpp"
#include "sim/engine/simgrid/link_observer.hpp"
#include "sim/engine/simgrid/network.hpp"
#include "sim/engine/simgrid/simulate.hpp"
#include "sim/network/collective_time.hpp"

namespace gradcast {
namespace {

/// A plan's phases and the network on which they are simulated.
struct Setting {
  /// The engine must be there. The arguments must outlive it.
  Setting(const Plan& plan, const Cluster& cluster, const World& world, Grain grain,
          const simgrid::s4u::Engine& engine, const Observation& observation)
      : layout(layout_of(cluster)), planned(plan, layout) {
    if (grain == Grain::Fluid && may_fold(cluster, world, observation)) {
      Topology topology = make_topology(cluster);
      folded = planned.keep_one_node(topology);
      if (folded) network = fold_network(engine, cluster, std::move(topology));
    }
    if (folded) return;
    // A zone of SimGrid's for each of 8,192 nodes would take minutes.
    if (plan.ranks() > kMostRanks)
      throw ValueError("SimGrid goes beyond " + std::to_string(kMostRanks) +
                       " ranks only where nodes at one switch all do the same, as in rings, and "
                       "here they do not; use rings, or --engine analytic");
    network = build_network(engine, cluster);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  RankLayout layout;
  PlannedPhases planned;
  bool folded = false;
  SimulatedNetwork network;
};

/// SimGrid's own trace, in Paje's format: the capacity and use of links and hosts.
void trace_to(const std::filesystem::path& file) {
  using simgrid::s4u::Engine;
  // Name and value apart: in one text a blank would end the value.
  Engine::set_config("tracing", true);
  Engine::set_config("tracing/filename", file.string());
  Engine::set_config("tracing/uncategorized", true);  // uses; nothing here has a category
  Engine::set_config("tracing/precision", 9);         // else dates are of microseconds
  // The graph of neighbours is off: for it SimGrid 3.32 looks up split-duplex links of platform
  // files by names that they do not have, and aborts.
  Engine::set_config("tracing/platform/topology", false);
}

RunRecord simulate(const Plan& plan, const Cluster& cluster, const World& world, Grain grain,
                   const Observation& observation) {
  // Never the program's own arguments: SimGrid would take --help and --cfg out of them.
  const simgrid::s4u::Engine engine("gradcast");
  configure_simgrid();
  if (!observation.paje.empty()) trace_to(observation.paje);
  const Setting setting(plan, cluster, world, grain, engine, observation);
  EventQueue events;
  SimulatedFlows flows(engine, setting.network, events);
  FoldedFlows folded(flows, cluster.gpus_per_node);
  const Played played{plan,  cluster,       world, setting.network.topology, setting.planned,
                      grain, setting.folded};
  Simulation simulation(played, setting.folded ? static_cast<FlowNetwork&>(folded) : flows, events);
  if (!observation.links) return simulation.run({});
  LinkObserver observer(setting.network, [&simulation] { return simulation.over(); });
  return simulation.run([&observer](Seconds end) { return observer.take(end); });
}

}  // namespace

RunRecord simulate_exact(const Plan& plan, const Cluster& cluster, const World& world,
                         const Observation& observation) {
  return simulate(plan, cluster, world, Grain::Exact, observation);
}

RunRecord simulate_fluid(const Plan& plan, const Cluster& cluster, const World& world,
                         const Observation& observation) {
  return simulate(plan, cluster, world, Grain::Fluid, observation);
}

}  // namespace gradcast
