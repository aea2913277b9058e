#include "sim/iteration_result.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gradcast {
namespace {

void require_possible(const Plan& plan, const RunRecord& record) {
  const auto possible = [](const Interval& interval) {
    return std::isfinite(interval.start.count()) && std::isfinite(interval.end.count()) &&
           interval.start >= Seconds{0} && interval.end >= interval.start;
  };
  for (std::size_t rank = 0; rank < record.steps.size(); ++rank)
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      if (!possible(record.steps[rank][i]))
        throw std::logic_error("rank " + std::to_string(rank) + " has an impossible time for '" +
                               plan.steps[i].name + "'");
}

/// The rank whose last step ends last; the lowest of several.
std::size_t last_rank(const RunRecord& record) {
  std::size_t last = 0;
  const auto end = [&](std::size_t rank) {
    Seconds latest{0};
    for (const Interval& interval : record.steps[rank]) latest = std::max(latest, interval.end);
    return latest;
  };
  for (std::size_t rank = 1; rank < record.steps.size(); ++rank)
    if (end(rank) > end(last)) last = rank;
  return last;
}

/// The part of a rank's collective during which every rank was in it.
Interval active_part(const RunRecord& record, std::size_t rank, std::size_t step) {
  Interval active = record.steps[rank][step];
  for (const auto& steps : record.steps) active.start = std::max(active.start, steps[step].start);
  active.start = std::min(active.start, active.end);
  return active;
}

Seconds overlap(const Interval& a, const Interval& b) {
  return std::max(Seconds{0}, std::min(a.end, b.end) - std::max(a.start, b.start));
}

Seconds& part_of(IterationResult& result, StepKind kind) {
  switch (kind) {
    case StepKind::Overhead:
      return result.overhead;
    case StepKind::Forward:
      return result.forward;
    case StepKind::Backward:
      return result.backward;
    case StepKind::Encode:
      return result.encode;
    case StepKind::Collective:
      return result.communication;
    case StepKind::Decode:
      return result.decode;
    case StepKind::Update:
      break;
  }
  return result.update;
}

}  // namespace

IterationResult summarize(const Plan& plan, const RunRecord& record) {
  require_possible(plan, record);
  IterationResult result;
  result.flows_simulated = record.flows_simulated;
  const std::size_t rank = last_rank(record);
  result.rank = static_cast<int>(rank);
  std::vector<Interval> active;  // of collectives; one after another, as the stream runs them
  std::vector<Interval> idle;    // of the compute stream
  Seconds computed_until{0};
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    Interval interval = record.steps[rank][i];
    result.iteration = std::max(result.iteration, interval.end);
    if (step.kind == StepKind::Collective) {
      interval = active_part(record, rank, i);
      active.push_back(interval);
    } else {
      if (interval.start > computed_until) idle.push_back({computed_until, interval.start});
      computed_until = interval.end;
    }
    part_of(result, step.kind) += interval.end - interval.start;
  }
  if (result.iteration > computed_until) idle.push_back({computed_until, result.iteration});
  for (const Interval& gap : idle) {
    Seconds exposed{0};
    for (const Interval& collective : active) exposed += overlap(gap, collective);
    result.exposed_communication += exposed;
    result.wait += std::max(Seconds{0}, gap.end - gap.start - exposed);  // not -1e-18
  }
  return result;
}

IterationResult run(const Scenario& scenario, const Engine& engine) {
  const Plan plan = make_plan(scenario);
  return summarize(plan, engine.run(plan, scenario.cluster));
}

}  // namespace gradcast
