#include "sim/base/random.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <vector>

using namespace gradcast;

TEST_CASE("a draw is found by its name, whatever was drawn before", "[random]") {
  const DrawName name{7, 3, Draw::Network, 12};
  const double first = uniform(name);
  for (std::uint64_t i = 0; i < 100; ++i) uniform({i, i, Draw::Compute, i});
  CHECK(uniform(name) == first);
  CHECK(lognormal_factor(0.1, name) == lognormal_factor(0.1, name));
}

TEST_CASE("draws of other names are other numbers", "[random]") {
  std::set<double> drawn;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (std::uint64_t replica = 0; replica < 10; ++replica)
      for (const Draw what : {Draw::Compute, Draw::Network, Draw::Count})
        for (std::uint64_t index = 0; index < 10; ++index)
          drawn.insert(uniform({seed, replica, what, index}));
  CHECK(drawn.size() == 3000);
}

// 10,000 draws: the mean lies within 1/2 +- 4 x 0.2887 / 100, and each tenth has 1000 +- 4 x 30.
TEST_CASE("draws are even between 0 and 1", "[random]") {
  constexpr int kDraws = 10'000;
  double sum = 0;
  std::vector<int> tenths(10);
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = uniform({1, 0, Draw::Compute, static_cast<std::uint64_t>(i)});
    REQUIRE((drawn > 0 && drawn < 1));
    sum += drawn;
    ++tenths[static_cast<std::size_t>(10 * drawn)];
  }
  CHECK(sum / kDraws == Approx(0.5).margin(4 * std::sqrt(1. / 12) / 100));
  for (const int tenth : tenths) CHECK(std::abs(tenth - 1000) < 120);
}

// The standard error of the mean of n draws of deviation s is s / sqrt(n); their variance has the
// standard error s^2 sqrt((kurtosis - 1) / n). The kurtosis of a lognormal of mean 1 is w^4 + 2 w^3
// + 3 w^2 - 3 with w = 1 + s^2. Each must lie within four standard errors.
TEST_CASE("a lognormal factor has mean 1 and the deviation asked for", "[random]") {
  constexpr int kDraws = 10'000;
  for (const double deviation : {0.01, 0.1, 0.5}) {
    for (const Draw what : {Draw::Compute, Draw::Network}) {
      double sum = 0;
      double squares = 0;
      for (int i = 0; i < kDraws; ++i) {
        const double drawn =
            lognormal_factor(deviation, {3, static_cast<std::uint64_t>(i), what, 5});
        REQUIRE(drawn > 0);
        sum += drawn - 1;
        squares += (drawn - 1) * (drawn - 1);
      }
      CAPTURE(deviation);
      CHECK(sum / kDraws == Approx(0).margin(4 * deviation / std::sqrt(kDraws)));
      const double variance = deviation * deviation;
      const double w = 1 + variance;
      const double kurtosis = std::pow(w, 4) + 2 * std::pow(w, 3) + 3 * w * w - 3;
      CHECK(squares / kDraws ==
            Approx(variance).margin(4 * variance * std::sqrt((kurtosis - 1) / kDraws)));
    }
  }
}

TEST_CASE("no deviation is no factor", "[random]") {
  for (std::uint64_t i = 0; i < 10; ++i) CHECK(lognormal_factor(0, {1, i, Draw::Compute, i}) == 1);
}
