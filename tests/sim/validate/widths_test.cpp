// The widths of intervals about collectives, from what forecasts leave of each log.
#include "sim/validate/widths.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace gradcast {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::WithinAbs;

/// A row of which the logarithm of measured over forecast is this.
TodayRow row(const std::string& source, double log_ratio, int nodes = 2, double bytes = 1 << 20) {
  return {"measured-nccl-tests", source, "TCP",      "nccl", nodes, 8, bytes,
          std::exp(log_ratio),   1.0,    "10gbe-4x4"};
}

using Rows = std::vector<TodayRow>;

// Log a has 0.1 and 0.3, mean 0.2; log b has -0.4 alone. The discrepancy is sqrt((0.04 + 0.16) /
// 2). About a's mean lie 0.1 and 0.1, of which one is free: sqrt(0.02). One row says nothing of
// scatter.
TEST_CASE("a log's mean is its cluster's, and its rows scatter about it", "[validate]") {
  const Widths widths = widths_of(Rows{row("a", 0.1), row("b", -0.4), row("a", 0.3)});
  CHECK_THAT(widths.discrepancy, WithinAbs(std::sqrt(0.1), 1e-12));
  CHECK_THAT(widths.scatter, WithinAbs(std::sqrt(0.02), 1e-12));
}

// On 2 nodes the mean is 0.1, on 4 nodes 0.3: no row scatters.
TEST_CASE("a source on other nodes is another log", "[validate]") {
  const Widths widths = widths_of(Rows{row("a", 0.1, 2), row("a", 0.3, 4), row("a", 0.1, 2)});
  CHECK_THAT(widths.discrepancy, WithinAbs(std::sqrt(0.05), 1e-12));
  CHECK_THAT(widths.scatter, WithinAbs(0, 1e-12));
}

// Site a has two logs of 0.1, b one of 0.3: sqrt((0.01 + 0.09) / 2), and not a third of 0.11.
TEST_CASE("a site with many logs weighs as one with few", "[validate]") {
  const Widths widths = widths_of(Rows{row("a-1", 0.1), row("a-2", 0.1), row("b", 0.3)});
  CHECK_THAT(widths.discrepancy, WithinAbs(std::sqrt(0.05), 1e-12));
  TodayRow other = row("a-1", 0.1);
  other.cluster = "10gbe";
  CHECK(site_of(other) == site_of(row("a-2", 0)));
  other.cluster = "dgx-h100";
  CHECK(site_of(other) != site_of(row("a-2", 0)));
}

// Alone, 10 % of discrepancy and of scatter make about 14 %, and 90 % of Student's t by 5 degrees
// lies within two deviations.
TEST_CASE("an interval holds what lies within two deviations", "[validate]") {
  const Widths widths{0.1, 0.1};
  for (const double sign : {-1., 1.}) {
    CHECK(widths.hold(row("a", 0.2 * sign)));
    CHECK_FALSE(widths.hold(row("a", 0.4 * sign)));
  }
  CHECK(widths.ratio() > std::exp(0.4));
  CHECK(widths.ratio() < std::exp(0.8));
}

// a, b and d are off by about 1 % and c by 70 %. The other sites do not know c's rows, and hold
// neither of them; with its own, the interval holds the nearer.
TEST_CASE("a site's rows are held by the widths of the others", "[validate]") {
  const Rows rows{row("a", 0.01), row("a", 0.02), row("b", -0.01), row("b", -0.02),
                  row("d", 0.01), row("d", 0.02), row("c", 0.5),   row("c", 0.6)};
  const Held held = held_without_own_site(rows, rows);
  CHECK(held.rows == 6);
  CHECK(held.ratios.size() == 8);
  CHECK(widths_of(rows).hold(rows[6]));
}

// Two sites are off by 1 %. Another network's are off by 40 %: the mean square of the three
// is 0.16 / 3, of which the root is 0.231.
TEST_CASE("two sites do not make a network sure", "[validate]") {
  const Rows two{row("a", 0.01), row("b", 0.01)};
  Rows all = two;
  all.push_back(row("c", 0.4));
  CHECK_THAT(widths_of(two).discrepancy, WithinAbs(0.01, 1e-12));
  CHECK_THAT(widths_of(two, all).discrepancy, WithinAbs(0.231, 1e-3));
  CHECK_THAT(widths_of(all, all).discrepancy, WithinAbs(0.231, 1e-3));
  CHECK_THAT(widths_of(Rows{row("a", 1), row("b", 1)}, all).discrepancy, WithinAbs(1, 1e-12));
}

// EFA's two sites are off by 10 %, and AMD's one by a factor of e: EFA takes the larger of its own
// and NCCL's, and AMD's keeps its own.
TEST_CASE("how far RCCL is off widens no interval of NCCL", "[validate]") {
  Today today;
  for (const auto& [site, off, network] :
       {std::tuple{"a", 0.1, "EFA"}, {"b", 0.1, "EFA"}, {"c", 1., "AMD's GPUs, several nodes"}}) {
    TodayRow one = row(site, off);
    one.software = network;
    today.collectives.push_back(one);
  }
  const std::vector<WidthsFile> files = widths_files(today);
  CHECK_THAT(files[1].text, Contains("\ndiscrepancy,,10%,"));
  CHECK(files[5].name == "stack-nccl-rccl.csv");
  CHECK_THAT(files[5].text, Contains("\ndiscrepancy,,100%,"));
}

TEST_CASE("each kind of network has a file, which says what its widths hold", "[validate]") {
  Today today;
  for (const auto& [site, off] : {std::pair{"a", -0.1}, {"b", 0.1}, {"c", 0.1}})
    for (const char* network : {"TCP", "Slingshot through libfabric", "EFA", "one node, others"})
      for (const bool small : {false, true}) {
        TodayRow one = row(site, small ? 3 * off : off, 2, small ? 1024 : 1 << 20);
        one.software = network;
        today.collectives.push_back(one);
      }
  const std::vector<WidthsFile> files = widths_files(today);
  REQUIRE(files.size() == 7);
  CHECK(files[0].name == "stack-nccl.csv");
  CHECK(files[1].name == "stack-nccl-efa.csv");
  CHECK(files[4].name == "stack-nccl-tcp.csv");
  CHECK_THAT(files[4].text, Contains("hold 3 of 3 rows of 3 sites from 1 MiB (100 %;"));
  CHECK_THAT(files[4].text, Contains("and 3 of 3 rows of 3 sites below (100 %;"));
  CHECK_THAT(files[4].text, Contains("\ndiscrepancy,,10%,"));
  CHECK_THAT(files[4].text, Contains("\nscatter,,0%,"));
  CHECK_THAT(files[4].text, Contains("\nsmall_discrepancy,,30%,"));
}

}  // namespace
}  // namespace gradcast
