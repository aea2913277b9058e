// The order of measuring in a limited time: the points first that interpolation needs most.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/calibration/points.hpp"

namespace gradcast {

/// A line is the points that differ in their size alone; `simulate` interpolates between them.
///   1. Both ends of every line of single tensors, in the order of the compressors asked for.
///   2. Points of several tensors in one call, which have no others to interpolate between.
///   3. The middle of the interval whose time is least sure. Time rises with size, so that inside
///   an
///      interval it lies between the times of its ends. Interpolation takes their geometric mean,
///      and may be off by a factor of sqrt(last / first).
/// So that all lines get both ends, a point may take the budget divided by the ends of all lines,
/// though at least twice as long as the shortest point. What takes longer waits for a larger
/// budget.
class BudgetOrder {
 public:
  /// `work`: a rough time of each point.
  BudgetOrder(const std::vector<CalibrationPoint>& points, const std::vector<Seconds>& work,
              Seconds budget);

  /// `times`: of encode, then of each decode. Every point has as many.
  void measured(std::size_t point, const std::vector<Seconds>& times);
  /// The point cannot be measured.
  void left_out(std::size_t point) { points_[point].left_out = true; }

  /// The point to measure next, if one fits into the time that is left.
  std::optional<std::size_t> next(Seconds left) const;

  /// "topk 9 of 12 points; qsgd 4 of 12 points, none above 262144 elements": what is missing, of
  /// each compressor; "" if nothing is.
  std::string not_reached() const;

 private:
  struct Point {
    std::string compressor;
    std::int64_t elements = 0;
    Seconds work{0};
    std::vector<Seconds> times{};  // empty until it is measured
    bool left_out = false;
    bool open() const { return times.empty() && !left_out; }
  };
  struct Line {
    std::vector<std::size_t> points;  // by size
    bool single_tensors = true;
  };

  bool fits(const Line& line, std::size_t place, Seconds left) const;
  std::optional<std::size_t> end_of(const Line& line, Seconds left) const;

  std::vector<Point> points_;
  std::vector<Line> lines_;
  Seconds share_;  // the longest that a point may take
};

}  // namespace gradcast
