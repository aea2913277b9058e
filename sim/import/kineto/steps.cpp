#include "sim/import/kineto/steps.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"

namespace gradcast::kineto {
namespace {

/// More steps than anybody profiles.
constexpr std::size_t kMostSteps = 100'000;

/// "step#12" without its number; "" for a name without.
std::string stem_of(const std::string& name) {
  std::size_t end = name.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) --end;
  return end == name.size() || end == 0 ? "" : name.substr(0, end);
}

/// The annotations of one stem and thread, which are steps if they come one after another.
using Candidates = std::map<std::pair<std::string, std::uint32_t>, std::vector<Annotation>>;

bool one_after_another(const std::vector<Annotation>& steps) {
  for (std::size_t i = 1; i < steps.size(); ++i)
    if (steps[i].start < steps[i - 1].end) return false;
  return true;
}

Nanoseconds covered(const std::vector<Annotation>& steps) {
  Nanoseconds sum = 0;
  for (const Annotation& step : steps) sum += step.end - step.start;
  return sum;
}

/// PyTorch's own steps, else those of the stem that covers most time.
std::vector<Annotation> annotated_steps(const Recording& recording) {
  Candidates candidates;
  for (const Annotation& annotation : recording.annotations) {
    const std::string& name = recording.names.text(annotation.name);
    if (const std::string stem = stem_of(name); !stem.empty())
      candidates[{stem, annotation.thread}].push_back(annotation);
  }
  std::vector<Annotation> best;
  bool best_is_own = false;
  for (auto& [stem, steps] : candidates) {
    std::sort(steps.begin(), steps.end(),
              [](const Annotation& a, const Annotation& b) { return a.start < b.start; });
    const bool own = stem.first == "ProfilerStep#";
    // FSDP marks its units: "FSDP::pre_backward for layers.2".
    if (stem.first.starts_with("FSDP::") || stem.first.starts_with("FullyShardedDataParallel"))
      continue;
    if (!own && (steps.size() < 2 || !one_after_another(steps))) continue;
    if (best.empty() || own > best_is_own ||
        (own == best_is_own && covered(steps) > covered(best))) {
      best = steps;
      best_is_own = own;
    }
  }
  return best;
}

/// The steps of a run that marks none: from the end of one call of the optimizer to that of the
/// next. Calls with no gradient between them are of one step: a run may have several optimizers.
std::vector<Annotation> optimizer_steps(const Recording& recording) {
  std::vector<Annotation> steps;
  if (recording.operators.empty()) return steps;
  const Nanoseconds begin = recording.operators.front().start;
  bool gradients = false;
  for (const Operator& one : recording.operators) {
    if (one.kind == OperatorKind::AccumulateGrad) gradients = true;
    if (one.kind != OperatorKind::OptimizerStep) continue;
    if (!gradients && !steps.empty())
      steps.back().end = one.end;
    else if (gradients)
      steps.push_back({steps.empty() ? begin : steps.back().end, one.end, one.name, one.thread});
    gradients = false;
  }
  return steps;
}

/// The thread that runs the forward pass: it has most operators of forward outside the nodes of the
/// backward pass, in which forward may be computed again.
std::vector<const Operator*> forward_operators(const Recording& recording) {
  std::map<std::uint32_t, Nanoseconds> backward_until;
  std::map<std::uint32_t, std::vector<const Operator*>> forward;
  for (const Operator& one : recording.operators) {
    Nanoseconds& until = backward_until.try_emplace(one.thread, INT64_MIN).first->second;
    if (one.kind == OperatorKind::Backward) until = std::max(until, one.end);
    if (one.kind == OperatorKind::Forward && one.start >= until)
      forward[one.thread].push_back(&one);
  }
  std::vector<const Operator*> most;
  for (auto& [thread, its] : forward)
    if (its.size() > most.size()) most = std::move(its);
  return most;
}

/// The steps of a run that marks none and calls no optimizer that the trace knows: a step begins
/// where forward begins after gradients.
std::vector<Annotation> gradient_steps(const Recording& recording) {
  std::vector<Annotation> steps;
  const std::vector<const Operator*> forward = forward_operators(recording);
  if (forward.empty()) return steps;
  Nanoseconds end = recording.operators.back().end;  // of the trace, on the host
  for (const GpuOperation& one : recording.gpu)
    if (one.linked) end = std::max(end, one.launched + 1);
  std::size_t next = 0;  // operator of forward
  bool begun = false;
  Nanoseconds begin = 0;
  for (const Operator& one : recording.operators) {
    if (one.kind != OperatorKind::AccumulateGrad) continue;
    std::size_t first = next;  // of forward since the last gradient
    while (next < forward.size() && forward[next]->start < one.start) ++next;
    if (first == next) continue;
    if (begun) steps.push_back({begin, forward[first]->start, 0, forward[first]->thread});
    begin = steps.empty() && !begun ? recording.operators.front().start : forward[first]->start;
    begun = true;
  }
  // The update follows the last gradient, and perhaps a forward pass without a backward one.
  if (begun)
    steps.push_back(
        {begin, next < forward.size() ? forward[next]->start : end, 0, forward.front()->thread});
  return steps;
}

bool has_gradients(const Recording& recording) {
  return std::any_of(recording.operators.begin(), recording.operators.end(),
                     [](const Operator& one) { return one.kind == OperatorKind::AccumulateGrad; });
}

/// The stream with most of the compute time; collectives have streams of their own.
std::uint32_t busiest_stream(const Recording& recording) {
  std::map<std::uint32_t, Nanoseconds> busy;
  for (const GpuOperation& operation : recording.gpu)
    if (operation.collective < 0) busy[operation.stream] += operation.end - operation.start;
  if (busy.empty())
    throw DataError(recording.file, 0,
                    "has no kernel of a GPU: it is a trace of the CPU alone; record it with "
                    "ProfilerActivity.CUDA");
  return std::max_element(busy.begin(), busy.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

/// The first kernel on the compute stream that each step launched.
void set_windows(const Recording& recording, Steps& steps) {
  std::vector<const GpuOperation*> first(steps.steps.size(), nullptr);
  for (const GpuOperation& operation : recording.gpu) {
    if (!operation.linked || operation.stream != steps.compute_stream || operation.collective >= 0)
      continue;
    const auto after =
        std::upper_bound(steps.steps.begin(), steps.steps.end(), operation.launched,
                         [](Nanoseconds date, const Step& step) { return date < step.host.start; });
    if (after == steps.steps.begin() || operation.launched >= (after - 1)->host.end) continue;
    auto& its = first[static_cast<std::size_t>(after - 1 - steps.steps.begin())];
    if (its == nullptr || operation.start < its->start) its = &operation;
  }
  for (std::size_t i = 0; i + 1 < steps.steps.size(); ++i)
    if (first[i] != nullptr && first[i + 1] != nullptr && first[i]->start < first[i + 1]->start) {
      steps.steps[i].window = {first[i]->start, first[i + 1]->start};
      steps.steps[i].next_launch = first[i + 1]->launched;
      steps.steps[i].full = true;
    }
}

/// Gives a step without another behind it the window to its last operation on the GPU.
bool set_last_window(const Recording& recording, Steps& steps) {
  for (Step& step : steps.steps) {
    const GpuOperation* first = nullptr;
    Nanoseconds end = 0;
    for (const GpuOperation& one : recording.gpu) {
      if (!one.linked || one.launched < step.host.start || one.launched >= step.host.end) continue;
      end = std::max(end, one.end);
      if (first == nullptr && one.stream == steps.compute_stream && one.collective < 0)
        first = &one;
    }
    if (first == nullptr || end <= first->start) continue;
    step.window = {first->start, end};
    step.next_launch = std::clamp(step.host.end, first->start, end);
    step.full = true;
    return true;
  }
  return false;
}

/// Steps that only trained are used; the first full one may be short, and is left out where others
/// remain.
void choose(Steps& steps) {
  const auto full =
      std::count_if(steps.steps.begin(), steps.steps.end(), [](const Step& s) { return s.full; });
  bool first = true;
  for (Step& step : steps.steps) {
    step.used = step.full && !(first && full > 2);
    if (step.full) first = false;
  }
}

}  // namespace

Steps find_steps(const Recording& recording) {
  const std::string how =
      "; call prof.step() after each iteration, and let the schedule record three or more";
  Steps steps;
  steps.compute_stream = busiest_stream(recording);
  std::vector<Annotation> annotations = annotated_steps(recording);
  if (annotations.empty()) {
    annotations = optimizer_steps(recording);
    steps.from = StepsFrom::Optimizer;
  }
  if (annotations.empty()) {
    annotations = gradient_steps(recording);
    steps.from = StepsFrom::Gradients;
  }
  if (annotations.empty())
    throw DataError(recording.file, 0,
                    std::string("has no steps (ProfilerStep#N), and no ") +
                        (has_gradients(recording)
                             ? "forward pass before its gradients"
                             : "gradients: it is a trace of inference, or its backward pass was "
                               "not recorded") +
                        how);
  if (annotations.size() > kMostSteps)
    throw DataError(recording.file, 0,
                    "has more than " + std::to_string(kMostSteps) + " steps; profile fewer");
  steps.thread = annotations.front().thread;
  for (const Annotation& annotation : annotations)
    steps.steps.push_back({steps.from != StepsFrom::Marks
                               ? "step " + std::to_string(steps.steps.size() + 1)
                               : shortened(clean_text(recording.names.text(annotation.name)), 60),
                           {annotation.start, annotation.end}});
  set_windows(recording, steps);
  if (std::none_of(steps.steps.begin(), steps.steps.end(), [](const Step& s) { return s.full; })) {
    steps.to_last_kernel = set_last_window(recording, steps);
    if (!steps.to_last_kernel)
      throw DataError(
          recording.file, 0,
          "has " + std::to_string(steps.steps.size()) + " steps, and none launched a kernel" + how);
  }
  choose(steps);
  return steps;
}

std::vector<Span> update_spans(const Recording& recording, const Steps& steps) {
  std::vector<Span> spans;
  if (steps.from != StepsFrom::Gradients) return spans;
  for (const Step& step : steps.steps) {
    Nanoseconds last = step.host.end;
    for (const Operator& one : recording.operators)
      if (one.kind == OperatorKind::AccumulateGrad && one.start >= step.host.start &&
          one.start < step.host.end)
        last = one.end;
    if (last < step.host.end) spans.push_back({last, step.host.end - 1});
  }
  return spans;
}

}  // namespace gradcast::kineto
