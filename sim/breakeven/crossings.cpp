#include "sim/breakeven/crossings.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace gradcast {
namespace {

/// The middle of two points on the axis.
double middle(double below, double above, bool whole) {
  const double between = std::sqrt(below * above);
  if (!whole) return between;
  return std::clamp(std::round(between), below + 1, above - 1);
}

bool neighbours(double below, double above, bool whole) {
  return whole ? above - below <= 1 : above / below - 1 <= kNarrow;
}

struct Point {
  double x = 0;
  double value = 0;

  bool yes() const { return value > 0; }
};

/// Narrows down the change between two points of different answers.
Crossing close_in(Point below, Point above, bool whole, const Advantage& advantage) {
  while (!neighbours(below.x, above.x, whole)) {
    const double x = middle(below.x, above.x, whole);
    const std::optional<double> value = advantage(x);
    if (!value) return {below.x, above.x, above.yes(), true};
    const Point between{x, *value};
    (between.yes() == below.yes() ? below : above) = between;
  }
  return {below.x, above.x, above.yes(), false};
}

/// For three neighbours of one answer, the middle one nearest to 0: searches for the extreme
/// between them, and returns a point of the other answer if it finds one.
std::optional<Point> hidden_between(const Point& left, const Point& between, const Point& right,
                                    bool whole, const Advantage& advantage) {
  constexpr int kMostSteps = 12;  // each leaves five eighths of what was there
  const bool usual = between.yes();
  double low = left.x;
  double high = right.x;
  Point nearest = between;
  for (int step = 0; step < kMostSteps; ++step) {
    // The next point is in the larger part beside the nearest point.
    const bool upper = high / nearest.x > nearest.x / low;
    const double end = upper ? high : low;
    double x = nearest.x * std::pow(end / nearest.x, 0.382);
    if (whole) x = std::round(x);
    if (x == nearest.x || x == end) return std::nullopt;
    const std::optional<double> value = advantage(x);
    if (!value) return std::nullopt;
    const Point tried{x, *value};
    if (tried.yes() != usual) return tried;
    if (std::abs(tried.value) < std::abs(nearest.value)) {
      (upper ? low : high) = nearest.x;
      nearest = tried;
    } else {
      (upper ? high : low) = x;
    }
  }
  return std::nullopt;
}

bool nearer_to_zero(const Point& one, const Point& other) {
  return std::abs(one.value) < std::abs(other.value);
}

/// The answers of the grid, with further points where a pair of changes lies between two of them.
std::vector<Point> points_of(const LookedAt& range, const Advantage& advantage) {
  std::vector<Point> seen;
  for (const double x : grid_of(range))
    if (const std::optional<double> value = advantage(x)) seen.push_back({x, *value});
  std::vector<Point> all;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    all.push_back(seen[i]);
    if (i == 0 || i + 1 == seen.size()) continue;
    const Point& left = seen[i - 1];
    const Point& right = seen[i + 1];
    if (left.yes() != seen[i].yes() || right.yes() != seen[i].yes()) continue;
    if (!nearer_to_zero(seen[i], left) || !nearer_to_zero(seen[i], right)) continue;
    if (const auto hidden = hidden_between(left, seen[i], right, range.whole, advantage))
      all.push_back(*hidden);
  }
  std::sort(all.begin(), all.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  return all;
}

/// Goes from a point with a yes towards one end, to the last point with a yes.
std::pair<double, bool> last_yes(double point, const std::vector<double>& outwards, bool whole,
                                 const Advantage& advantage) {
  Point last{point, 1};
  for (const double x : outwards) {
    const std::optional<double> value = advantage(x);
    if (!value) return {last.x, true};
    const Point next{x, *value};
    if (next.yes()) {
      last = next;
      continue;
    }
    const Crossing end = next.x > last.x ? close_in(last, next, whole, advantage)
                                         : close_in(next, last, whole, advantage);
    return {end.becomes ? end.above : end.below, end.gap};
  }
  return {last.x, true};
}

}  // namespace

std::vector<double> grid_of(const LookedAt& range) {
  std::vector<double> grid;
  for (std::size_t i = 0; i < kGridPoints; ++i) {
    const double share = static_cast<double>(i) / (kGridPoints - 1);
    double x = range.from * std::pow(range.to / range.from, share);
    if (i + 1 == kGridPoints) x = range.to;  // exactly
    if (range.whole) x = std::round(x);
    if (grid.empty() || x > grid.back()) grid.push_back(x);
  }
  return grid;
}

Course course_of(const LookedAt& range, const Advantage& advantage) {
  Course course;
  for (const double x : grid_of(range)) course.unanswered += advantage(x).has_value() ? 0 : 1;
  const std::vector<Point> points = points_of(range, advantage);
  if (points.empty()) return course;
  course.at_start = points.front().yes();
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].yes() != points[i - 1].yes())
      course.crossings.push_back(close_in(points[i - 1], points[i], range.whole, advantage));
  return course;
}

std::optional<Stretch> stretch_about(double point, const LookedAt& range,
                                     const Advantage& advantage) {
  const std::optional<double> here = advantage(point);
  if (!here || *here <= 0) return std::nullopt;
  std::vector<double> up;
  std::vector<double> down;
  for (const double x : grid_of(range)) {
    if (x > point) up.push_back(x);
    if (x < point) down.insert(down.begin(), x);
  }
  Stretch stretch;
  std::tie(stretch.low, stretch.low_open) = last_yes(point, down, range.whole, advantage);
  std::tie(stretch.high, stretch.high_open) = last_yes(point, up, range.whole, advantage);
  return stretch;
}

std::vector<Stretch> stretches_of(const LookedAt& range, const Advantage& advantage) {
  const Course course = course_of(range, advantage);
  std::vector<Stretch> stretches;
  if (!course.at_start) return stretches;
  if (*course.at_start) stretches.push_back({range.from, range.to, true, true});
  for (const Crossing& crossing : course.crossings) {
    if (crossing.becomes) {
      stretches.push_back({crossing.above, range.to, false, true});
    } else {
      stretches.back().high = crossing.below;
      stretches.back().high_open = false;
    }
  }
  return stretches;
}

}  // namespace gradcast
