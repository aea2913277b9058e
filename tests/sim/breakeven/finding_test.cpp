#include "sim/breakeven/finding.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace gradcast;

namespace {

RunForecast taking(double seconds) {
  RunForecast forecast;
  forecast.iteration = Seconds{seconds};
  forecast.engine = "analytic";
  return forecast;
}

RunForecast taking(double seconds, double own, std::vector<Seconds> shared = {}) {
  RunForecast forecast = taking(seconds);
  forecast.deviations = ForecastDeviations{Seconds{own}, std::move(shared)};
  return forecast;
}

RunForecast refused(const std::string& why) {
  RunForecast forecast;
  forecast.problem = why;
  return forecast;
}

const double kDeviations = 1.6448536269514722;  // of a normal, to the 95th percentile

}  // namespace

TEST_CASE("an advantage is the logarithm of the ratio of the times", "[breakeven]") {
  CHECK(*advantage(taking(1), taking(std::exp(0.5))) == Approx(0.5));
  CHECK(*advantage(taking(2), taking(1)) == Approx(-std::log(2)));
  CHECK(*advantage(taking(1), taking(1)) == 0);
  CHECK(*advantage(taking(1), taking(1 + 1e-12)) == 0);  // rounding
  CHECK(!advantage(taking(1), refused("no such cluster")).has_value());
}

// 3 and 4 ms each by itself are 5 ms; 10 and 12 ms by the same wrong property are 2 ms.
TEST_CASE("what both share cancels, what is each run's own adds up", "[breakeven]") {
  const auto own = deviation_of_difference(taking(1, 3e-3), taking(1, 4e-3));
  CHECK(own->count() == Approx(5e-3));
  const auto same =
      deviation_of_difference(taking(1, 0, {Seconds{10e-3}}), taking(1, 0, {Seconds{10e-3}}));
  CHECK(same->count() == 0);
  const auto shared =
      deviation_of_difference(taking(1, 0, {Seconds{10e-3}}), taking(1, 0, {Seconds{12e-3}}));
  CHECK(shared->count() == Approx(2e-3));
  const auto opposite =
      deviation_of_difference(taking(1, 0, {Seconds{10e-3}}), taking(1, 0, {Seconds{-12e-3}}));
  CHECK(opposite->count() == Approx(22e-3));
  CHECK(!deviation_of_difference(taking(1), taking(1, 1e-3)).has_value());
}

TEST_CASE("forecasts cross a pipe to the bit", "[breakeven]") {
  RunForecast odd = taking(0.1 + 0.2, 1.0 / 3, {Seconds{-1e-300}, Seconds{2.0 / 3}});
  odd.outside = "12:workers 300\noutside 1..256";
  odd.ranks = 16;
  const auto back = unpack_forecasts(pack({odd, refused("3:no"), taking(7)}));
  REQUIRE(back.size() == 3);
  CHECK(back[0].iteration == odd.iteration);
  CHECK(back[0].deviations->own == odd.deviations->own);
  CHECK(back[0].deviations->shared == odd.deviations->shared);
  CHECK(back[0].outside == odd.outside);
  CHECK(back[0].ranks == 16);
  CHECK(back[1].problem == "3:no");
  CHECK(!back[1].deviations);
  CHECK(back[2].iteration == Seconds{7});
  CHECK_THROWS_AS(unpack_forecasts("9:short"), std::logic_error);
}

// Dense 100 / x, compressed 1 + 50 / x: at 50. The times differ by 1 - 50 / x, which is
// within 1.645 x 0.1 s from 50 / 1.1645 = 42.9 to 50 / 0.8355 = 59.8.
TEST_CASE("a root has the interval in which the two cannot be told apart", "[breakeven]") {
  std::multiset<double> asked;
  const Finding finding = find_break_evens({1, 400}, [&](double x) {
    asked.insert(x);
    return Duel{taking(1 + 50 / x, 0.06), taking(100 / x, 0.08)};
  });
  CHECK(finding.pays_at_start == true);
  REQUIRE(finding.roots.size() == 1);
  const BreakEven& root = finding.roots[0];
  CHECK(root.at == Approx(50).epsilon(kNarrow));
  CHECK(!root.pays_above);
  CHECK(root.unchecked.empty());
  CHECK(root.interval->low == Approx(50 / (1 + 0.1 * kDeviations)).epsilon(kNarrow));
  CHECK(root.interval->high == Approx(50 / (1 - 0.1 * kDeviations)).epsilon(kNarrow));
  CHECK(!root.interval->low_open);
  CHECK(asked.size() == std::set<double>(asked.begin(), asked.end()).size());
  CHECK(finding.forecasts == 2 * asked.size());
  CHECK(finding.engine == "analytic");
  CHECK(asked.count(root.at * 0.99) == 1);  // the check
  CHECK(asked.count(root.at * 1.01) == 1);
  CHECK(finding.paying() == std::vector<std::pair<double, double>>{{1, root.at}});
  CHECK(finding.pays_at(49));
  CHECK(!finding.pays_at(51));
}

TEST_CASE("without deviations there is no interval, with large ones it is open", "[breakeven]") {
  const auto find = [](double deviation) {
    return find_break_evens({1, 400}, [=](double x) {
      return Duel{taking(1 + 50 / x, deviation), taking(100 / x, deviation)};
    });
  };
  const Finding physics = find_break_evens({1, 400}, [](double x) {
    return Duel{taking(1 + 50 / x), taking(100 / x)};
  });
  CHECK(!physics.roots[0].interval);
  CHECK(!physics.fitted);
  const Finding wide = find(1);  // 1.645 x 1.41 s: more than the 1 s that is left at 400
  CHECK(wide.roots[0].interval->high_open);
  CHECK(wide.roots[0].interval->high == 400);
  CHECK(!wide.roots[0].interval->low_open);
}

TEST_CASE("without a root it is said where the two cannot be told apart", "[breakeven]") {
  // 1 s against 1 s + 10 / x; told apart while 10 / x > 1.645 x 1 s.
  const Finding finding = find_break_evens({1, 400}, [](double x) {
    return Duel{taking(1, 1), taking(1 + 10 / x, 0)};
  });
  CHECK(finding.pays_at_start == true);
  CHECK(finding.roots.empty());
  REQUIRE(finding.unsure.size() == 1);
  CHECK(finding.unsure[0].low == Approx(10 / kDeviations).epsilon(2 * kNarrow));
  CHECK(finding.unsure[0].high_open);
  CHECK(finding.unsure_between(20, 300));
  CHECK(!finding.unsure_between(5, 300));
}

TEST_CASE("a root of nodes is the outermost that pays", "[breakeven]") {
  const auto nodes = [](double least, double most) {
    return find_break_evens({1, 64, true}, [=](double n) {
      return Duel{taking(n >= least && n <= most ? 1 : 3), taking(2)};
    });
  };
  const Finding up = nodes(3, 64);
  REQUIRE(up.roots.size() == 1);
  CHECK(up.roots[0].at == 3);
  CHECK(up.roots[0].pays_above);
  CHECK(up.roots[0].unchecked.empty());
  const Finding down = nodes(1, 12);
  CHECK(down.roots[0].at == 12);
  CHECK(!down.roots[0].pays_above);
  const Finding band = nodes(3, 12);
  CHECK(band.paying() == std::vector<std::pair<double, double>>{{3, 12}});
}

// One rank neither compresses nor communicates: both take the same.
TEST_CASE("nodes begin to pay after a tie", "[breakeven]") {
  const Finding finding = find_break_evens({1, 8, true}, [](double n) {
    return Duel{taking(1), taking(n == 1 ? 1 : 2)};
  });
  REQUIRE(finding.roots.size() == 1);
  CHECK(finding.roots[0].at == 2);
}

TEST_CASE("a root of which one side wavers is reported as such", "[breakeven]") {
  // It pays below 50 and again from 50.3 to 50.6. At the root at 50.3 it begins to pay, but the
  // values 49.8 and 50.8 beside it say that it stops.
  const Finding finding = find_break_evens({49, 52}, [](double x) {
    return Duel{taking(x < 50 || (x > 50.3 && x < 50.6) ? 1 : 3), taking(2)};
  });
  REQUIRE(finding.roots.size() == 3);
  CHECK(finding.roots[0].at == Approx(50).epsilon(kNarrow));
  CHECK(finding.roots[1].at == Approx(50.3).epsilon(kNarrow));
  CHECK_THAT(finding.roots[1].unchecked, Catch::Contains("the other way round"));
  const Finding spike = find_break_evens({49, 52}, [](double x) {
    return Duel{taking(x > 50.3 && x < 50.6 ? 1 : 3), taking(2)};
  });
  REQUIRE(spike.roots.size() == 2);
  CHECK_THAT(spike.roots[0].unchecked, Catch::Contains("is not faster on both sides"));
}

TEST_CASE("why nothing has an answer is kept", "[breakeven]") {
  const Finding none = find_break_evens({1, 400}, [](double) {
    return Duel{refused("no such collective"), taking(1)};
  });
  CHECK(!none.pays_at_start);
  CHECK(none.problem == "no such collective");
  CHECK(none.unanswered == kGridPoints);
}

TEST_CASE("an answer is for the values that have one", "[breakeven]") {
  const Finding finding = find_break_evens({1, 64, true}, [](double n) {
    return Duel{n < 4 ? refused("there is no rank 5") : taking(1), taking(n < 10 ? 1.5 : 0.5)};
  });
  CHECK(finding.unanswered == 3);
  CHECK(finding.problem == "there is no rank 5");
  CHECK(finding.range.from == 4);
  CHECK(finding.range.to == 64);
  CHECK(finding.paying() == std::vector<std::pair<double, double>>{{4, 9}});
}
