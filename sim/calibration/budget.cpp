#include "sim/calibration/budget.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/base/text.hpp"

namespace gradcast {
namespace {

/// All that tells a line from others.
std::string line_of(const CalibrationPoint& point) {
  CostRow row = rows_of(point, nullptr).at(0);
  row.elements = 0;
  return key_of(row);
}

/// The logarithm of the factor by which an interpolated time may be off: half of that between the
/// ends, of encode or of a decode.
double doubt_between(const std::vector<Seconds>& first, const std::vector<Seconds>& last) {
  double doubt = 0;
  for (std::size_t i = 0; i < first.size() && i < last.size(); ++i)
    if (first[i] > Seconds{0} && last[i] > Seconds{0})
      doubt = std::max(doubt, std::abs(std::log(last[i] / first[i])) / 2);
  return doubt;
}

}  // namespace

BudgetOrder::BudgetOrder(const std::vector<CalibrationPoint>& points,
                         const std::vector<Seconds>& work, Seconds budget) {
  std::map<std::string, std::size_t> known;
  std::vector<std::string> compressors;  // in the order asked for
  std::vector<std::string> of_line;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string& compressor = points[i].call.compressor;
    points_.push_back({compressor, points[i].elements(), work.at(i)});
    const auto [found, fresh] = known.try_emplace(line_of(points[i]), lines_.size());
    if (fresh) {
      lines_.push_back({{}, points[i].call.tensors.size() == 1});
      of_line.push_back(compressor);
    }
    lines_[found->second].points.push_back(i);
    if (std::find(compressors.begin(), compressors.end(), compressor) == compressors.end())
      compressors.push_back(compressor);
  }
  for (Line& line : lines_)
    std::stable_sort(line.points.begin(), line.points.end(), [&](std::size_t a, std::size_t b) {
      return points_[a].elements < points_[b].elements;
    });
  std::vector<Line> ordered;
  for (const std::string& compressor : compressors)
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (of_line[i] == compressor) ordered.push_back(lines_[i]);
  lines_ = std::move(ordered);
  const auto singles = std::count_if(lines_.begin(), lines_.end(),
                                     [](const Line& line) { return line.single_tensors; });
  const double ends = 2 * std::max<double>(1, static_cast<double>(singles));
  share_ = budget / ends;
  if (!work.empty()) share_ = std::max(share_, 2 * *std::min_element(work.begin(), work.end()));
}

void BudgetOrder::measured(std::size_t point, const std::vector<Seconds>& times) {
  points_[point].times = times;
}

bool BudgetOrder::fits(const Line& line, std::size_t place, Seconds left) const {
  return points_[line.points[place]].work <= std::min(left, share_);
}

/// The smallest size, then the largest that fits.
std::optional<std::size_t> BudgetOrder::end_of(const Line& line, Seconds left) const {
  std::size_t first = 0;
  while (first + 1 < line.points.size() && points_[line.points[first]].left_out) ++first;
  if (points_[line.points[first]].open() && fits(line, first, left)) return line.points[first];
  for (std::size_t place = line.points.size(); place-- > first + 1;) {
    if (!points_[line.points[place]].times.empty()) return std::nullopt;
    if (points_[line.points[place]].open() && fits(line, place, left)) return line.points[place];
  }
  return std::nullopt;
}

std::optional<std::size_t> BudgetOrder::next(Seconds left) const {
  for (const bool single : {true, false})
    for (const Line& line : lines_)
      if (line.single_tensors == single)
        if (const auto end = end_of(line, left)) return end;
  std::optional<std::size_t> best;
  double most = -1;
  for (const Line& line : lines_) {
    std::optional<std::size_t> before;  // place of the last measured point
    for (std::size_t place = 0; place < line.points.size(); ++place) {
      const Point& last = points_[line.points[place]];
      if (last.times.empty()) continue;
      if (before) {
        const Point& first = points_[line.points[*before]];
        const double middle = std::log(static_cast<double>(first.elements)) / 2 +
                              std::log(static_cast<double>(last.elements)) / 2;
        const double doubt = doubt_between(first.times, last.times);
        std::optional<std::size_t> nearest;
        double least = 0;
        for (std::size_t inner = *before + 1; inner < place; ++inner) {
          const Point& point = points_[line.points[inner]];
          if (!point.open() || !fits(line, inner, left)) continue;
          const double away = std::abs(std::log(static_cast<double>(point.elements)) - middle);
          if (!nearest || away < least) {
            nearest = line.points[inner];
            least = away;
          }
        }
        if (nearest && doubt > most) {
          best = nearest;
          most = doubt;
        }
      }
      before = place;
    }
  }
  return best;
}

std::string BudgetOrder::not_reached() const {
  struct Count {
    std::size_t open = 0;
    std::size_t all = 0;
    std::int64_t largest = 0;
    std::int64_t largest_measured = 0;
  };
  std::vector<std::string> order;
  std::map<std::string, Count> counts;
  for (const Point& point : points_) {
    if (!counts.contains(point.compressor)) order.push_back(point.compressor);
    Count& count = counts[point.compressor];
    ++count.all;
    count.largest = std::max(count.largest, point.elements);
    if (!point.times.empty())
      count.largest_measured = std::max(count.largest_measured, point.elements);
    count.open += point.open() ? 1 : 0;
  }
  std::vector<std::string> parts;
  for (const std::string& compressor : order) {
    const Count& count = counts[compressor];
    if (count.open == 0) continue;
    std::string part = compressor + " " + std::to_string(count.open) + " of " +
                       std::to_string(count.all) + " points";
    if (count.largest_measured < count.largest && count.largest_measured > 0)
      part += ", none above " + std::to_string(count.largest_measured) + " elements";
    parts.push_back(part);
  }
  return join(parts, "; ");
}

}  // namespace gradcast
