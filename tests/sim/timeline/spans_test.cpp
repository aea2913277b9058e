#include "sim/timeline/spans.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

namespace {

using Pair = std::pair<std::size_t, std::size_t>;

std::optional<Pair> wrong_of(const std::vector<Span>& lane) {
  return first_that_does_not_nest(lane);
}

}  // namespace

TEST_CASE("dates go to the nearest nanosecond, so that what touches still touches") {
  CHECK(to_nanoseconds(Seconds{1.4e-9}) == 1);
  CHECK(to_nanoseconds(Seconds{1.6e-9}) == 2);
  CHECK(to_nanoseconds(Seconds{0.123456789}) == 123'456'789);
  CHECK(to_seconds(1'500'000'000) == Seconds{1.5});
  // A third of a second three times, each begun where the last ended.
  const Seconds third{1.0 / 3};
  CHECK(to_nanoseconds(third + third) - to_nanoseconds(third) == 333'333'334);
  CHECK(to_nanoseconds(third + third + third) == 1'000'000'000);
}

TEST_CASE("spans are united, and cut by others") {
  const std::vector<Span> both = united({{5, 8}, {0, 2}, {2, 3}, {7, 9}, {4, 4}});
  CHECK(both == std::vector<Span>{{0, 3}, {5, 9}});
  CHECK(length_of(both) == 7);
  CHECK(outside({{0, 10}}, both) == std::vector<Span>{{3, 5}, {9, 10}});
  CHECK(inside({{2, 6}}, both) == std::vector<Span>{{2, 3}, {5, 6}});
  CHECK(outside(both, {}) == both);
  CHECK(inside(both, {}).empty());
}

TEST_CASE("slices that touch, nest or are equal are what Perfetto draws") {
  CHECK_FALSE(wrong_of({}));
  CHECK_FALSE(wrong_of({{0, 5}, {5, 9}}));                  // touching
  CHECK_FALSE(wrong_of({{0, 9}, {0, 4}, {4, 9}, {5, 6}}));  // nested, at either end
  CHECK_FALSE(wrong_of({{3, 7}, {3, 7}, {3, 7}}));          // identical
  CHECK_FALSE(wrong_of({{0, 5}, {2, 2}, {5, 5}, {5, 9}}));  // without length
  CHECK_FALSE(wrong_of({{4, 5}, {2, 3}, {0, 9}}));          // in any order
}

TEST_CASE("slices that overlap by one nanosecond do not nest") {
  CHECK(wrong_of({{0, 5}, {4, 9}}) == Pair{0, 1});
  CHECK(wrong_of({{5, 9}, {0, 6}}) == Pair{1, 0});
  // Inside one another, but the innermost outlives the one around it.
  CHECK(wrong_of({{0, 9}, {1, 5}, {4, 6}}) == Pair{1, 2});
  CHECK(wrong_of({{0, 9}, {9, 10}, {1, 10}}) == Pair{0, 2});
}
