#include "sim/cost_grid.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/text.hpp"
#include "sim/units.hpp"

namespace gradcast {
namespace {

CostPoint point_of(const CostRow& row) {
  return {row.encode.count(), row.decode.count(),
          row.selected / static_cast<double>(wanted_elements(row.elements, row.density))};
}

double mix(double a, double b, double t) { return a == b ? a : a + (b - a) * t; }

/// Costs grow as powers of the size: between two positive values the logarithm is what is linear.
double mix_log(double a, double b, double t) {
  return a > 0 && b > 0 ? std::exp(mix(std::log(a), std::log(b), t)) : mix(a, b, t);
}

/// One axis of the table: the values it holds, and where a query falls between two of them.
struct Bracket {
  double low, high, weight;  // weight of `high`, outside 0..1 beyond the range
};

/// What happens below an axis's smallest value; above its largest, the last two go on in line.
enum class Below { GoesOn, Holds };

Bracket bracket(const std::set<double>& values, double at, bool logarithmic, Below below) {
  const auto above = values.lower_bound(at);
  if (above != values.end() && *above == at) return {at, at, 0};
  if (values.size() == 1) return {*values.begin(), *values.begin(), 0};
  auto high = above;
  if (above == values.begin() && below == Below::Holds) return {*above, *above, 0};
  if (above == values.begin()) high = std::next(above);
  if (above == values.end()) high = std::prev(above);
  const double low_value = *std::prev(high);
  const auto scale = [&](double value) { return logarithmic ? std::log(value) : value; };
  return {low_value, *high, (scale(at) - scale(low_value)) / (scale(*high) - scale(low_value))};
}

template <class Axis>
std::set<double> keys_of(const Axis& axis) {
  std::set<double> keys;
  for (const auto& [key, cell] : axis) keys.insert(key);
  return keys;
}

template <class Axis, class Inner, class Mix>
CostPoint between(const Axis& axis, double at, bool logarithmic, Below below, Inner inner,
                  Mix mix_times) {
  const Bracket found = bracket(keys_of(axis), at, logarithmic, below);
  const CostPoint low = inner(axis.at(found.low));
  if (found.weight == 0) return low;
  const CostPoint high = inner(axis.at(found.high));
  // Beyond the table more work never takes less time, whatever the noise of its last two points.
  const auto time = [&](double at_low, double at_high) {
    const double mixed = std::max(0.0, mix_times(at_low, at_high, found.weight));
    if (found.weight > 1) return std::max(mixed, at_high);
    return found.weight < 0 ? std::min(mixed, at_low) : mixed;
  };
  return {time(low.encode, high.encode), time(low.decode, high.decode),
          // A share of k does not go on: it may be anything there, and is near 1.
          mix(low.selected_share, high.selected_share, std::clamp(found.weight, 0.0, 1.0))};
}

}  // namespace

void CostGrid::add(const CostRow& row) {
  cells_[row.density][static_cast<double>(row.elements)][row.workers] = point_of(row);
}

CostPoint CostGrid::at(double density, double elements, double workers) const {
  return between(
      cells_, density, true, Below::GoesOn,
      [&](const BySize& sizes) {
        return between(
            sizes, elements, true, Below::Holds,  // launches do not get shorter
            [&](const ByWorkers& by_workers) {
              return between(
                  by_workers, workers, false, Below::GoesOn,
                  [](const CostPoint& point) { return point; }, mix);
            },
            mix_log);
      },
      mix_log);
}

std::string CostGrid::outside(double density, double elements, double workers) const {
  std::set<double> sizes;
  std::set<double> counts;
  for (const auto& [each_density, by_size] : cells_) {
    sizes.merge(keys_of(by_size));
    for (const auto& [size, by_workers] : by_size) counts.merge(keys_of(by_workers));
  }
  std::vector<std::string> left;
  const auto check = [&](const char* what, double at, const std::set<double>& range) {
    if (at < *range.begin() || at > *range.rbegin())
      left.push_back(std::string(what) + " " + number_to_text(at) + " outside " +
                     number_to_text(*range.begin()) + ".." + number_to_text(*range.rbegin()));
  };
  check("elements", elements, sizes);
  check("density", density, keys_of(cells_));
  check("workers", workers, counts);
  return join(left, "; ");
}

std::set<double> CostGrid::densities_for(double density) const {
  const Bracket found = bracket(keys_of(cells_), density, true, Below::GoesOn);
  return {found.low, found.high};
}

std::string CostGrid::hole() const {
  for (const auto& [density, by_size] : cells_)
    for (const auto& [size, by_workers] : by_size)
      if (keys_of(by_workers) != keys_of(by_size.begin()->second))
        return "at density " + number_to_text(density) + ", " + number_to_text(size) +
               " elements have rows of other numbers of workers than " +
               number_to_text(by_size.begin()->first) + " elements";
  return {};
}

}  // namespace gradcast
