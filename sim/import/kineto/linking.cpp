#include "sim/import/kineto/linking.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

namespace gradcast::kineto {
namespace {

/// The phases of one thread, each a union of spans.
struct Phases {
  std::vector<Span> backward, copy_back, update, zero;
  std::vector<Span> hooks;  // of FSDP: no forward of the model
  std::vector<Span> again;  // forward inside the backward pass: what was not kept for it
  bool has_backward = false;
};

bool holds(const std::vector<Span>& spans, Nanoseconds date) {
  auto after = std::upper_bound(spans.begin(), spans.end(), date,
                                [](Nanoseconds at, const Span& span) { return at < span.start; });
  return after != spans.begin() && date <= (after - 1)->end;
}

Phase phase_of(const Phases& phases, Nanoseconds launched, bool on_step_thread) {
  if (holds(phases.hooks, launched)) return Phase::Backward;
  if (holds(phases.copy_back, launched)) return Phase::CopyBack;
  if (holds(phases.update, launched)) return Phase::Update;
  if (holds(phases.zero, launched)) return Phase::ZeroGradients;
  // The thread of the backward pass does nothing else; the steps' may run a part of that pass.
  if (!on_step_thread) return phases.has_backward ? Phase::Backward : Phase::Forward;
  return holds(phases.backward, launched) ? Phase::Backward : Phase::Forward;
}

/// FSDP's hooks of the backward pass, which run beside its nodes.
bool marks_backward(std::string_view annotation) {
  for (const char* hook :
       {"FSDP::pre_backward", "FSDP::post_backward", "FSDP::root_post_backward",
        "FullyShardedDataParallel._pre_backward", "FullyShardedDataParallel._post_backward"})
    if (annotation.starts_with(hook)) return true;
  return false;
}

std::map<std::uint32_t, Phases> phases_of(const Recording& recording) {
  std::map<std::uint32_t, Phases> threads;
  for (const Annotation& one : recording.annotations)
    if (marks_backward(recording.names.text(one.name)))
      for (auto spans : {&Phases::backward, &Phases::hooks})
        (threads[one.thread].*spans).push_back({one.start, one.end});
  for (const Operator& one : recording.operators) {
    Phases& its = threads[one.thread];
    const Span span{one.start, one.end};
    switch (one.kind) {
      case OperatorKind::CopyBack:
        its.copy_back.push_back(span);
        break;
      case OperatorKind::OptimizerStep:
        its.update.push_back(span);
        break;
      case OperatorKind::ZeroGradients:
        its.zero.push_back(span);
        break;
      case OperatorKind::Backward:
      case OperatorKind::AccumulateGrad:
      case OperatorKind::MulOut:
        its.backward.push_back(span);
        its.has_backward = true;
        break;
      case OperatorKind::Forward:
        its.again.push_back(span);
        break;
      case OperatorKind::AllReduce:
        break;
    }
  }
  for (auto& [thread, its] : threads)
    for (std::vector<Span>* spans :
         {&its.backward, &its.copy_back, &its.update, &its.zero, &its.hooks, &its.again})
      *spans = united(std::move(*spans));
  return threads;
}

}  // namespace

std::size_t link_launches(Recording& recording) {
  auto& launches = recording.launches;
  std::sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) {
    return a.correlation != b.correlation ? a.correlation < b.correlation : a.start < b.start;
  });
  std::size_t linked = 0;
  for (GpuOperation& operation : recording.gpu) {
    if (operation.correlation < 0) continue;
    const auto launch = std::lower_bound(
        launches.begin(), launches.end(), operation.correlation,
        [](const Launch& one, std::int64_t wanted) { return one.correlation < wanted; });
    if (launch == launches.end() || launch->correlation != operation.correlation) continue;
    operation.linked = true;
    operation.launched = launch->start;
    operation.launch_thread = launch->thread;
    ++linked;
  }
  // They are needed no more, and a long trace has millions.
  std::deque<Launch>().swap(launches);
  std::sort(recording.gpu.begin(), recording.gpu.end(),
            [](const GpuOperation& a, const GpuOperation& b) {
              return a.start != b.start ? a.start < b.start : a.end < b.end;
            });
  std::sort(recording.operators.begin(), recording.operators.end(),
            [](const Operator& a, const Operator& b) {
              return a.start != b.start ? a.start < b.start : a.end > b.end;
            });
  return linked;
}

void set_phases(Recording& recording, std::uint32_t step_thread) {
  const std::map<std::uint32_t, Phases> threads = phases_of(recording);
  const Phases none;
  std::map<std::uint32_t, Phase> last;  // by stream
  for (GpuOperation& operation : recording.gpu) {
    Phase& before = last.try_emplace(operation.stream, Phase::Forward).first->second;
    if (operation.linked) {
      const auto its = threads.find(operation.launch_thread);
      before = phase_of(its == threads.end() ? none : its->second, operation.launched,
                        operation.launch_thread == step_thread);
      operation.recomputed = before == Phase::Backward && its != threads.end() &&
                             holds(its->second.again, operation.launched) &&
                             !holds(its->second.hooks, operation.launched);
    }
    operation.phase = before;
  }
}

}  // namespace gradcast::kineto
