// Times in whole nanoseconds, as timelines have them, and how spans of them lie in one another.
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

/// To the nearest. The one rule for all dates: what touches still touches, and what comes first
/// does not come later.
Nanoseconds to_nanoseconds(Seconds time);
Seconds to_seconds(Nanoseconds time);

struct Span {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

/// Their union, in order and apart.
std::vector<Span> united(std::vector<Span> spans);

/// What of `spans` is not in `others`, and what is; both are unions, and so are the results.
std::vector<Span> outside(const std::vector<Span>& spans, const std::vector<Span>& others);
std::vector<Span> inside(const std::vector<Span>& spans, const std::vector<Span>& others);

Nanoseconds length_of(const std::vector<Span>& spans);

/// The first two, by the start of the second, that overlap without one being inside the other: the
/// numbers of the earlier and the later. Spans of one lane must not, or Perfetto drops one of them
/// and does not say so. Touching is not overlapping, and equal spans are inside each other.
std::optional<std::pair<std::size_t, std::size_t>> first_that_does_not_nest(
    std::span<const Span> lane);

}  // namespace gradcast
