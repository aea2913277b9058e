#include "sim/timeline/spans.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradcast {

Nanoseconds to_nanoseconds(Seconds time) { return std::llround(time.count() * 1e9); }

Seconds to_seconds(Nanoseconds time) { return Seconds{static_cast<double>(time) / 1e9}; }

std::vector<Span> united(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start < b.start; });
  std::vector<Span> apart;
  for (const Span& span : spans) {
    if (span.start == span.end) continue;
    if (!apart.empty() && span.start <= apart.back().end)
      apart.back().end = std::max(apart.back().end, span.end);
    else
      apart.push_back(span);
  }
  return apart;
}

std::vector<Span> outside(const std::vector<Span>& spans, const std::vector<Span>& others) {
  std::vector<Span> left;
  for (const Span& span : spans) {
    Nanoseconds from = span.start;
    auto other =
        std::lower_bound(others.begin(), others.end(), from,
                         [](const Span& each, Nanoseconds when) { return each.end <= when; });
    for (; other != others.end() && other->start < span.end; ++other) {
      if (other->start > from) left.push_back({from, other->start});
      from = std::max(from, other->end);
    }
    if (from < span.end) left.push_back({from, span.end});
  }
  return left;
}

std::vector<Span> inside(const std::vector<Span>& spans, const std::vector<Span>& others) {
  return outside(spans, outside(spans, others));
}

Nanoseconds length_of(const std::vector<Span>& spans) {
  return std::accumulate(
      spans.begin(), spans.end(), Nanoseconds{0},
      [](Nanoseconds sum, const Span& span) { return sum + (span.end - span.start); });
}

std::optional<std::pair<std::size_t, std::size_t>> first_that_does_not_nest(
    std::span<const Span> lane) {
  std::vector<std::size_t> order(lane.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return lane[a].start != lane[b].start ? lane[a].start < lane[b].start
                                          : lane[a].end > lane[b].end;
  });
  std::vector<std::size_t> open;  // each inside the one before
  for (const std::size_t next : order) {
    while (!open.empty() && lane[open.back()].end <= lane[next].start) open.pop_back();
    if (!open.empty() && lane[next].end > lane[open.back()].end)
      return std::pair(open.back(), next);
    open.push_back(next);
  }
  return std::nullopt;
}

}  // namespace gradcast
