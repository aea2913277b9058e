#include "sim/breakeven/crossings.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace gradcast;

namespace {

constexpr LookedAt kRates{1, 400};

double middle(const Crossing& crossing) { return std::sqrt(crossing.below * crossing.above); }

}  // namespace

TEST_CASE("a grid has both ends and equal ratios", "[breakeven]") {
  const std::vector<double> grid = grid_of(kRates);
  REQUIRE(grid.size() == kGridPoints);
  CHECK(grid.front() == 1);
  CHECK(grid.back() == 400);
  CHECK(grid[1] == Approx(std::pow(400.0, 1.0 / 32)));
  CHECK(grid[16] == Approx(20));  // the root of 400
  CHECK(grid_of({1, 5, true}) == std::vector<double>{1, 2, 3, 4, 5});
  CHECK(grid_of({3, 4096, true}).back() == 4096);
}

TEST_CASE("a crossing is found where it is", "[breakeven]") {
  // Dense 100 / x seconds, compressed 1 + 50 / x: it pays while 50 / x > 1.
  const Course course =
      course_of(kRates, [](double x) { return std::log(100 / x / (1 + 50 / x)); });
  CHECK(course.at_start == true);
  REQUIRE(course.crossings.size() == 1);
  CHECK(middle(course.crossings[0]) == Approx(50).epsilon(kNarrow));
  CHECK(course.crossings[0].above / course.crossings[0].below <= 1 + kNarrow);
  CHECK(!course.crossings[0].becomes);
  CHECK(!course.crossings[0].gap);
}

TEST_CASE("all crossings are found, in their order", "[breakeven]") {
  const Course course =
      course_of(kRates, [](double x) { return (x - 3) * (x - 30) * (x - 300) / 1e6; });
  CHECK(course.at_start == false);
  REQUIRE(course.crossings.size() == 3);
  for (const auto& [number, root] : std::map<int, double>{{0, 3}, {1, 30}, {2, 300}})
    CHECK(middle(course.crossings[number]) == Approx(root).epsilon(kNarrow));
  CHECK(course.crossings[0].becomes);
  CHECK(!course.crossings[1].becomes);
  CHECK(course.crossings[2].becomes);
}

// The grid has a point at every 1.206 of the one before, and both roots lie between two of them.
TEST_CASE("two crossings between two points of the grid are found by the dip that they leave",
          "[breakeven]") {
  const double between = std::sqrt(grid_of(kRates)[10] * grid_of(kRates)[11]);
  const auto dip = [&](double x) { return std::pow(std::log(x / between), 2) - 0.0004; };
  const Course course = course_of(kRates, dip);
  REQUIRE(course.crossings.size() == 2);
  // log(x / between) is +-0.02 there.
  CHECK(middle(course.crossings[0]) == Approx(between * std::exp(-0.02)).epsilon(kNarrow));
  CHECK(middle(course.crossings[1]) == Approx(between * std::exp(0.02)).epsilon(kNarrow));
}

TEST_CASE("what touches 0 and leaves does not cross it", "[breakeven]") {
  CHECK(
      course_of(kRates, [](double x) { return std::pow(std::log(x / 20), 2) + 1e-12; }).constant());
  CHECK(course_of(kRates, [](double x) { return -std::pow(std::log(x / 20), 2); }).constant());
}

TEST_CASE("a step has its crossing at the step, and flat stretches none", "[breakeven]") {
  const Course course = course_of(kRates, [](double x) { return x < 77 ? 0.5 : -0.5; });
  REQUIRE(course.crossings.size() == 1);
  CHECK(course.crossings[0].below < 77);
  CHECK(course.crossings[0].above >= 77);
  CHECK(course_of(kRates, [](double) { return 0.1; }).constant());
}

TEST_CASE("a tie is no win, however long", "[breakeven]") {
  CHECK(course_of(kRates, [](double) { return 0.0; }).at_start == false);
  const Course course = course_of(kRates, [](double x) { return x < 10 ? 0.0 : x - 10; });
  REQUIRE(course.crossings.size() == 1);
  CHECK(middle(course.crossings[0]) == Approx(10).epsilon(kNarrow));
}

TEST_CASE("whole numbers change between neighbours", "[breakeven]") {
  for (int root = 2; root <= 1000; root += 37) {
    const Course course = course_of({1, 1024, true}, [&](double x) {
      CHECK(x == std::round(x));
      return x >= root ? 1.0 : -1.0;
    });
    REQUIRE(course.crossings.size() == 1);
    CHECK(course.crossings[0].below == root - 1);
    CHECK(course.crossings[0].above == root);
    CHECK(course.crossings[0].becomes);
  }
}

TEST_CASE("points without an answer are left out, and a crossing among them says so",
          "[breakeven]") {
  // Powers of two alone have an answer; from 8 on it is yes.
  const Course powers = course_of({1, 64, true}, [](double x) -> std::optional<double> {
    if (std::exp2(std::round(std::log2(x))) != x) return std::nullopt;
    return x >= 8 ? 1 : -1;
  });
  CHECK(powers.unanswered > 0);
  REQUIRE(powers.crossings.size() == 1);
  CHECK(powers.crossings[0].below == 4);
  CHECK(powers.crossings[0].above == 8);
  CHECK(powers.crossings[0].gap);

  const Course none = course_of(kRates, [](double) { return std::nullopt; });
  CHECK(!none.at_start.has_value());
  CHECK(none.unanswered == kGridPoints);
}

TEST_CASE("a stretch reaches from its first yes to its last", "[breakeven]") {
  const auto inside = [](double low, double high) {
    return [=](double x) { return x >= low && x <= high ? 1.0 : -1.0; };
  };
  const auto about_20 = stretch_about(20, kRates, inside(7, 90));
  REQUIRE(about_20.has_value());
  CHECK(about_20->low == Approx(7).epsilon(kNarrow));
  CHECK(about_20->high == Approx(90).epsilon(kNarrow));
  CHECK(!about_20->low_open);
  CHECK(!about_20->high_open);

  const auto open = stretch_about(20, kRates, inside(0, 90));
  CHECK(open->low == 1);
  CHECK(open->low_open);
  CHECK(!open->high_open);
  CHECK(stretch_about(20, kRates, inside(0, 1000))->high_open);
  CHECK(!stretch_about(100, kRates, inside(7, 90)).has_value());

  const auto whole = stretch_about(20, {1, 64, true}, inside(6.5, 33.5));
  CHECK(whole->low == 7);
  CHECK(whole->high == 33);
}

// Narrower than the grid, about a point that is none of it: a root's interval may be so.
TEST_CASE("a stretch between two points of the grid is found from the inside", "[breakeven]") {
  const double point = std::sqrt(grid_of(kRates)[10] * grid_of(kRates)[11]);
  const auto near = [&](double x) { return 0.01 - std::abs(std::log(x / point)); };
  const auto stretch = stretch_about(point, kRates, near);
  REQUIRE(stretch.has_value());
  CHECK(stretch->low == Approx(point * std::exp(-0.01)).epsilon(kNarrow));
  CHECK(stretch->high == Approx(point * std::exp(0.01)).epsilon(kNarrow));
}

TEST_CASE("the stretches of a range are its ups between its downs", "[breakeven]") {
  const auto stretches =
      stretches_of(kRates, [](double x) { return x < 3 || (x > 20 && x < 100) ? 1.0 : -1.0; });
  REQUIRE(stretches.size() == 2);
  CHECK(stretches[0].low_open);
  CHECK(stretches[0].high == Approx(3).epsilon(kNarrow));
  CHECK(!stretches[0].high_open);
  CHECK(stretches[1].low == Approx(20).epsilon(kNarrow));
  CHECK(stretches[1].high == Approx(100).epsilon(kNarrow));
  CHECK(stretches_of(kRates, [](double) { return -1.0; }).empty());
}
