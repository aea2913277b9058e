#include "sim/inputs/event_crowds.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

namespace {

Period from_to(double at, double end) { return {Seconds{at}, Seconds{end - at}}; }

}  // namespace

TEST_CASE("a crowd is counted by target and by time", "[world]") {
  EventCrowds crowds;
  crowds.add("rank 1", from_to(0, 2), 2);
  crowds.add("rank 2", from_to(0, 9), 3);
  crowds.add("rank 1", from_to(2, 4), 4);  // as the first ends
  crowds.add("rank 1", from_to(1, 3), 5);
  CHECK_FALSE(crowds.beyond(2).has_value());
  const auto crowd = crowds.beyond(1);
  REQUIRE(crowd.has_value());
  CHECK(crowd->target == "rank 1");
  CHECK(crowd->line == 5);
  CHECK(crowd->at == Seconds{1});
}

TEST_CASE("an event without an end goes on", "[world]") {
  EventCrowds crowds;
  crowds.add("rank 1", {Seconds{1}, {}}, 2);
  crowds.add("rank 1", from_to(5, 6), 3);
  CHECK(crowds.beyond(1).has_value());
}
