#include "sim/breakeven/win_map.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;
using Catch::Contains;

namespace {

Forecast taking(double seconds, std::optional<double> own = std::nullopt) {
  Forecast forecast;
  forecast.iteration = Seconds{seconds};
  if (own) forecast.deviations = ForecastDeviations{Seconds{*own}};
  return forecast;
}

Forecast refused() {
  Forecast forecast;
  forecast.problem = "no costs";
  return forecast;
}

}  // namespace

TEST_CASE("the fastest wins, by what the second takes longer", "[breakeven]") {
  const Verdict verdict = verdict_of({taking(3), taking(2), taking(2.5)});
  CHECK(verdict.winner == 1U);
  CHECK(*verdict.speedup_over_first == Approx(1.5));
  CHECK(verdict.margin == Approx(0.25));
  CHECK(!verdict.sure.has_value());
}

TEST_CASE("dense wins a tie", "[breakeven]") {
  const Verdict verdict = verdict_of({taking(2), taking(2), taking(2 * (1 - 1e-12))});
  CHECK(verdict.winner == 0U);
  CHECK(verdict.margin == 0);
}

TEST_CASE("who has no answer does not compete", "[breakeven]") {
  CHECK(verdict_of({taking(3), refused(), taking(4)}).winner == 0U);
  const Verdict verdict = verdict_of({refused(), taking(3)});
  CHECK(verdict.winner == 1U);
  CHECK(!verdict.speedup_over_first);
  CHECK(!verdict_of({refused(), refused()}).winner);
}

// 2.0 and 2.1 s, each to 0.1 s: 1.645 x 0.14 s is more than what lies between. The third, of 2.3 s
// to 1 s, is as little to be told apart as the second of 0.01 s is not.
TEST_CASE("a winner is sure when it can be told from all others", "[breakeven]") {
  CHECK(verdict_of({taking(2.1, 0.1), taking(2, 0.1)}).sure == false);
  CHECK(verdict_of({taking(2.1, 0.01), taking(2, 0.01)}).sure == true);
  CHECK(verdict_of({taking(2.1, 0.01), taking(2, 0.01), taking(2.3, 1)}).sure == false);
}

TEST_CASE("letters are the names' own, each once", "[breakeven]") {
  CHECK(letters_of({"dense", "topk", "randk", "dgc", "gaussian", "trimmed", "rtopk"}) ==
        std::vector<char>{'D', 'T', 'R', 'C', 'G', 'I', 'O'});
}

TEST_CASE("a map is a letter a cell, small where unsure", "[breakeven]") {
  Verdict sure{1U};
  sure.sure = true;
  Verdict unsure{0U};
  unsure.sure = false;
  const std::string text =
      to_text({{"1Gbps", "10Gbps", "100Gbps"}, {"4 nodes"}, {{sure, unsure, Verdict{}}}},
              {"dense", "topk"});
  CHECK_THAT(text, Contains("4 nodes  T      d       ?"));
  CHECK_THAT(text, Contains("D dense, T topk, small letters: by less than the forecast's own "
                            "error, ? no answer"));
}
