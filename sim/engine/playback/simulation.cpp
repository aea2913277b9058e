#include "sim/engine/playback/simulation.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "sim/base/error.hpp"
#include "sim/engine/playback/outcome.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/plan/plan_summary.hpp"

namespace gradcast {
namespace {

constexpr std::int64_t kMostMessages = 400'000;

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

RankClasses classes_of(const Played& played) {
  if (played.grain == Grain::Fluid) return RankClasses::grouped(played.plan, played.world);
  RankClasses ranks = RankClasses::separate(played.plan, played.world);
  if (!played.folded) return ranks;
  const auto gpus = static_cast<std::size_t>(played.cluster.gpus_per_node);
  for (std::size_t& its_class : ranks.class_of) its_class %= gpus;
  ranks.classes.resize(gpus);
  return ranks;
}

}  // namespace

Grain usual_grain(const Plan& plan, const Cluster& cluster, const World& world) {
  const bool few = plan.ranks() <= kMostRanks &&
                   messages_of(plan, cluster) * world.concurrent_jobs <= kMostMessages;
  return few ? Grain::Exact : Grain::Fluid;
}

bool may_fold(const Cluster& cluster, const World& world, const Observation& observation) {
  return cluster.nodes > 1 && cluster.platform_file.empty() && !world.network_disturbed() &&
         !observation.links && observation.paje.empty();
}

bool nodes_compute_alike(const Plan& plan, const Cluster& cluster, const World& world) {
  if (!world.ranks.empty() || !cluster.nodes_alike()) return false;
  const auto gpus = static_cast<std::size_t>(cluster.gpus_per_node);
  for (std::size_t rank = gpus; rank < plan.rank_speeds.size(); ++rank)
    if (plan.rank_speeds[rank] != plan.rank_speeds[rank - gpus]) return false;
  return true;
}

void require_observable(const Plan& plan, const Observation& observation) {
  if (plan.ranks() > kMostRanks && (observation.links || !observation.paje.empty()))
    throw ValueError("what links carry is recorded of up to " + std::to_string(kMostRanks) +
                     " ranks, and here are " + std::to_string(plan.ranks()));
}

std::string too_many_for_exact(const Plan& plan, const std::string& fluid) {
  return "an exact engine plays every rank by itself, up to " + std::to_string(kMostRanks) +
         " of them, and here are " + std::to_string(plan.ranks()) + "; use --engine " + fluid;
}

Simulation::Simulation(const Played& played, FlowNetwork& network, EventQueue& events)
    : world_(played.world),
      network_(network),
      events_(events),
      ranks_(classes_of(played)),
      disturbances_(played.world, played.topology, network, events, [this] { return over(); }) {
  const CollectiveSoftware software = software_of(played.cluster);
  if (played.grain == Grain::Exact)
    exact_.emplace(played.topology, layout_of(played.cluster), software,
                   played.folded ? &played.planned : nullptr, network, events);
  else
    fluid_.emplace(played.topology, played.planned, software,
                   played.folded ? Company::Folded : company_of(played.plan, played.world), network,
                   events);
  MessageTransport& transport = exact_ ? static_cast<MessageTransport&>(*exact_) : *fluid_;
  for (int i = 0; i < played.world.concurrent_jobs; ++i)
    jobs_.push_back(std::make_unique<Job>(played.plan, ranks_, events, transport));
}

bool Simulation::over() const {
  return std::all_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job->done(); });
}

RunRecord Simulation::run(const std::function<BoundedLoads(Seconds end)>& loads) {
  for (const auto& job : jobs_) job->start();
  // A message on a link that is down for ever still moves a little, and would end some day.
  if (!dead_ends(world_).empty()) events_.at(Seconds{kLongestSeconds}, [this] { network_.stop(); });
  network_.run();
  RunRecord record = record_of(*jobs_.front(), ranks_, world_);
  record.flows_simulated = exact_ ? exact_->messages() : fluid_->flows();
  if (loads && record.lost.empty()) {
    BoundedLoads observed = loads(record.end());
    record.links = std::move(observed.links);
    record.links_note = std::move(observed.note);
  }
  return record;
}

}  // namespace gradcast
