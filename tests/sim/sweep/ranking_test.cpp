#include "sim/sweep/ranking.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;
using Catch::Contains;

namespace {

Json row(const char* compressor, const char* rate, double physics, double fitted) {
  const auto pays = [](double speedup) { return speedup > 1 ? Json("yes") : Json("no"); };
  return {{"compressor", compressor}, {"nic_bandwidth", rate}, {"speedup", physics},
          {"fitted_speedup", fitted}, {"pays", pays(physics)}, {"fitted_pays", pays(fitted)}};
}

const std::vector<std::string> kColumns{"compressor", "nic_bandwidth"};

}  // namespace

TEST_CASE("many compressors are sorted into those that pay by both, by one and by no answer",
          "[sweep]") {
  const std::vector<Json> rows{row("a", "10Gbps", 1.1, 1.2), row("b", "10Gbps", 1.3, 1.25),
                               row("c", "10Gbps", 1.01, 0.9), row("d", "10Gbps", 0.5, 0.6),
                               row("e", "10Gbps", 0.8, 0.7)};
  const std::string text = sweep_ranking(kColumns, "speedup", rows);
  // b: at least 1.25; a: at least 1.10. e is at best 0.7, d at best 0.5.
  CHECK_THAT(text, Contains("b 1.30 (1.25), a 1.10 (1.20)"));
  CHECK_THAT(text, Contains("c 1.01 (0.90)"));
  CHECK_THAT(text, Contains("2, at best e 0.80 (0.70)"));
}

TEST_CASE("few compressors need no ranking, and dense is none", "[sweep]") {
  std::vector<Json> rows{row("a", "10Gbps", 1.1, 1.2), row("b", "10Gbps", 1.3, 1.25),
                         row("a", "25Gbps", 1.1, 1.2), row("b", "25Gbps", 1.3, 1.25),
                         row("c", "25Gbps", 1.3, 1.25)};
  for (int i = 0; i < 5; ++i) {
    rows.push_back(row("dense", "25Gbps", 1, 1));
    rows.back()["pays"] = nullptr;
  }
  CHECK(sweep_ranking(kColumns, "speedup", rows).empty());
}

// With --fitted none there is one answer, and nothing that two could agree on.
TEST_CASE("one answer alone is not called both", "[sweep]") {
  std::vector<Json> rows;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    rows.push_back(row(name, "10Gbps", name[0] < 'c' ? 1.2 : 0.8, 0));
    rows.back()["fitted_speedup"] = rows.back()["fitted_pays"] = nullptr;
  }
  const std::string text = sweep_ranking(kColumns, "speedup", rows);
  CHECK_THAT(text, Contains("a 1.20, b 1.20") && Contains("3, at best c 0.80"));
  CHECK_THAT(text, Contains("does not") && !Contains("both") && !Contains("fitted"));
}
