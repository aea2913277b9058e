#include "sim/breakeven/answer.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;
using Catch::Contains;

namespace {

MapCell won_by(std::size_t winner, bool sure, bool family_sure) {
  MapCell cell{winner};
  cell.speedup_over_first = 1.5;
  cell.sure = sure;
  cell.family_sure = family_sure;
  return cell;
}

/// Four cells: signsgd wins two, int8 one, of which one is not sure as a quantiser; powersgd wins
/// the last.
WinMap four_cells() {
  WinMap map;
  map.model = "resnet-50";
  map.setting = "resnet-50 on a cluster";
  map.engine = "analytic";
  map.candidates = {"dense", "int8", "signsgd", "powersgd"};
  map.families = {"dense", "quantisers", "quantisers", "low rank"};
  map.nodes = {2, 4};
  map.bandwidths = {1e9, 10e9};
  map.workers = {{2, 2}, {4, 4}};
  map.physics = map.fitted = {{won_by(2, false, true), won_by(2, true, true)},
                              {won_by(1, false, false), won_by(3, true, true)}};
  return map;
}

}  // namespace

TEST_CASE("a map of families counts families, and their members", "[breakeven]") {
  CHECK_THAT(
      map_table(four_cells()),
      Contains(
          "the fastest is quantisers in 3 of 4 cells (signsgd 2, int8 1), low rank in 1 (powersgd "
          "1); in 1 of all it cannot be told whether another family is faster.") &&
          Contains("2 nodes  Q      Q") && Contains("4 nodes  q      L"));
}

TEST_CASE("a row of a map says the winner's family, and how sure that is", "[breakeven]") {
  const std::vector<Json> rows = map_rows(four_cells());
  REQUIRE(rows.size() == 4);
  CHECK(rows[0]["winner"] == "signsgd");
  CHECK(rows[0]["winner_family"] == "quantisers");
  CHECK(rows[0]["sure"] == "no");
  CHECK(rows[0]["family_sure"] == "yes");
  CHECK(rows[2]["family_sure"] == "no");
}

TEST_CASE("a map's winner is the answer's, and physics alone stands beside it", "[breakeven]") {
  WinMap map = four_cells();
  map.physics[0][0] = won_by(3, true, true);
  map.physics[0][0].speedup_over_first = 2;
  const Json row = map_rows(map)[0];
  CHECK(row["winner"] == "signsgd");
  CHECK(row["speedup_over_dense"] == 1.5);
  CHECK(row["physics_winner"] == "powersgd");
  CHECK(row["physics_winner_family"] == "low rank");
  CHECK(row["physics_speedup_over_dense"] == 2);
  CHECK(row["agree"] == "no");
  map.fitted.clear();  // --fitted none: physics alone is the answer
  const Json alone = map_rows(map)[0];
  CHECK(alone["winner"] == "powersgd");
  CHECK(alone["physics_winner"] == "powersgd");
  CHECK(alone["agree"].is_null());
  CHECK(alone["sure"].is_null());
}
