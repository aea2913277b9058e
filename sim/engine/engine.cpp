#include "sim/engine/engine.hpp"

#include <algorithm>
#include <functional>

#include "sim/base/error.hpp"
#include "sim/plan/plan_check.hpp"

namespace gradcast {

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

std::string refused_by_exact(const Plan& plan, const Cluster&, const World&) {
  if (plan.ranks() <= kMostRanks) return {};
  return "simgrid-exact plays every rank by itself, up to " + std::to_string(kMostRanks) +
         " of them, and here are " + std::to_string(plan.ranks()) + "; use --engine simgrid-fluid";
}

std::string refused_by_analytic(const Plan& plan, const Cluster& cluster, const World& world) {
  const std::string instead = "; use --engine simgrid";
  if (!cluster.platform_file.empty())
    return "the analytic engine cannot read SimGrid's platform files" + instead;
  if (world.network_disturbed())
    return "the analytic engine knows no events of links and no other flows" + instead;
  if (plan.network_streams > 1)
    return "the analytic engine knows no collectives that share the network" + instead;
  return {};
}

/// What tells ranks apart; "" where all are alike.
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

}  // namespace

RunRecord Engine::run(const Plan& plan, const Cluster& cluster, const World& world,
                      const Observation& observation) const {
  if (const std::string why = refusal(plan, cluster, world); !why.empty()) throw ValueError(why);
  require_few_or_alike(plan, cluster, world);
  require_ordered(plan);
  require_targets(world, cluster);
  return play(plan, cluster, world, observation);
}

std::span<const Engine> all_engines() {
  static constexpr Engine kEngines[] = {
      {"simgrid", "every message, or beyond 400,000 of them fluid, simulated",
       WITH_SIMGRID(run_simgrid), kNeedsSimGrid, nothing_refused},
      {"simgrid-exact", "every message of every rank, simulated", WITH_SIMGRID(run_simgrid_exact),
       kNeedsSimGrid, refused_by_exact},
      {"simgrid-fluid", "one set of flows for each phase of a collective, simulated",
       WITH_SIMGRID(run_simgrid_fluid), kNeedsSimGrid, nothing_refused},
      {"analytic", "closed form, no contention but a collective's own", run_analytic, "",
       refused_by_analytic},
  };
  return kEngines;
}

const Engine* find_engine(std::string_view name) {
  for (const Engine& engine : all_engines())
    if (engine.name == name) return &engine;
  return nullptr;
}

}  // namespace gradcast
