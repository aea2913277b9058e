#include "sim/engine/iteration_result.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "sim/inputs/cluster_faults.hpp"

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

/// The class whose last step ends last. Among several it is the one that computed longest, because
/// the others waited for it.
std::size_t last_class(const Plan& plan, const RunRecord& record) {
  const auto end_and_work = [&](std::size_t id) {
    Seconds latest{0};
    Seconds work{0};
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Interval& interval = record.steps[id][i];
      latest = std::max(latest, interval.end);
      if (plan.steps[i].kind != StepKind::Collective && plan.steps[i].kind != StepKind::Wait)
        work += interval.end - interval.start;
    }
    return std::pair(latest, work);
  };
  std::size_t last = 0;
  auto most = end_and_work(0);
  for (std::size_t id = 1; id < record.steps.size(); ++id)
    if (const auto its = end_and_work(id); its > most) {
      most = its;
      last = id;
    }
  return last;
}

int first_rank_of(const RunRecord& record, std::size_t its_class) {
  if (record.class_of.empty()) return static_cast<int>(its_class);
  const auto at = std::find(record.class_of.begin(), record.class_of.end(), its_class);
  return static_cast<int>(at - record.class_of.begin());
}

/// The part of a rank's collective during which every rank was in it.
Interval active_part(const RunRecord& record, const Interval& own, std::size_t step) {
  Interval active = own;
  for (const auto& steps : record.steps) active.start = std::max(active.start, steps[step].start);
  active.start = std::min(active.start, active.end);
  return active;
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
    case StepKind::Wait:
      return result.wait;
    case StepKind::Decode:
      return result.decode;
    case StepKind::Update:
      break;
  }
  return result.update;
}

/// Factors that were learned from measured runs. The model's spares what one GPU alone computes.
void stretch_by_factors(IterationResult& result, const Plan& plan) {
  const Seconds compute = std::min(plan.compute, result.iteration);
  const Seconds rest = result.iteration - compute;
  const Seconds iteration = plan.kind_factor * (compute + plan.model_factor * rest);
  const Seconds computing = result.forward + result.backward + result.update;
  const Seconds spared = std::min(compute, computing);
  const Seconds others = result.iteration - computing;
  double on_computing = iteration / result.iteration;
  double on_others = on_computing;
  if (computing > Seconds{0} && others > Seconds{0}) {
    on_computing =
        plan.kind_factor * (spared + plan.model_factor * (computing - spared)) / computing;
    on_others = spared < compute ? (iteration - on_computing * computing) / others
                                 : plan.kind_factor * plan.model_factor;
  }
  for (Seconds* part : {&result.forward, &result.backward, &result.update}) *part *= on_computing;
  for (Seconds* part : {&result.encode, &result.communication, &result.exposed_communication,
                        &result.decode, &result.overhead, &result.wait, &result.hidden_codec})
    *part *= on_others;
  result.iteration = iteration;
}

}  // namespace

IterationResult summarize(const Plan& plan, const RunRecord& record) {
  IterationResult result;
  result.flows_simulated = record.flows_simulated;
  result.engine = record.engine;
  result.lost = record.lost;
  if (!record.lost.empty()) return result;
  require_possible(plan, record);
  const std::size_t last = last_class(plan, record);
  const std::vector<Interval>& steps = record.steps[last];
  result.rank = first_rank_of(record, last);
  std::vector<Interval> computing;
  std::vector<Interval> on_side;
  std::vector<Interval> active;  // collectives
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    result.iteration = std::max(result.iteration, steps[i].end);
    if (step.kind == StepKind::Collective) {
      active.push_back(active_part(record, steps[i], i));
    } else if (step.stream == Stream::Side) {
      on_side.push_back(steps[i]);
    } else if (step.stream == Stream::Compute) {
      computing.push_back(steps[i]);
      part_of(result, step.kind) += steps[i].end - steps[i].start;
    }
  }
  IntervalSet idle = IntervalSet({{Seconds{0}, result.iteration}}).minus(IntervalSet(computing));
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].stream != Stream::Side || plan.steps[i].kind == StepKind::Collective)
      continue;
    const Seconds shown = IntervalSet({steps[i]}).common(idle).length();
    part_of(result, plan.steps[i].kind) += shown;
    result.hidden_codec += std::max(Seconds{0}, steps[i].end - steps[i].start - shown);
  }
  idle = idle.minus(IntervalSet(std::move(on_side)));
  const IntervalSet communicating(std::move(active));
  result.communication = communicating.length();
  result.exposed_communication = communicating.common(idle).length();
  result.wait = idle.minus(communicating).length();
  const bool learned = plan.model_factor != 1 || plan.kind_factor != 1;
  if (learned && result.iteration > Seconds{0}) stretch_by_factors(result, plan);
  return result;
}

Seconds computed_in(const Scenario& scenario, Seconds iteration) {
  return scenario.payload.count > 0 ? Seconds{0} : std::min(alone(scenario), iteration);
}

IterationResult run(const Scenario& scenario, const Engine& engine) {
  const Plan plan = make_plan(scenario);
  return summarize(plan, engine.run(plan, scenario.cluster, scenario.world));
}

}  // namespace gradcast
