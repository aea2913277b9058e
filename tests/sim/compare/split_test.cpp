#include "sim/compare/split.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/compare/compared.hpp"

using namespace gradcast;

namespace {

/// 10 s measured, 8 s forecast: 1 + 2 + 0.5 computed, 1.5 + 0.25 encoded and decoded, 2 of 3 s of
/// communication exposed, 0.75 of overhead and waiting.
ComparedRun run() {
  ComparedRun run = compared("topk", 10, 8);
  run.forecast.forward = Seconds{1};
  run.forecast.backward = Seconds{2};
  run.forecast.update = Seconds{0.5};
  run.forecast.encode = Seconds{1.5};
  run.forecast.decode = Seconds{0.25};
  run.forecast.communication = Seconds{3};
  run.forecast.exposed_communication = Seconds{2};
  run.forecast.overhead = Seconds{0.5};
  run.forecast.wait = Seconds{0.25};
  return run;
}

}  // namespace

TEST_CASE("the parts add up to what was measured", "[comparison]") {
  Seconds sum{0};
  std::vector<double> times;
  for (const SplitPart& part : split_of(run())) {
    times.push_back(part.time.count());
    if (part.counted) sum += part.time;
  }
  CHECK(times == std::vector<double>{3.5, 1.75, 2, 1, 0.75, 2});
  CHECK(sum.count() == Approx(10));
}

// Encoding was measured to take 2 s and is forecast to take 1.5: -25 %. Communication 2.4 s, of
// which the forecast has 3, hidden or not: +25 %.
TEST_CASE("parts that were measured have errors of their own", "[comparison]") {
  ComparedRun measured = run();
  CHECK(measured_parts_of(measured).empty());
  measured.run.measured_encode = Seconds{2};
  measured.run.measured_communication = Seconds{2.4};
  const auto parts = measured_parts_of(measured);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].name == "encode");
  CHECK(*parts[0].error_percent() == Approx(-25));
  CHECK(parts[1].name == "communication");
  CHECK(*parts[1].error_percent() == Approx(25));
  measured.run.measured_encode = Seconds{0};
  CHECK_FALSE(measured_parts_of(measured)[0].error_percent());
}
