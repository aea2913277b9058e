#include "sim/sweep/ranking.hpp"

#include <catch2/catch.hpp>

#include "sim/forecast/verdict.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

Json row(const char* compressor, const char* rate, double speedup, Pays pays) {
  return {{"compressor", compressor},
          {"nic_bandwidth", rate},
          {"speedup", speedup},
          {"verdict", to_text(pays)}};
}

const std::vector<std::string> kColumns{"compressor", "nic_bandwidth"};

}  // namespace

TEST_CASE("many compressors are sorted by their verdicts, fastest first", "[sweep]") {
  const std::vector<Json> rows{
      row("a", "10Gbps", 1.2, Pays::Yes), row("b", "10Gbps", 1.25, Pays::Yes),
      row("c", "10Gbps", 1.4, Pays::CannotBeTold), row("d", "10Gbps", 0.6, Pays::No),
      row("e", "10Gbps", 0.7, Pays::No)};
  const std::string text = sweep_ranking(kColumns, "speedup", rows);
  CHECK_THAT(text, Contains("surely pays") && Contains("cannot be told") &&
                       Contains("surely does not pay"));
  CHECK_THAT(text, Contains("b 1.25, a 1.20") && Contains("c 1.40"));
  CHECK_THAT(text, Contains("2, at best e 0.70"));
}

TEST_CASE("few compressors need no ranking, and dense is none", "[sweep]") {
  std::vector<Json> rows{row("a", "10Gbps", 1.2, Pays::Yes), row("b", "10Gbps", 1.25, Pays::Yes),
                         row("a", "25Gbps", 1.2, Pays::Yes), row("b", "25Gbps", 1.25, Pays::Yes),
                         row("c", "25Gbps", 1.25, Pays::Yes)};
  for (int i = 0; i < 5; ++i) {
    rows.push_back(row("dense", "25Gbps", 1, Pays::No));
    rows.back()["verdict"] = nullptr;
  }
  CHECK(sweep_ranking(kColumns, "speedup", rows).empty());
}

// With --fitted none there is one forecast, and nothing says how far it is off.
TEST_CASE("by physics alone compressors have speedups, but no verdict", "[sweep]") {
  std::vector<Json> rows;
  for (const char* name : {"a", "b", "c", "d", "e"})
    rows.push_back(row(name, "10Gbps", name[0] < 'c' ? 1.2 : 0.8, Pays::CannotBeTold));
  CHECK_THAT(sweep_ranking(kColumns, "speedup", rows),
             Contains("-  a 1.20, b 1.20, c 0.80, d 0.80, e 0.80  "));
}
