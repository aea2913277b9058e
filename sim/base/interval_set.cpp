#include "sim/base/interval_set.hpp"

#include <algorithm>

namespace gradcast {

IntervalSet::IntervalSet(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  for (const Interval& next : intervals) {
    if (next.end <= next.start) continue;
    if (intervals_.empty() || intervals_.back().end < next.start)
      intervals_.push_back(next);
    else
      intervals_.back().end = std::max(intervals_.back().end, next.end);
  }
}

IntervalSet IntervalSet::common(const IntervalSet& other) const {
  IntervalSet both;
  auto a = intervals_.begin();
  auto b = other.intervals_.begin();
  while (a != intervals_.end() && b != other.intervals_.end()) {
    const Interval overlap{std::max(a->start, b->start), std::min(a->end, b->end)};
    if (overlap.start < overlap.end) both.intervals_.push_back(overlap);
    (a->end < b->end ? a : b)++;
  }
  return both;
}

IntervalSet IntervalSet::minus(const IntervalSet& other) const {
  IntervalSet rest;
  auto b = other.intervals_.begin();
  for (Interval left : intervals_) {
    while (b != other.intervals_.end() && b->end <= left.start) ++b;
    for (auto cut = b; cut != other.intervals_.end() && cut->start < left.end; ++cut) {
      if (cut->start > left.start) rest.intervals_.push_back({left.start, cut->start});
      left.start = std::max(left.start, cut->end);
    }
    if (left.start < left.end) rest.intervals_.push_back(left);
  }
  return rest;
}

Seconds IntervalSet::length() const {
  Seconds sum{0};
  for (const Interval& interval : intervals_) sum += interval.end - interval.start;
  return sum;
}

}  // namespace gradcast
