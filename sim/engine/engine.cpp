#include "sim/engine/engine.hpp"

#include <algorithm>
#include <functional>

#include "sim/base/error.hpp"
#include "sim/engine/playback/simulation.hpp"
#include "sim/plan/plan_check.hpp"

namespace gradcast {

// flow/engine_flow.cpp
RunRecord run_flow(const Plan& plan, const Cluster& cluster, const World& world,
                   const Observation& observation);
RunRecord run_flow_exact(const Plan& plan, const Cluster& cluster, const World& world,
                         const Observation& observation);
RunRecord run_flow_fluid(const Plan& plan, const Cluster& cluster, const World& world,
                         const Observation& observation);
// simgrid_engine.cpp
RunRecord run_simgrid(const Plan& plan, const Cluster& cluster, const World& world,
                      const Observation& observation);
RunRecord run_simgrid_exact(const Plan& plan, const Cluster& cluster, const World& world,
                            const Observation& observation);
RunRecord run_simgrid_fluid(const Plan& plan, const Cluster& cluster, const World& world,
                            const Observation& observation);
// analytic.cpp
RunRecord run_analytic(const Plan& plan, const Cluster& cluster, const World& world,
                       const Observation& observation);

namespace {

#ifdef GRADCAST_SIMGRID
#define WITH_SIMGRID(function) function
#else
#define WITH_SIMGRID(function) nullptr
#endif

constexpr std::string_view kNeedsSimGrid =
    "SimGrid (Debian: libsimgrid-dev, then configure with -DWITH_SIMGRID=ON)";

std::string nothing_refused(const Plan&, const Cluster&, const World&) { return {}; }

std::string refused_by_simgrid_exact(const Plan& plan, const Cluster&, const World&) {
  return plan.ranks() <= kMostRanks ? "" : too_many_for_exact(plan, "simgrid-fluid");
}

std::string refused_by_flow(const Plan&, const Cluster& cluster, const World&) {
  if (cluster.platform_file.empty()) return {};
  return "only SimGrid reads its platform files; use --engine simgrid";
}

std::string refused_by_analytic(const Plan&, const Cluster& cluster, const World& world) {
  if (!cluster.platform_file.empty())
    return "the analytic engine cannot read SimGrid's platform files; use --engine simgrid";
  if (world.network_disturbed())
    return "the analytic engine knows no events of links and no other flows; use --engine flow";
  return {};
}

/// The engine `flow` hands what only SimGrid can do to SimGrid.
RunRecord run_flow_or_simgrid(const Plan& plan, const Cluster& cluster, const World& world,
                              const Observation& observation) {
  if (cluster.platform_file.empty() && observation.paje.empty())
    return run_flow(plan, cluster, world, observation);
  const Engine& simgrid = *find_engine("simgrid");
  if (!simgrid.built()) throw MissingError("this needs " + std::string(simgrid.needs));
  return simgrid.play(plan, cluster, world, observation);
}

/// The difference between ranks, in words; "" if all are alike.
std::string difference_of_ranks(const Plan& plan, const Cluster& cluster, const World& world) {
  const auto& speeds = plan.rank_speeds;
  if (std::adjacent_find(speeds.begin(), speeds.end(), std::not_equal_to<>()) != speeds.end())
    return "ranks compute at different speeds";
  if (!cluster.nodes_alike()) return "nodes differ";
  if (!world.ranks.empty()) return "events slow some of them down";
  if (world.network_disturbed()) return "events change some of their links, or others send on them";
  return {};
}

void require_few_or_alike(const Plan& plan, const Cluster& cluster, const World& world) {
  if (plan.ranks() <= kMostRanks) return;
  const std::string difference = difference_of_ranks(plan, cluster, world);
  if (difference.empty()) return;
  throw ValueError(std::to_string(plan.ranks()) + " ranks are too many where " + difference +
                   ": the most is " + std::to_string(kMostRanks) + ", and " +
                   std::to_string(kMostAlikeRanks) + " where all are alike");
}

/// The collective of a step, which nothing else shares the network with.
Plan alone(const Plan& plan, const PlanStep& step) {
  Plan alone;
  alone.rank_speeds.assign(plan.rank_speeds.size(), 1);
  alone.steps.push_back({.kind = StepKind::Collective,
                         .name = step.name,
                         .after = {},
                         .collective = step.collective,
                         .load = step.load,
                         .groups = step.groups});
  return alone;
}

bool rests_on_measured_time(const PlanStep& step) {
  return step.collective != nullptr && step.load.protocol.stretch != 1;
}

/// Measured times stretch a collective by the closed form's time. Messages one by one may take
/// another, so here it is stretched until it takes the measured time, alone on the network.
Plan as_measured(const Plan& plan, const Cluster& cluster, const Engine& engine) {
  struct Known {
    const PlanStep* step;
    double factor;
  };
  std::vector<Known> known;
  Plan measured = plan;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    if (!rests_on_measured_time(step)) continue;
    auto its = std::find_if(known.begin(), known.end(), [&](const Known& other) {
      return other.step->collective == step.collective && other.step->load == step.load &&
             other.step->groups == step.groups;
    });
    if (its == known.end()) {
      const Plan one = alone(plan, step);
      const Seconds wanted = run_analytic(one, cluster, {}, {}).end();
      its = known.insert(known.end(), {&step, wanted / engine.play(one, cluster, {}, {}).end()});
    }
    measured.steps[i].load.protocol.stretch *= its->factor;
  }
  return measured;
}

}  // namespace

RunRecord Engine::run(const Plan& plan, const Cluster& cluster, const World& world,
                      const Observation& observation) const {
  if (!built()) throw MissingError("this needs " + std::string(needs));
  if (const std::string why = refusal(plan, cluster, world); !why.empty()) throw ValueError(why);
  require_few_or_alike(plan, cluster, world);
  require_ordered(plan);
  require_targets(world, cluster);
  if (play == run_analytic ||
      std::none_of(plan.steps.begin(), plan.steps.end(), rests_on_measured_time))
    return play(plan, cluster, world, observation);
  const bool by_phases = !fluid.empty() && usual_grain(plan, cluster, world) == Grain::Fluid;
  return play(as_measured(plan, cluster, by_phases ? *find_engine(fluid) : *this), cluster, world,
              observation);
}

std::span<const Engine> all_engines() {
  static constexpr Engine kEngines[] = {
      {"flow", "every message, or beyond 400,000 of them fluid; SimGrid's files by SimGrid",
       run_flow_or_simgrid, "", nothing_refused, "flow-fluid", true},
      {"flow-exact", "every message of every rank, on links shared fairly", run_flow_exact, "",
       refused_by_flow, "", true},
      {"flow-fluid", "one set of flows for each phase of a collective", run_flow_fluid, "",
       refused_by_flow, "", true},
      {"simgrid", "as flow, simulated by SimGrid", WITH_SIMGRID(run_simgrid), kNeedsSimGrid,
       nothing_refused, "simgrid-fluid", false},
      {"simgrid-exact", "as flow-exact, simulated by SimGrid", WITH_SIMGRID(run_simgrid_exact),
       kNeedsSimGrid, refused_by_simgrid_exact, "", false},
      {"simgrid-fluid", "as flow-fluid, simulated by SimGrid", WITH_SIMGRID(run_simgrid_fluid),
       kNeedsSimGrid, nothing_refused, "", false},
      {"analytic", "closed form, no contention but a collective's own", run_analytic, "",
       refused_by_analytic, "", true},
  };
  return kEngines;
}

bool is_fluid(std::string_view engine) { return engine.ends_with("-fluid"); }

const Engine* find_engine(std::string_view name) {
  for (const Engine& engine : all_engines())
    if (engine.name == name) return &engine;
  return nullptr;
}

}  // namespace gradcast
