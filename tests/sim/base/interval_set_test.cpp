#include "sim/base/interval_set.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "sim/base/random.hpp"

using namespace gradcast;

namespace {

IntervalSet set(const std::vector<std::pair<double, double>>& intervals) {
  std::vector<Interval> all;
  for (const auto& [start, end] : intervals) all.push_back({Seconds{start}, Seconds{end}});
  return IntervalSet(all);
}

double length(const IntervalSet& of) { return of.length().count(); }

}  // namespace

TEST_CASE("moments count once, however many intervals have them", "[interval-set]") {
  CHECK(length(IntervalSet()) == 0);
  CHECK(length(set({{1, 3}})) == 2);
  CHECK(length(set({{5, 6}, {1, 3}})) == 3);          // in any order
  CHECK(length(set({{1, 3}, {2, 5}})) == 4);          // overlapping
  CHECK(length(set({{1, 9}, {2, 3}, {4, 5}})) == 8);  // one in the other
  CHECK(length(set({{1, 2}, {2, 3}})) == 2);          // touching
  CHECK(length(set({{1, 1}, {4, 3}})) == 0);          // nothing, and less
}

TEST_CASE("what two sets have in common, and what one has alone", "[interval-set]") {
  const IntervalSet a = set({{0, 2}, {4, 8}, {10, 11}});
  const IntervalSet b = set({{1, 5}, {6, 7}, {8, 10}});
  CHECK(length(a.common(b)) == 3);  // 1-2, 4-5, 6-7
  CHECK(length(b.common(a)) == 3);
  CHECK(length(a.minus(b)) == 4);  // 0-1, 5-6, 7-8, 10-11
  CHECK(length(b.minus(a)) == 4);  // 2-4, 8-10
  CHECK(length(a.minus(IntervalSet())) == length(a));
  CHECK(length(IntervalSet().minus(a)) == 0);
  CHECK(length(a.minus(a)) == 0);
  CHECK(length(a.common(a)) == length(a));
}

// On whole numbers a set is which of the seconds it has.
TEST_CASE("sets of intervals are sets of seconds", "[interval-set]") {
  constexpr int kSeconds = 40;
  std::uint64_t draws = 0;
  const auto draw = [&](int below) {
    return static_cast<int>(uniform({1, 0, Draw::Count, draws++}) * below);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<bool>> has(2, std::vector<bool>(kSeconds));
    std::vector<IntervalSet> sets;
    for (auto& seconds : has) {
      std::vector<std::pair<double, double>> intervals;
      for (int i = draw(8); i > 0; --i) {
        const int start = draw(kSeconds);
        const int end = std::min(kSeconds, start + draw(10));
        intervals.emplace_back(start, end);
        for (int s = start; s < end; ++s) seconds[static_cast<std::size_t>(s)] = true;
      }
      sets.push_back(set(intervals));
    }
    int first = 0, both = 0, first_alone = 0;
    for (std::size_t s = 0; s < kSeconds; ++s) {
      first += has[0][s];
      both += has[0][s] && has[1][s];
      first_alone += has[0][s] && !has[1][s];
    }
    CHECK(length(sets[0]) == first);
    CHECK(length(sets[0].common(sets[1])) == both);
    CHECK(length(sets[0].minus(sets[1])) == first_alone);
  }
}
