#include "sim/engine/playback/active_periods.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "sim/base/random.hpp"

using namespace gradcast;

using Numbers = std::set<std::size_t>;

TEST_CASE("a period holds from its beginning until just before its end", "[engine]") {
  ActivePeriods periods;
  periods.add({Seconds{1}, Seconds{2}});
  periods.add({Seconds{3}, Seconds{1}});
  periods.add({Seconds{2}, {}});
  periods.add({Seconds{2}, Seconds{0}});  // never
  CHECK(periods.at(Seconds{0}).empty());
  CHECK(periods.at(Seconds{1}) == Numbers{0});
  CHECK(periods.at(Seconds{2}) == Numbers{0, 2});
  CHECK(periods.at(Seconds{3}) == Numbers{1, 2});
  CHECK(periods.at(Seconds{1e6}) == Numbers{2});
}

// Dates on a grid of 20, so that many begin and end together.
TEST_CASE("periods that hold are those of which Period says so, at every date", "[engine]") {
  std::vector<Period> all;
  ActivePeriods periods;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto drawn = [&](std::uint64_t what) {
      return Seconds{std::floor(20 * uniform({1, i, Draw::FitStart, what}))};
    };
    Period period{drawn(0), {}};
    if (i % 7 != 0) period.lasting = drawn(1);
    all.push_back(period);
    periods.add(period);
  }
  for (double now = 0; now < 50; now += 0.5) {
    Numbers holding;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].holds(Seconds{now})) holding.insert(i);
    CHECK(periods.at(Seconds{now}) == holding);
  }
}
