// Runs plans on a network that SimGrid simulates. Only this folder includes SimGrid, and only here
// do typed units become SimGrid's doubles.
#include <stdexcept>

#include "sim/base/child_process.hpp"
#include "sim/base/error.hpp"
#include "sim/engine/playback/simulation.hpp"
#include "sim/engine/simgrid/flows.hpp"
#include "sim/engine/simgrid/folded_network.hpp"
#include "sim/engine/simgrid/link_observer.hpp"
#include "sim/engine/simgrid/network.hpp"
#include "sim/network/collective_time.hpp"

namespace gradcast {
namespace {

/// What is simulated on which network.
struct Setting {
  /// The engine must be there. What it is made for must outlive it.
  Setting(const Plan& plan, const Cluster& cluster, const World& world, Grain grain,
          const simgrid::s4u::Engine& engine, const Observation& observation)
      : layout(layout_of(cluster)), planned(plan, layout) {
    if (may_fold(cluster, world, grain, observation)) {
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

RunRecord simulate_here(const Plan& plan, const Cluster& cluster, const World& world, Grain grain,
                        const Observation& observation) {
  // Never the program's own arguments: SimGrid would take --help and --cfg out of them.
  const simgrid::s4u::Engine engine("gradcast");
  configure_simgrid();
  if (!observation.paje.empty()) trace_to(observation.paje);
  const Setting setting(plan, cluster, world, grain, engine, observation);
  EventQueue events;
  SimulatedFlows flows(engine, setting.network, events);
  FoldedFlows folded(flows, cluster.gpus_per_node);
  const Played played{plan,  cluster,        world, setting.network.topology, setting.planned,
                      grain, setting.folded};
  Simulation simulation(
      played, setting.folded ? static_cast<FlowNetwork&>(folded) : flows, events);
  if (!observation.links) return simulation.run({});
  LinkObserver observer(setting.network, [&simulation] { return simulation.over(); });
  return simulation.run([&observer](Seconds end) { return observer.take(end); });
}

// ---- a record as the numbers that cross the pipe, and back ----

void add_text(std::vector<double>& numbers, const std::string& text) {
  numbers.push_back(static_cast<double>(text.size()));
  numbers.insert(numbers.end(), text.begin(), text.end());
}

std::vector<double> to_numbers(const RunRecord& record) {
  std::vector<double> numbers{static_cast<double>(record.flows_simulated),
                              static_cast<double>(record.lost.size()),
                              static_cast<double>(record.steps.size())};
  numbers.insert(numbers.end(), record.lost.begin(), record.lost.end());
  numbers.insert(numbers.end(), record.class_of.begin(), record.class_of.end());
  for (const auto& steps : record.steps)
    for (const Interval& interval : steps) {
      numbers.push_back(interval.start.count());
      numbers.push_back(interval.end.count());
    }
  add_text(numbers, record.links_note);
  numbers.push_back(static_cast<double>(record.links.size()));
  for (const LinkLoad& link : record.links) {
    add_text(numbers, link.name);
    numbers.push_back(static_cast<double>(link.changes.size()));
    for (const LoadChange& change : link.changes) {
      numbers.push_back(change.at.count());
      numbers.push_back(change.rate.value);
    }
  }
  return numbers;
}

RunRecord from_numbers(const std::vector<double>& numbers, const Plan& plan) {
  std::size_t at = 0;
  const auto next = [&] { return numbers.at(at++); };  // at(): throws where it is too short
  RunRecord record;
  record.flows_simulated = static_cast<std::int64_t>(next());
  record.lost.resize(static_cast<std::size_t>(next()));
  record.steps.resize(static_cast<std::size_t>(next()));
  for (char& letter : record.lost) letter = static_cast<char>(next());
  record.class_of.resize(static_cast<std::size_t>(plan.ranks()));
  for (std::size_t& its_class : record.class_of) its_class = static_cast<std::size_t>(next());
  for (auto& steps : record.steps) {
    steps.resize(plan.steps.size());
    for (Interval& interval : steps) {
      interval.start = Seconds{next()};
      interval.end = Seconds{next()};
    }
  }
  const auto next_text = [&] {
    std::string text(static_cast<std::size_t>(next()), ' ');
    for (char& letter : text) letter = static_cast<char>(next());
    return text;
  };
  record.links_note = next_text();
  record.links.resize(static_cast<std::size_t>(next()));
  for (LinkLoad& link : record.links) {
    link.name = next_text();
    link.changes.resize(static_cast<std::size_t>(next()));
    for (LoadChange& change : link.changes) {
      change.at = Seconds{next()};
      change.rate = {next()};
    }
  }
  if (at != numbers.size())
    throw std::logic_error("the SimGrid engine's answer has the wrong length");
  return record;
}

/// Runs in a process of its own, because SimGrid's clock, model and callbacks are process-wide, and
/// its checks abort.
RunRecord simulate_apart(const Plan& plan, const Cluster& cluster, const World& world, Grain grain,
                         const Observation& observation, std::string engine) {
  RunRecord record = from_numbers(
      run_in_child(
          "the SimGrid engine",
          [&] { return to_numbers(simulate_here(plan, cluster, world, grain, observation)); }),
      plan);
  record.engine = std::move(engine);
  return record;
}

}  // namespace

RunRecord run_simgrid_exact(const Plan& plan, const Cluster& cluster, const World& world,
                            const Observation& observation) {
  return simulate_apart(plan, cluster, world, Grain::Exact, observation, "simgrid-exact");
}

RunRecord run_simgrid_fluid(const Plan& plan, const Cluster& cluster, const World& world,
                            const Observation& observation) {
  if (plan.ranks() > kMostRanks && (observation.links || !observation.paje.empty()))
    throw ValueError("what links carry is recorded of up to " + std::to_string(kMostRanks) +
                     " ranks, and here are " + std::to_string(plan.ranks()));
  return simulate_apart(plan, cluster, world, Grain::Fluid, observation, "simgrid-fluid");
}

RunRecord run_simgrid(const Plan& plan, const Cluster& cluster, const World& world,
                      const Observation& observation) {
  const bool exact = usual_grain(plan, cluster, world) == Grain::Exact;
  return (exact ? run_simgrid_exact : run_simgrid_fluid)(plan, cluster, world, observation);
}

}  // namespace gradcast
