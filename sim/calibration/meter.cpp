#include "sim/calibration/meter.hpp"

#include <algorithm>
#include <new>

#include "kernels/bench/sampling.hpp"
#include "sim/base/interruption.hpp"
#include "sim/base/progress.hpp"

namespace gradcast {
namespace {

std::string title_of(const CalibrationPoint& point) {
  const BenchPoint& call = point.call;
  const std::size_t tensors = call.tensors.size();
  return kind_text(call.compressor, mode_text(call.mode), call.parameter) + ", " +
         std::to_string(point.elements()) + " elements" +
         (tensors > 1 ? " in " + std::to_string(tensors) + " tensors" : "") +
         (call.input_type == ValueType::Fp32 ? "" : " of " + value_type_text(call.input_type)) +
         ", by " + call.implementation;
}

}  // namespace

std::string Meter::start_torch(const std::vector<std::string>& command) {
  torch_ = std::make_unique<TorchChild>(command, &Interruption::asked);
  return torch_->version();
}

double Meter::work(const CalibrationPoint& point) const {
  double elements = static_cast<double>(point.elements());
  // If all elements are sent, a decode goes through those of every worker. On a CPU, three of them
  // took as long as one element of everything else (25 M elements of QSGD, 16 workers: 3 s).
  if (known_compressor(point.call.compressor).packing != nullptr)
    for (const int workers : point.call.workers)
      elements += workers / 3.0 * static_cast<double>(point.elements());
  return std::max(point_.count(), elements / elements_per_second_);
}

BenchLimits Meter::limits(std::size_t timings) const {
  BenchLimits limits;
  limits.seconds = share(timings).count();
  limits.interrupted = &Interruption::asked;
  return limits;
}

std::optional<BenchResult> Meter::measure(const BenchPoint& point, const Note& note) {
  if (point.implementation == kTorch) return measure_torch(point, note);
  try {
    const std::size_t encodes = point.warm_and_cold ? 3 : 1;
    BenchResult result = bench_.measure(point, limits(encodes + point.workers.size()));
    discarded_ += result.encode.discarded;
    for (const auto& timing : {result.warm, result.cold})
      if (timing) discarded_ += timing->discarded;
    for (const BenchTiming& decode : result.decode) discarded_ += decode.discarded;
    return result;
  } catch (const std::bad_alloc&) {
    // Another process may have taken what was free when the points were made.
    note("left out: " + title_of({point, 0}) + ": the device's memory did not hold it");
    return {};
  }
}

std::optional<BenchResult> Meter::measure_torch(const BenchPoint& point, const Note& note) {
  if (torch_ == nullptr) return {};
  try {
    return torch_->measure(point, share(1 + point.workers.size()));
  } catch (const TorchRefused& refused) {
    // Noted once each, because what is refused at one size is refused at most others too.
    if (refused_.insert(point.compressor + mode_text(point.mode)).second)
      note("left out: " + title_of({point, 0}) + ", and perhaps more: " + refused.what());
  } catch (const TorchGone& gone) {
    note("the torch baseline is lost, its rows are left out: " + std::string(gone.what()));
    torch_.reset();
  }
  return {};
}

BenchTiming Meter::ceiling(std::int64_t elements) {
  const BenchTiming timing = bench_.ceiling(elements, limits(1));
  discarded_ += timing.discarded;
  return timing;
}

void measure_all(const std::vector<CalibrationPoint>& points, Meter& meter, bool quiet,
                 const std::function<void(const CalibrationPoint&, const BenchResult&)>& keep,
                 const Meter::Note& note) {
  std::vector<double> work;
  work.reserve(points.size());
  for (const CalibrationPoint& point : points) work.push_back(meter.work(point));
  Progress progress(std::move(work), quiet);
  const Meter::Note note_below = [&](const std::string& line) {
    progress.clear();
    note(line);
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (Interruption::asked()) throw BenchInterrupted{};
    progress.show(i, title_of(points[i]));
    if (const auto result = meter.measure(points[i].call, note_below)) keep(points[i], *result);
  }
}

std::vector<Seconds> times_of(const BenchResult& result) {
  std::vector<Seconds> times{Seconds{result.encode.median_seconds}};
  for (const BenchTiming& decode : result.decode) times.emplace_back(decode.median_seconds);
  return times;
}

void measure_within(Seconds budget, const std::vector<CalibrationPoint>& points, BudgetOrder& order,
                    Meter& meter, bool quiet,
                    const std::function<void(const CalibrationPoint&, const BenchResult&)>& keep,
                    const Meter::Note& note) {
  Progress progress(std::vector<double>(points.size(), 1.0), quiet);
  const Meter::Note note_below = [&](const std::string& line) {
    progress.clear();
    note(line);
  };
  const double begin = steady_seconds();
  Seconds planned{0};  // for what was measured
  for (std::size_t done = 0;; ++done) {
    if (Interruption::asked()) throw BenchInterrupted{};
    const Seconds used{steady_seconds() - begin};
    if (done > 0 && used >= budget) return;
    // If points take longer than was thought, so will the next.
    const double slower = planned > Seconds{0} ? std::max(1.0, used / planned) : 1.0;
    auto next = order.next((budget - used) / slower);
    if (!next && done == 0) next = order.next(Seconds::max());
    if (!next) return;
    const CalibrationPoint& point = points[*next];
    progress.show(done, title_of(point), budget - used);
    planned += Seconds{meter.work(point)};
    const auto result = meter.measure(point.call, note_below);
    if (!result) {
      order.left_out(*next);
      continue;
    }
    order.measured(*next, times_of(*result));
    keep(point, *result);
  }
}

}  // namespace gradcast
