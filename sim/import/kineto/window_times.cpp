#include "sim/import/kineto/window_times.hpp"

#include <algorithm>

namespace gradcast::kineto {
namespace {

Span common(const Span& a, const Span& b) {
  return {std::max(a.start, b.start), std::min(a.end, b.end)};
}

/// Walks along the compute stream: what it waits for before each operation.
class Gaps {
 public:
  Gaps(const Span& window, const std::vector<Span>& collectives, WindowTimes& times)
      : window_(window), collectives_(collectives), times_(times), until_(window.start) {}

  void take(const GpuOperation& operation) {
    if (operation.start > until_) {
      const Nanoseconds launched =
          operation.linked ? std::clamp(operation.launched, until_, operation.start) : until_;
      times_.host += launched - until_;
      const Nanoseconds waited = collectives_run(launched, operation.start);
      times_.wait += waited;
      times_.other += operation.start - launched - waited;
    }
    if (operation.end > until_) {
      times_.busy += std::min(operation.end, window_.end) - std::max(operation.start, until_);
      until_ = std::min(operation.end, window_.end);
    }
  }

  /// Takes the rest of the window.
  void finish() {
    if (until_ >= window_.end) return;
    const Nanoseconds waited = collectives_run(until_, window_.end);
    times_.wait += waited;
    times_.other += window_.end - until_ - waited;
  }

 private:
  /// Time that collectives run between the two dates. Gaps come one after another.
  Nanoseconds collectives_run(Nanoseconds from, Nanoseconds to) {
    while (next_ < collectives_.size() && collectives_[next_].end <= from) ++next_;
    Nanoseconds sum = 0;
    for (std::size_t i = next_; i < collectives_.size() && collectives_[i].start < to; ++i)
      sum += std::min(collectives_[i].end, to) - std::max(collectives_[i].start, from);
    return sum;
  }

  Span window_;
  const std::vector<Span>& collectives_;
  WindowTimes& times_;
  Nanoseconds until_;  // the stream's work so far
  std::size_t next_ = 0;
};

Nanoseconds& of_phase(WindowTimes& times, Phase phase) {
  switch (phase) {
    case Phase::Forward:
      return times.forward;
    case Phase::Backward:
      return times.backward;
    case Phase::CopyBack:
      return times.copy_back;
    case Phase::Update:
      return times.update;
    case Phase::ZeroGradients:
      break;
  }
  return times.zero;
}

WindowTimes times_of(const Recording& recording, std::uint32_t stream, const Span& window,
                     Nanoseconds longest) {
  WindowTimes times;
  times.window = window.end - window.start;
  std::vector<Span> compute, collective;
  const std::size_t first = first_touching(recording, window, longest);
  std::size_t last = first;
  for (; last < recording.gpu.size() && recording.gpu[last].start < window.end; ++last) {
    const GpuOperation& operation = recording.gpu[last];
    const Span span = common({operation.start, operation.end}, window);
    if (span.end <= span.start) continue;
    (operation.collective >= 0 ? collective : compute).push_back(span);
    if (operation.collective >= 0) continue;
    of_phase(times, operation.phase) += span.end - span.start;
    if (operation.recomputed) times.recomputed += span.end - span.start;
  }
  compute = united(std::move(compute));
  collective = united(std::move(collective));
  times.compute = length_of(compute);
  times.exposed = length_of(outside(collective, compute));
  times.idle = times.window - times.compute - times.exposed;
  Gaps gaps(window, collective, times);
  // The window ends where the next step's first operation on this stream begins, or without a next
  // step where the last operation ends.
  for (std::size_t i = first; i < recording.gpu.size() && recording.gpu[i].start <= window.end; ++i)
    if (recording.gpu[i].stream == stream && recording.gpu[i].collective < 0 &&
        recording.gpu[i].end > window.start)
      gaps.take(recording.gpu[i]);
  gaps.finish();
  return times;
}

}  // namespace

Nanoseconds longest_operation(const Recording& recording) {
  Nanoseconds longest = 0;
  for (const GpuOperation& operation : recording.gpu)
    longest = std::max(longest, operation.end - operation.start);
  return longest;
}

std::size_t first_touching(const Recording& recording, const Span& window, Nanoseconds longest) {
  const auto first = std::lower_bound(
      recording.gpu.begin(), recording.gpu.end(), window.start - longest,
      [](const GpuOperation& operation, Nanoseconds date) { return operation.start < date; });
  return static_cast<std::size_t>(first - recording.gpu.begin());
}

Nanoseconds launch_latency(const Recording& recording, const Steps& steps) {
  std::vector<Nanoseconds> latencies;
  const Nanoseconds longest = longest_operation(recording);
  for (const Step& step : steps.steps) {
    if (!step.used) continue;
    Nanoseconds until = step.window.start;
    for (std::size_t i = first_touching(recording, step.window, longest);
         i < recording.gpu.size() && recording.gpu[i].start < step.window.end; ++i) {
      const GpuOperation& one = recording.gpu[i];
      if (one.stream != steps.compute_stream || one.collective >= 0) continue;
      if (one.linked && one.launched > until) latencies.push_back(one.start - one.launched);
      until = std::max(until, one.end);
    }
  }
  if (latencies.empty()) return 0;
  const auto middle = latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 2);
  std::nth_element(latencies.begin(), middle, latencies.end());
  return std::max<Nanoseconds>(0, *middle);
}

std::vector<WindowTimes> times_of_windows(const Recording& recording, const Steps& steps) {
  std::vector<WindowTimes> times;
  const Nanoseconds longest = longest_operation(recording);
  for (const Step& step : steps.steps)
    if (step.used) times.push_back(times_of(recording, steps.compute_stream, step.window, longest));
  return times;
}

}  // namespace gradcast::kineto
