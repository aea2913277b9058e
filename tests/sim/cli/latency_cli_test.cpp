#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/run_program.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

Json simulated(const char* fusion, const char* overlap, const char* nodes) {
  const Ran ran = gradcast_runs("simulate", "--model", "resnet-50", "--fusion", fusion, "--overlap",
                                overlap, "--nodes", nodes, "--gpus-per-node", "4", "--engine",
                                "analytic", "--format", "json");
  CAPTURE(ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out)["results"][0];
}

}  // namespace

TEST_CASE("a layer-wise forecast is least sure of its latencies, and says by how much", "[cli]") {
  const auto check = [](const Json& result) {
    CHECK_THAT(result["least_sure_of"].get<std::string>(), Catch::StartsWith("latency (-") &&
                                                               Contains(" % if half, +") &&
                                                               Contains(" % if twice)"));
    CHECK(result["half_latency_seconds"] < result["iteration_seconds"]);
    CHECK(result["iteration_seconds"] < result["twice_latency_seconds"]);
  };
  for (const char* nodes : {"2", "4", "8"}) check(simulated("layer", "no", nodes));
  check(simulated("layer", "yes", "8"));
}

TEST_CASE("a forecast is sure of latencies that it hides or has few of", "[cli]") {
  CHECK(simulated("layer", "yes", "2")["least_sure_of"] == "");
  CHECK(simulated("layer", "yes", "4")["least_sure_of"] == "");
  CHECK(simulated("merged", "no", "4")["least_sure_of"] == "");
}
