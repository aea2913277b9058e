// Measures points, on the device or by the torch child, and survives the loss of the latter.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "sim/calibration/points.hpp"
#include "sim/calibration/torch_child.hpp"
#include "sim/units.hpp"

namespace gradcast {

/// The implementation that the child times, not the device.
inline constexpr const char* kTorch = "torch";

class Meter {
 public:
  using Note = std::function<void(const std::string&)>;

  /// `point`: time for the samples of one point, encode and all decodes together.
  Meter(Bench& bench, Seconds point) : bench_(bench), point_(point) {}

  /// Starts the child; its version, or "" where that fails: then `note` has said why, and points of
  /// torch have no result.
  std::string start_torch(const std::vector<std::string>& command, const Note& note);

  /// Nothing where the child is gone or refused: `note` has said so. Throws BenchInterrupted.
  std::optional<BenchResult> measure(const BenchPoint& point, const Note& note);

  BenchTiming ceiling(std::int64_t elements);

  /// Samples taken while the clock was throttled.
  std::int64_t discarded() const { return discarded_; }

 private:
  Seconds share(std::size_t timings) const { return point_ / static_cast<double>(timings); }
  BenchLimits limits(std::size_t timings) const;
  std::optional<BenchResult> measure_torch(const BenchPoint& point, const Note& note);

  Bench& bench_;
  Seconds point_;
  std::unique_ptr<TorchChild> torch_;
  std::set<std::string> refused_;  // compressors of which a note was made
  std::int64_t discarded_ = 0;
};

/// Measures points in their order, with progress on a terminal unless `quiet`; `keep` gets each
/// result. A point that cannot be measured is left out. Throws BenchInterrupted.
void measure_all(const std::vector<CalibrationPoint>& points, Meter& meter, bool quiet,
                 const std::function<void(const CalibrationPoint&, const BenchResult&)>& keep,
                 const Meter::Note& note);

}  // namespace gradcast
