// Runs of one kind err together.
#include "sim/plan/run_kind.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace gradcast;

namespace {

/// Computes e^(0.3 n) times as long as a second: n lengths away.
RunKind kind(double lengths, const char* compressor = "", int ranks = 8) {
  return {compressor, Seconds{std::exp(0.3 * lengths)}, ranks};
}

}  // namespace

TEST_CASE("kinds go together less the more their computing or ranks differ", "[run kind]") {
  CHECK(kind_correlation(kind(0), kind(0)) == 1);
  CHECK(kind_correlation(kind(0), kind(2)) == Approx(std::exp(-2)));
  CHECK(kind_correlation(kind(2), kind(0)) == Approx(std::exp(-2)));
  CHECK(kind_correlation(kind(0), kind(1, "", 16)) == Approx(std::exp(-1 - std::log(2) / 5)));
  CHECK(kind_correlation(kind(0), kind(0, "topk")) == 0);
  CHECK(kind_correlation({}, {}) == 0);  // of collectives alone nobody knows that they are alike
}

// Three of seven parts are computing: hypot(4/7, 3/7 / 2) of the scatter.
TEST_CASE("one GPU's work scatters half as much as all else", "[run kind]") {
  CHECK(scatter_share(0) == 1);
  CHECK(scatter_share(1) == 0.5);
  CHECK(scatter_share(3.0 / 7) == Approx(std::hypot(4, 1.5) / 7));
  CHECK(scatter_share(1.2) == 0.5);  // a run that is faster than its GPU alone
}

TEST_CASE("a kind that was measured is as measured, and another the less like it the farther",
          "[run kind]") {
  const std::vector<KindFactor> known{{kind(0), 1.1, 0.02}};
  CHECK(kind_estimate(known, kind(0)).factor() == Approx(1.1));
  CHECK(kind_estimate(known, kind(0)).unknown == Approx(0).margin(1e-12));
  CHECK(std::log(kind_estimate(known, kind(-1)).factor()) == Approx(std::exp(-1) * std::log(1.1)));
  CHECK(kind_estimate(known, kind(1)).unknown == Approx(1 - std::exp(-2)));
  CHECK(kind_estimate(known, kind(0, "topk")).factor() == 1);
  CHECK(kind_estimate(known, kind(0, "topk")).unknown == 1);
  // On 64 ranks in place of 8: e^(-2 ln 8 / 5) of the variance is known.
  CHECK(kind_estimate(known, kind(0, "", 64)).unknown == Approx(1 - std::pow(8, -0.4)));
}

TEST_CASE("between two kinds the nearer counts more, and those beyond them not at all",
          "[run kind]") {
  const std::vector<KindFactor> known{
      {kind(-9), 3, 0}, {kind(0), 1.1, 0}, {kind(2), 1.2, 0}, {kind(9), 3, 0}};
  const KindEstimate middle = kind_estimate(known, kind(1));
  // Each neighbour goes with the middle by a = 1/e, and with the other by a squared. The weights
  // solve w + w a^2 = a.
  const double a = std::exp(-1);
  REQUIRE(middle.parts.size() == 4);
  for (const std::size_t neighbour : {1, 2})
    CHECK(middle.parts[neighbour].weight == Approx(a / (1 + a * a)));
  for (const std::size_t beyond : {0, 3})
    CHECK(middle.parts[beyond].weight == Approx(0).margin(1e-12));
  CHECK(middle.unknown == Approx(1 - 2 * a * a / (1 + a * a)));
  CHECK(kind_estimate(known, kind(0.01)).factor() == Approx(1.1).epsilon(0.01));
}
