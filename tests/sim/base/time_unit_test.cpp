#include "sim/base/time_unit.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

TEST_CASE("a time has three significant digits in the unit that fits") {
  CHECK(time_text(Seconds{12.34567}) == "12.3457 s");
  CHECK(time_text(Seconds{0.48612}) == "0.4861 s");
  CHECK(time_text(Seconds{0.0999}) == "99.9 ms");
  CHECK(time_text(Seconds{0.012345}) == "12.3 ms");
  CHECK(time_text(Seconds{0.0012345}) == "1.23 ms");
  CHECK(time_text(Seconds{0.00012345}) == "0.123 ms");
  CHECK(time_text(Seconds{0.000012345}) == "12.3 us");
  CHECK(time_text(Seconds{0.0000001}) == "0.100 us");
  CHECK(time_text(Seconds{0}) == "0.0000 s");
}

TEST_CASE("times that are shown together have the unit of the shortest") {
  Shortest shortest;
  CHECK(shortest.unit().name == "s");
  for (const double time : {2.0, 0.0, 0.0123}) shortest.add(Seconds{time});
  const TimeUnit unit = shortest.unit();
  CHECK(unit.headed("iteration") == "iteration ms");
  CHECK(unit.number(Seconds{2}) == "2000.0");
  CHECK(unit.number(Seconds{0.0123}) == "12.3");
}
