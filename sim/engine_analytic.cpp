// Closed form: what the network takes if no message stands in another's way. Always built, so that
// there is an answer on any machine and the SimGrid engine has a check.
#include <algorithm>

#include "sim/engine.hpp"

namespace gradcast {
namespace {

/// As long as the largest message over the slowest of its edges takes.
Seconds round_time(const Collective& collective, int round, Bytes payload, const Cluster& cluster,
                   int ranks) {
  Bytes largest{0};
  for (int rank = 0; rank < ranks; ++rank)
    largest = std::max(largest, collective.step(rank, round, ranks, payload).send);
  Seconds slowest{0};
  for (int rank = 0; rank < ranks; ++rank) {
    const Step step = collective.step(rank, round, ranks, payload);
    const Link link = cluster.between(rank, step.send_to);
    // Where rounds are alike, each edge's turn with the largest chunk comes.
    const Bytes sent = collective.rounds_alike ? largest : step.send;
    slowest = std::max(slowest, sent / link.bandwidth + link.latency);
  }
  return slowest;
}

/// Rounds one after another, each as long as its slowest message.
Seconds collective_time(const Collective& collective, Bytes payload, const Cluster& cluster,
                        int ranks) {
  const int rounds = collective.rounds(ranks);
  if (rounds > 0 && collective.rounds_alike)
    return rounds * round_time(collective, 0, payload, cluster, ranks);
  Seconds total{0};
  for (int round = 0; round < rounds; ++round)
    total += round_time(collective, round, payload, cluster, ranks);
  return total;
}

}  // namespace

RunRecord run_analytic(const Plan& plan, const Cluster& cluster) {
  require_ordered(plan);
  const auto ranks = static_cast<std::size_t>(plan.ranks());
  RunRecord record;
  record.steps.assign(ranks, std::vector<Interval>(plan.steps.size()));
  std::vector<Seconds> compute_free(ranks, Seconds{0});
  std::vector<Seconds> network_free(ranks, Seconds{0});
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    const bool communicates = step.kind == StepKind::Collective;
    Seconds all_ready{0};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      Seconds ready = communicates ? network_free[rank] : compute_free[rank];
      for (const std::size_t before : step.after)
        ready = std::max(ready, record.steps[rank][before].end);
      record.steps[rank][i].start = ready;
      all_ready = std::max(all_ready, ready);
    }
    const Seconds together =
        communicates
            ? all_ready + collective_time(*step.collective, step.payload, cluster, plan.ranks())
            : Seconds{0};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      Interval& interval = record.steps[rank][i];
      interval.end =
          communicates ? together : interval.start + step.duration / plan.rank_speeds[rank];
      (communicates ? network_free : compute_free)[rank] = interval.end;
    }
  }
  return record;
}

}  // namespace gradcast
