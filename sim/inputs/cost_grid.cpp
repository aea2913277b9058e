#include "sim/inputs/cost_grid.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

double mix(double a, double b, double t) { return a == b ? a : a + (b - a) * t; }

/// The place of a query on an axis: between or beyond two of its values, or on one of them.
template <class Axis>
struct Bracket {
  typename Axis::const_iterator low, high;
  double way;      // from `low` to `high`, outside 0..1 beyond the range
  double log_way;  // the same for logarithms
};

/// Rule below the smallest value of an axis: extrapolate, or keep the smallest one's answer.
enum class Below { GoesOn, Holds };

template <class Axis>
Bracket<Axis> bracket(const Axis& axis, double at, Below below) {
  const auto above = axis.lower_bound(at);
  const bool first = above == axis.begin();
  if (above != axis.end() && (above->first == at || (first && below == Below::Holds)))
    return {above, above, 0, 0};
  if (axis.size() == 1) return {axis.begin(), axis.begin(), 0, 0};
  auto high = above;
  if (first) high = std::next(above);
  if (above == axis.end()) high = std::prev(above);
  auto low = std::prev(high);
  // Extrapolation needs two points that are far enough apart, else their noise decides it.
  if (above == axis.end())
    while (low != axis.begin() && 2 * low->first > high->first) --low;
  const auto way = [&](double a, double b, double x) { return (x - a) / (b - a); };
  return {low, high, way(low->first, high->first, at),
          way(std::log(low->first), std::log(high->first), std::log(at))};
}

/// The way in which times grow between two values of an axis.
enum class Growth { Power, Linear };

/// The times on `axis`; `inner` turns its cells into points.
template <class Axis, class Inner>
CostPoint along(const Axis& axis, double at, Growth growth, Below below, Inner inner) {
  const Bracket<Axis> found = bracket(axis, at, below);
  const CostPoint low = inner(found.low->second);
  if (found.low == found.high) return low;
  const CostPoint high = inner(found.high->second);
  const bool within = found.way >= 0 && found.way <= 1;
  // Launches and waits: the time of a call before it touches its first byte.
  CostPoint floor = low;
  if (within && growth == Growth::Power)
    for (const auto& [value, cell] : axis) {
      const CostPoint point = inner(cell);
      floor.encode = std::min(floor.encode, point.encode);
      floor.decode = std::min(floor.decode, point.decode);
    }
  const auto time = [&](double least, double a, double b) {
    if (within && growth == Growth::Power && a > least && b > least)
      return least + std::exp(mix(std::log(a - least), std::log(b - least), found.log_way));
    const double mixed = std::max(0.0, mix(a, b, found.way));
    // Beyond the table more work never takes less time, whatever the noise of its points.
    if (found.way > 1) return std::max(mixed, b);
    return found.way < 0 ? std::min(mixed, a) : mixed;
  };
  // A share of k is not extrapolated: it may be anything there, and is near 1.
  const double way = growth == Growth::Power ? found.log_way : found.way;
  return {time(floor.encode, low.encode, high.encode), time(floor.decode, low.decode, high.decode),
          mix(low.selected_share, high.selected_share, std::clamp(way, 0.0, 1.0))};
}

}  // namespace

void CostGrid::add(const CostRow& row, std::int64_t wanted) {
  cells_[row.density][static_cast<double>(row.elements)][row.workers] = {
      row.encode.count(), row.decode.count(), row.selected / static_cast<double>(wanted)};
}

std::string CostGrid::leave_out_unfinished() {
  std::set<double> counts;
  for (const auto& [density, by_size] : cells_)
    for (const auto& [size, by_workers] : by_size)
      for (const auto& [workers, point] : by_workers) counts.insert(workers);
  std::size_t kept = 0;
  std::size_t left_out = 0;
  std::string lacking;
  for (auto density = cells_.begin(); density != cells_.end();) {
    BySize& by_size = density->second;
    for (auto size = by_size.begin(); size != by_size.end();) {
      if (size->second.size() == counts.size()) {
        ++kept;
        ++size;
        continue;
      }
      ++left_out;
      if (lacking.empty())
        for (const double workers : counts)
          if (!size->second.contains(workers))
            lacking = "at density " + number_to_text(density->first) + ", " +
                      number_to_text(size->first) + " elements have no row of " +
                      number_to_text(workers) + " workers, as others have";
      size = by_size.erase(size);
    }
    density = by_size.empty() ? cells_.erase(density) : std::next(density);
  }
  return left_out > kept ? lacking : "";
}

CostPoint CostGrid::at(double density, double elements, double workers) const {
  return along(cells_, density, Growth::Power, Below::GoesOn, [&](const BySize& by_size) {
    return along(by_size, elements, Growth::Power, Below::Holds, [&](const ByWorkers& by_workers) {
      return along(by_workers, workers, Growth::Linear, Below::GoesOn,
                   [](const CostPoint& point) { return point; });
    });
  });
}

bool CostGrid::has(double density, double elements, double workers) const {
  const auto by_size = cells_.find(density);
  if (by_size == cells_.end()) return false;
  const auto by_workers = by_size->second.find(elements);
  return by_workers != by_size->second.end() && by_workers->second.contains(workers);
}

std::string CostGrid::outside(double density, double elements, double workers) const {
  std::vector<std::string> left;
  const auto check = [&](const char* what, double at, double least, double most) {
    if (at < least || at > most)
      left.push_back(std::string(what) + " " + number_to_text(at) + " outside " +
                     number_to_text(least) + ".." + number_to_text(most));
  };
  for (const double used : densities_for(density)) {
    const BySize& by_size = cells_.at(used);
    if (left.empty()) check("elements", elements, by_size.begin()->first, by_size.rbegin()->first);
  }
  check("density", density, cells_.begin()->first, cells_.rbegin()->first);
  const ByWorkers& by_workers = cells_.begin()->second.begin()->second;  // the same everywhere
  check("workers", workers, by_workers.begin()->first, by_workers.rbegin()->first);
  return join(left, "; ");
}

std::string CostGrid::far_outside(double density, double elements) const {
  const auto far = [](const char* what, double at, double end, const char* side) {
    return std::string(what) + " " + number_to_text(at) + " is more than " +
           number_to_text(kFarBeyond) + " times " + side + " the table's " + number_to_text(end);
  };
  const double least = cells_.begin()->first;
  const double most = cells_.rbegin()->first;
  if (density < least / kFarBeyond) return far("density", density, least, "below");
  if (density > most * kFarBeyond) return far("density", density, most, "above");
  for (const double used : densities_for(density))
    if (const double largest = cells_.at(used).rbegin()->first; elements > largest * kFarBeyond)
      return far("a size of", elements, largest, "above");
  return "";
}

double CostGrid::within(double at, double asked) const {
  return std::clamp(at, std::min(asked, cells_.begin()->first),
                    std::max(asked, cells_.rbegin()->first));
}

std::vector<double> CostGrid::densities_for(double density) const {
  const auto found = bracket(cells_, density, Below::GoesOn);
  if (found.low == found.high) return {found.low->first};
  return {found.low->first, found.high->first};
}

std::optional<double> CostGrid::only_size(double density) const {
  std::optional<double> only;
  for (const double used : densities_for(density)) {
    const BySize& by_size = cells_.at(used);
    if (by_size.size() > 1 || (only && *only != by_size.begin()->first)) return {};
    only = by_size.begin()->first;
  }
  return only;
}

std::vector<double> CostGrid::sizes_for(double grid_density, double elements) const {
  const auto found = bracket(cells_.at(grid_density), elements, Below::Holds);
  if (found.low == found.high) return {found.low->first};
  return {found.low->first, found.high->first};
}

}  // namespace gradcast
