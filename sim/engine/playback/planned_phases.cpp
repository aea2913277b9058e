#include "sim/engine/playback/planned_phases.hpp"

#include <algorithm>

namespace gradcast {
namespace {

/// The same for all nodes, and so small that it can be kept.
std::vector<Phase> of_one_node(std::vector<Phase> phases, int gpus) {
  for (Phase& phase : phases) {
    std::erase_if(phase.messages, [gpus](const Message& message) {
      return message.from >= gpus && message.to >= gpus;
    });
    phase.messages.shrink_to_fit();
    phase.size = {};  // by the numbers that messages had
    phase.sum.reset();
  }
  return phases;
}

/// Whether each message of the first node has the same size in all rounds.
bool has_one_size(const Phase& phase, int gpus) {
  if (!phase.size) return true;
  for (std::size_t i = 0; i < phase.messages.size(); ++i) {
    if (phase.messages[i].from >= gpus) continue;
    for (int round = 0; round < phase.rounds; ++round)
      if (phase.size(i, round) != phase.messages[i].bytes) return false;
  }
  return true;
}

}  // namespace

bool PlannedPhases::keep_one_node(const Topology& topology) {
  return keep(topology, [](const PlanStep&, const Phase&) { return true; });
}

bool PlannedPhases::keep_one_node_exactly(const Topology& topology) {
  return keep(topology, [&](const PlanStep& step, const Phase& phase) {
    return !phase.lockstep && !step.collective->sparse && step.load.contributions.empty() &&
           step.load.payload.count % layout_.ranks() == 0 &&
           has_one_size(phase, topology.gpus_per_node);
  });
}

bool PlannedPhases::keep(const Topology& topology,
                         const std::function<bool(const PlanStep&, const Phase&)>& fits) {
  if (!topology.nodes_alike) return false;
  std::map<Key, Phases> known;
  std::vector<Phases> kept(plan_.steps.size());
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const PlanStep& step = plan_.steps[i];
    if (step.kind != StepKind::Collective) continue;
    Phases& phases = known[phases_key(step)];
    if (phases == nullptr) {
      std::vector<Phase> all = phases_in(step.groups, *step.collective, layout_, step.load);
      const bool turns = std::all_of(all.begin(), all.end(), [&](const Phase& phase) {
        return phase.rotational && fits(step, phase);
      });
      if (!turns) return false;
      phases = std::make_shared<const std::vector<Phase>>(
          of_one_node(std::move(all), topology.gpus_per_node));
    }
    kept[i] = phases;
  }
  kept_ = std::move(kept);
  return true;
}

Phases PlannedPhases::of(std::size_t step) const {
  if (!kept_.empty()) return kept_[step];
  const PlanStep& planned = plan_.steps[step];
  return std::make_shared<const std::vector<Phase>>(
      phases_in(planned.groups, *planned.collective, layout_, planned.load));
}

const CollectiveCourse& PlannedPhases::course_of(std::size_t step, const Topology& topology,
                                                 const CollectiveSoftware& software, int sharing,
                                                 const std::vector<double>& lead_seconds) {
  const auto [at, added] = courses_.try_emplace({phases_key(plan_.steps[step]), lead_seconds});
  if (added) at->second = collective_course(*of(step), topology, software, sharing, lead_seconds);
  return at->second;
}

}  // namespace gradcast
