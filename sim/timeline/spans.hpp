// Times in whole nanoseconds, as in timelines, and sets of time spans.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"

namespace gradcast {

using Nanoseconds = std::int64_t;

/// Rounds to the nearest nanosecond. All dates are rounded by this rule, so spans that touch still
/// touch, and the order of dates stays.
Nanoseconds to_nanoseconds(Seconds time);
Seconds to_seconds(Nanoseconds time);

struct Span {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

/// The union of the spans, in order and without overlap.
std::vector<Span> united(std::vector<Span> spans);

/// The parts of `spans` outside of `others`, and the parts inside. Both arguments are unions, and
/// so are the results.
std::vector<Span> outside(const std::vector<Span>& spans, const std::vector<Span>& others);
std::vector<Span> inside(const std::vector<Span>& spans, const std::vector<Span>& others);

Nanoseconds length_of(const std::vector<Span>& spans);

/// The first two spans, by the start of the second, that overlap without one being inside the
/// other: the numbers of the earlier and the later one. Spans of one lane must not overlap so,
/// because Perfetto would drop one of them without a message. Touching is not overlapping, and
/// equal spans are inside each other.
std::optional<std::pair<std::size_t, std::size_t>> first_that_does_not_nest(
    std::span<const Span> lane);

}  // namespace gradcast
