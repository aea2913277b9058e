// Measures points, on the device or by the torch child. It goes on without the child if that is
// lost.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "sim/base/units.hpp"
#include "sim/calibration/budget.hpp"
#include "sim/calibration/points.hpp"
#include "sim/calibration/torch_child.hpp"

namespace gradcast {

/// The implementation that the child times, not the device.
inline constexpr const char* kTorch = "torch";

class Meter {
 public:
  using Note = std::function<void(const std::string&)>;

  /// `point`: time for the samples of one point, encodes and all decodes together.
  /// `elements_per_second`: a rough speed of the device, with which work() estimates the time of
  /// points that last longer than `point`.
  Meter(Bench& bench, Seconds point, double elements_per_second)
      : bench_(bench), point_(point), elements_per_second_(elements_per_second) {}

  /// Starts the child and returns its version. Throws TorchGone; points of torch then have no
  /// result.
  std::string start_torch(const std::vector<std::string>& command);

  /// The rough time of a point: its time for samples, or that of the least number of samples if
  /// that is longer.
  double work(const CalibrationPoint& point) const;

  /// Measures a point. Returns nothing if the child is gone or refused, or if the point did not fit
  /// into the device's memory; `note` has then been told. Throws BenchInterrupted.
  std::optional<BenchResult> measure(const BenchPoint& point, const Note& note);

  BenchTiming ceiling(std::int64_t elements);

  /// The number of samples that were taken while the clock was throttled.
  std::int64_t discarded() const { return discarded_; }

 private:
  Seconds share(std::size_t timings) const { return point_ / static_cast<double>(timings); }
  BenchLimits limits(std::size_t timings) const;
  std::optional<BenchResult> measure_torch(const BenchPoint& point, const Note& note);

  Bench& bench_;
  Seconds point_;
  double elements_per_second_;
  std::unique_ptr<TorchChild> torch_;
  std::set<std::string> refused_;  // compressors of which a note was made
  std::int64_t discarded_ = 0;
};

/// Measures points in their order, with progress on a terminal unless `quiet`. `keep` gets each
/// result. Points that cannot be measured are left out. Throws BenchInterrupted.
void measure_all(const std::vector<CalibrationPoint>& points, Meter& meter, bool quiet,
                 const std::function<void(const CalibrationPoint&, const BenchResult&)>& keep,
                 const Meter::Note& note);

/// The same in a limited time, in the order that `order` gives. It has all points; those that are
/// in the file are measured in it already. A point is begun if it fits into the time that is left;
/// one is begun in any case. `keep` is called when `order` knows the result.
void measure_within(Seconds budget, const std::vector<CalibrationPoint>& points, BudgetOrder& order,
                    Meter& meter, bool quiet,
                    const std::function<void(const CalibrationPoint&, const BenchResult&)>& keep,
                    const Meter::Note& note);

/// The times of a result: of encode, then of each decode.
std::vector<Seconds> times_of(const BenchResult& result);

}  // namespace gradcast
