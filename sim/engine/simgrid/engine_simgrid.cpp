// Runs plans on a network that SimGrid simulates. Only this folder includes SimGrid, and only here
// do typed units become SimGrid's doubles.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "sim/base/error.hpp"
#include "sim/engine/playback/exact_transport.hpp"
#include "sim/engine/playback/fluid_transport.hpp"
#include "sim/engine/playback/outcome.hpp"
#include "sim/engine/simgrid/disturbances.hpp"
#include "sim/engine/simgrid/flows.hpp"
#include "sim/engine/simgrid/folded_network.hpp"
#include "sim/engine/simgrid/link_observer.hpp"
#include "sim/engine/simgrid/network.hpp"
#include "sim/engine/simgrid/simulate.hpp"
#include "sim/network/collective_time.hpp"

namespace gradcast {
namespace {

enum class Grain { Exact, Fluid };

/// Equal jobs do the same at the same time, so they do not count as other traffic to one another.
Company company_of(const Plan& plan, const World& world) {
  if (world.network_disturbed()) return Company::Anyone;
  std::set<int> communicators;
  std::set<std::tuple<const Collective*, int, int>> used;  // in groups of a stride and a length
  for (const PlanStep& step : plan.steps)
    if (step.kind == StepKind::Collective) {
      communicators.insert(step.communicator);
      used.insert({step.collective, step.groups.stride, step.groups.length});
    }
  // In a coordinated queue communicators share what goes at a time.
  if (plan.network_streams == 1 && (communicators.size() <= 1 || plan.coordinated))
    return Company::None;
  return used.size() > 1 ? Company::Anyone : Company::Alike;
}

/// What is simulated on which network.
struct Setting {
  /// The engine must be there. What it is made for must outlive it.
  Setting(const Plan& plan, const Cluster& cluster, const World& world, Grain grain,
          const simgrid::s4u::Engine& engine, const Observation& observation)
      : layout(layout_of(cluster)), planned(plan, layout) {
    const bool may_fold = grain == Grain::Fluid && cluster.nodes > 1 &&
                          cluster.platform_file.empty() && !world.network_disturbed() &&
                          !observation.links && observation.paje.empty();
    if (may_fold) {
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

/// Equal jobs on the same network; the record is the first's.
class Simulation {
 public:
  Simulation(const Plan& plan, const Cluster& cluster, const World& world, Grain grain,
             const Setting& setting, const simgrid::s4u::Engine& engine,
             const Observation& observation)
      : world_(world),
        flows_(engine, setting.network.hosts, events_),
        folded_(flows_, cluster.gpus_per_node),
        disturbances_(world, setting.network, flows_, events_, [this] { return done(); }),
        ranks_(grain == Grain::Exact ? RankClasses::separate(plan, world)
                                     : RankClasses::grouped(plan, world)) {
    const CollectiveSoftware software = software_of(cluster);
    const SimulatedNetwork& network = setting.network;
    if (grain == Grain::Exact)
      exact_.emplace(network.topology, layout_of(cluster), software, flows_, events_);
    else
      fluid_.emplace(network.topology, setting.planned, software,
                     setting.folded ? Company::Folded : company_of(plan, world),
                     setting.folded ? static_cast<FlowNetwork&>(folded_) : flows_, events_);
    Transport& transport = exact_ ? static_cast<Transport&>(*exact_) : *fluid_;
    if (observation.links) observer_.emplace(network, [this] { return done(); });
    for (int i = 0; i < world.concurrent_jobs; ++i)
      jobs_.push_back(std::make_unique<Job>(plan, ranks_, events_, transport));
  }

  RunRecord run() {
    for (const auto& job : jobs_) job->start();
    // A message on a link that is down for ever still moves a little, and would end some day.
    if (!dead_ends(world_).empty()) events_.at(Seconds{kLongestSeconds}, [this] { flows_.stop(); });
    flows_.run();
    RunRecord record = record_of(*jobs_.front(), ranks_, world_);
    record.flows_simulated = exact_ ? exact_->messages() : fluid_->flows();
    if (observer_ && record.lost.empty()) {
      Seconds end{0};
      for (const auto& steps : record.steps)
        for (const Interval& interval : steps) end = std::max(end, interval.end);
      BoundedLoads loads = observer_->take(end);
      record.links = std::move(loads.links);
      record.links_note = std::move(loads.note);
    }
    return record;
  }

 private:
  bool done() const {
    return std::all_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job->done(); });
  }

  const World& world_;
  EventQueue events_;
  SimulatedFlows flows_;
  FoldedFlows folded_;
  Disturbances disturbances_;
  RankClasses ranks_;
  std::optional<ExactTransport> exact_;
  std::optional<FluidTransport> fluid_;
  std::optional<LinkObserver> observer_;
  std::vector<std::unique_ptr<Job>> jobs_;
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
  return Simulation(plan, cluster, world, grain, setting, engine, observation).run();
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
