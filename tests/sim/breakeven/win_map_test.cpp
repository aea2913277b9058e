#include "sim/breakeven/win_map.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;
using Catch::Contains;

namespace {

RunForecast taking(double seconds, std::optional<double> own = std::nullopt) {
  RunForecast forecast;
  forecast.iteration = Seconds{seconds};
  if (own) forecast.deviations = ForecastDeviations{Seconds{*own}};
  return forecast;
}

RunForecast refused() {
  RunForecast forecast;
  forecast.problem = "no costs";
  return forecast;
}

/// Dense and as many of one family as make up the rest.
MapCell of_one_family(const std::vector<RunForecast>& candidates) {
  std::vector<std::string> families(candidates.size(), "quantisers");
  families[0] = "dense";
  return cell_of(candidates, families);
}

}  // namespace

TEST_CASE("the fastest wins, by what the second takes longer", "[breakeven]") {
  const MapCell cell = of_one_family({taking(3), taking(2), taking(2.5)});
  CHECK(cell.winner == 1U);
  CHECK(*cell.speedup_over_first == Approx(1.5));
  CHECK(cell.margin == Approx(0.25));
  CHECK(!cell.sure.has_value());
}

TEST_CASE("dense wins a tie", "[breakeven]") {
  const MapCell cell = of_one_family({taking(2), taking(2), taking(2 * (1 - 1e-12))});
  CHECK(cell.winner == 0U);
  CHECK(cell.margin == 0);
}

TEST_CASE("who has no answer does not compete", "[breakeven]") {
  CHECK(of_one_family({taking(3), refused(), taking(4)}).winner == 0U);
  const MapCell cell = of_one_family({refused(), taking(3)});
  CHECK(cell.winner == 1U);
  CHECK(!cell.speedup_over_first);
  CHECK(!of_one_family({refused(), refused()}).winner);
}

// 2.0 and 2.1 s, each to 0.1 s: 1.645 x 0.14 s is more than what lies between. The third, of 2.3 s
// to 1 s, is as little to be told apart as the second of 0.01 s is not.
TEST_CASE("a winner is sure when it can be told from all others", "[breakeven]") {
  CHECK(of_one_family({taking(2.1, 0.1), taking(2, 0.1)}).sure == false);
  CHECK(of_one_family({taking(2.1, 0.01), taking(2, 0.01)}).sure == true);
  CHECK(of_one_family({taking(2.1, 0.01), taking(2, 0.01), taking(2.3, 1)}).sure == false);
}

TEST_CASE("letters are the names' own, each once", "[breakeven]") {
  CHECK(letters_of({"dense", "topk", "randk", "dgc", "gaussian", "trimmed", "rtopk"}) ==
        std::vector<char>{'D', 'T', 'R', 'C', 'G', 'I', 'O'});
}

TEST_CASE("a map is a letter a cell, small where unsure", "[breakeven]") {
  MapCell sure{1U};
  sure.sure = true;
  MapCell unsure{0U};
  unsure.sure = false;
  const std::string text = to_text({{"1Gbps", "10Gbps", "100Gbps"},
                                    {"4 nodes"},
                                    {{sure, unsure, MapCell{}}},
                                    {"dense", "topk"}});
  CHECK_THAT(text, Contains("4 nodes  T      d       ?"));
  CHECK_THAT(text, Contains("D dense, T topk, small letters: cannot be told from the others, "
                            "? no answer"));
}

// 2.0 and 2.01 s are both quantisers', and to 0.1 s each they cannot be told apart. Dense, 3 s,
// can: that a quantiser is the fastest is sure, and which one is not.
TEST_CASE("a family may surely win where its fastest is not sure", "[breakeven]") {
  const std::vector<RunForecast> candidates{taking(3, 0.1), taking(2, 0.1), taking(2.01, 0.1)};
  const MapCell cell = of_one_family(candidates);
  CHECK(cell.winner == 1U);
  CHECK(cell.sure == false);
  CHECK(cell.family_sure == true);
  CHECK(cell_of(candidates, {"dense", "quantisers", "casts"}).family_sure == false);
}

TEST_CASE("a map is by family where families compete and one has several", "[breakeven]") {
  WinMap map;
  map.families = {"dense", "sparsifiers", "sparsifiers"};
  CHECK(!map.by_family());  // one family: which of it?
  map.families = {"dense", "sparsifiers", "low rank"};
  CHECK(!map.by_family());  // the compressor is the family
  map.families = {"dense", "sparsifiers", "sparsifiers", "low rank"};
  CHECK(map.by_family());
}

TEST_CASE("candidates of one name share a letter", "[breakeven]") {
  const std::string text = to_text({{"1Gbps", "10Gbps"},
                                    {"4 nodes"},
                                    {{MapCell{1U}, MapCell{2U}}},
                                    {"dense", "quantisers", "quantisers"}});
  CHECK_THAT(text, Contains("4 nodes  Q      Q") && Contains("\nQ quantisers\n"));
}
