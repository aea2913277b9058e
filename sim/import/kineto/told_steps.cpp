#include "sim/import/kineto/told_steps.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast::kineto {
namespace {

std::size_t sends_of(const StepCollectives& step) {
  return static_cast<std::size_t>(std::count_if(
      step.calls.begin(), step.calls.end(), [](const CollectiveCall& call) { return call.sends; }));
}

/// ", each with the same 5 collectives"; "" where they are not, or there are none.
std::string repeated(const std::vector<StepCollectives>& steps) {
  if (steps.size() < 2 || steps.front().calls.empty()) return "";
  for (const StepCollectives& step : steps)
    if (!difference(step, steps.front()).empty()) return "";
  return ", each with the same " + std::to_string(steps.front().calls.size()) + " collectives";
}

}  // namespace

void drop_odd_steps(Rank& rank, ImportNotes& notes) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> count;
  const auto shape_of = [](const StepGradients& step) {
    return std::pair{step.gradients.size(), step.groups.size()};
  };
  for (const StepGradients& step : rank.gradients) ++count[shape_of(step)];
  const auto usual = std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
  if (usual.first == 0)
    throw DataError(rank.file, 0,
                    "has no gradients (AccumulateGrad) in its steps: it is a trace of inference, "
                    "or its backward pass was compiled into one operator");
  std::size_t kept = 0, number = 0;
  for (Step& step : rank.steps.steps) {
    if (!step.used) continue;
    const std::size_t i = number++;
    if (shape_of(rank.gradients[i]) != usual) {
      step.used = false;
      notes.dropped.push_back(step.name + ": " +
                              std::to_string(rank.gradients[i].gradients.size()) +
                              " gradients, where others have " + std::to_string(usual.first));
      continue;
    }
    if (kept != i) {
      rank.times[kept] = rank.times[i];
      rank.gradients[kept] = std::move(rank.gradients[i]);
      rank.collectives[kept] = std::move(rank.collectives[i]);
    }
    ++kept;
  }
  rank.times.resize(kept);
  rank.gradients.resize(kept);
  rank.collectives.resize(kept);
}

std::vector<StepCollectives> sending_steps(const Rank& rank, ImportNotes& notes) {
  std::vector<StepCollectives> sending;
  std::size_t least = std::numeric_limits<std::size_t>::max(), most = 0;
  for (const StepCollectives& step : rank.collectives) {
    const std::size_t count = sends_of(step);
    least = std::min(least, count);
    most = std::max(most, count);
    if (count > 0) sending.push_back(step);
  }
  if (sending.empty()) return rank.collectives;
  if (sending.size() < rank.collectives.size())
    notes.unknown.push_back(
        "how often gradients are sent: only " + std::to_string(sending.size()) + " of " +
        std::to_string(rank.collectives.size()) +
        " steps send them, so they add up over several steps (gradient accumulation, "
        "no_sync). Collectives and buckets are those of a step that sends; a forecast needs "
        "--accumulation, and the batch of all its micro-steps");
  else if (least != most)
    notes.unknown.push_back("the buckets of a step: " + std::to_string(least) + " to " +
                            std::to_string(most) + ", so steps send different gradients");
  return sending;
}

void note_steps(const Rank& rank, Imported& imported) {
  std::vector<std::string> used;
  bool first_full = true;
  for (const Step& step : rank.steps.steps) {
    if (step.used) {
      used.push_back(step.name);
      ++imported.steps_used;
    } else {
      ++imported.steps_dropped;
      if (!step.full)
        imported.notes.dropped.push_back(
            step.name + ": no step follows whose first kernel would end it on the GPU");
      else if (first_full)
        imported.notes.dropped.push_back(step.name +
                                         ": the first full step, which the profiler may slow");
    }
    if (step.full) first_full = false;
  }
  const std::string all = std::to_string(rank.steps.steps.size());
  if (rank.steps.from == StepsFrom::Optimizer)
    imported.notes.inferred.push_back("the " + all +
                                      " steps, from the optimizer's calls: the trace marks none");
  if (rank.steps.from == StepsFrom::Gradients)
    imported.notes.inferred.push_back(
        "the " + all + " steps, from forward that begins again after gradients" +
        repeated(rank.collectives) +
        ": the trace marks none and has no optimizer; what follows the last gradient of a step "
        "counts as its update");
  if (rank.steps.to_last_kernel)
    imported.notes.inferred.push_back(
        "the end of the only step, from its last kernel: what the GPU waits for the next step is "
        "not in it, and nothing tells how much steps differ");
  const std::string which = used.size() > 3 ? used.front() + " to " + used.back() : join(used);
  imported.notes.used.push_back(std::to_string(used.size()) + " of " +
                                std::to_string(rank.steps.steps.size()) + " steps: " + which);
}

}  // namespace gradcast::kineto
