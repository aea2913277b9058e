// The widths of intervals about collectives, from what forecasts leave of each log.
#include "sim/validate/widths.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace gradcast {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::WithinAbs;

/// A row of which the logarithm of measured over forecast is this.
TodayRow row(const std::string& source, double log_ratio, int nodes = 2) {
  return {"measured-nccl-tests", source, "TCP", "nccl", nodes, 8, 1024, std::exp(log_ratio), 1.0};
}

// Log a has 0.1 and 0.3, mean 0.2; log b has -0.4 alone. The discrepancy is sqrt((0.04 + 0.16) /
// 2); about their means lie 0.1, 0.1 and 0: sqrt(0.02 / 3).
TEST_CASE("a log's mean is its cluster's, and its rows scatter about it", "[validate]") {
  const Widths widths = widths_of(logs_of({row("a", 0.1), row("b", -0.4), row("a", 0.3)}));
  CHECK_THAT(widths.discrepancy, WithinAbs(std::sqrt(0.1), 1e-12));
  CHECK_THAT(widths.scatter, WithinAbs(std::sqrt(0.02 / 3), 1e-12));
}

TEST_CASE("a source on other nodes is another log", "[validate]") {
  CHECK(logs_of({row("a", 0, 2), row("a", 0, 4), row("b", 0, 2), row("a", 0, 2)}).size() == 3);
}

// Alone, 10 % of discrepancy and of scatter make about 14 %, and 90 % of Student's t by 5 degrees
// lies within two deviations.
TEST_CASE("an interval holds what lies within two deviations", "[validate]") {
  const Widths widths{0.1, 0.1};
  for (const double sign : {-1., 1.}) {
    CHECK(widths.hold(row("a", 0.2 * sign)));
    CHECK_FALSE(widths.hold(row("a", 0.4 * sign)));
  }
}

// a and b are off by 1 % and c by 70 %. The other logs do not know c's rows, and hold neither of
// them; c makes the interval about the rows of a and b wide.
TEST_CASE("a log's rows are held by the widths of the others", "[validate]") {
  const Logs logs = logs_of({row("a", 0.01), row("a", 0.02), row("b", -0.01), row("b", -0.02),
                             row("c", 0.5), row("c", 0.6)});
  CHECK(held_without_own_log(logs) == 4);
  CHECK(widths_of(logs).hold(logs[2][0]));
}

TEST_CASE("each kind of network has a file, which says what its widths hold", "[validate]") {
  Today today;
  for (const double off : {-0.1, 0.1})
    for (const char* network : {"TCP", "TCP past the host (A3 Mega)", "Slingshot through libfabric",
                                "EFA (p5.48xlarge)", "one node, others"}) {
      TodayRow one = row(off < 0 ? "a" : "b", off);
      one.software = network;
      today.collectives.push_back(one);
    }
  const std::vector<WidthsFile> files = widths_files(today);
  REQUIRE(files.size() == 3);
  CHECK(files[0].name == "stack-nccl.csv");
  CHECK(files[2].name == "stack-nccl-tcp.csv");
  CHECK_THAT(files[2].text, Contains("from 4 rows of 2 logs"));
  CHECK_THAT(files[2].text, Contains("hold 4 of the 4 rows (100 %)"));
  CHECK_THAT(files[2].text, Contains("\ndiscrepancy,,10%,"));
  CHECK_THAT(files[2].text, Contains("\nscatter,,0%,"));
}

}  // namespace
}  // namespace gradcast
