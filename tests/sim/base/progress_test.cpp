// The time left, as a long command reports it.
#include "sim/base/progress.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

// Points of 1, 1, 2 and 4 units. Two done in 5 s: 2 units, so the 6 to come take 15 s. Three done
// in 10 s: 4 units, so the 4 to come take as long.
TEST_CASE("time left is by the work of the points, which rises with their size", "[progress]") {
  CHECK(about(Seconds{0.2}) == "1 s");
  CHECK(about(Seconds{99}) == "99 s");
  CHECK(about(Seconds{101}) == "2 min");
  CHECK(about(Seconds{7500}) == "2 h 5 min");
  const std::vector<double> work{1, 1, 2, 4};
  CHECK(time_left(0, work, Seconds{1}).empty());
  CHECK(time_left(2, work, Seconds{5}) == "about 15 s left");
  CHECK(time_left(3, work, Seconds{10}) == "about 10 s left");
  CHECK(time_left(2, std::vector<double>(10, 7.0), Seconds{5}) == "about 20 s left");
}
