#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/command.hpp"
#include "sim/engine.hpp"
#include "tests/run_program.hpp"

using Catch::Contains;

TEST_CASE("every command tells its flags, examples first", "[cli]") {
  for (const gradcast::Command& command : gradcast::all_commands()) {
    const std::string name(command.name);
    const Ran ran = gradcast_runs(name.c_str(), "--help");
    CAPTURE(name);
    CHECK(ran.exit_code == 0);
    CHECK(ran.err.empty());
    CHECK(ran.out.find("Examples:") < ran.out.find("--format"));
    CHECK(gradcast_runs("help", name.c_str()).out == ran.out);
    CHECK_THAT(gradcast_runs("--help").out,
               Contains(name) && Contains(std::string(command.summary)));
  }
}

TEST_CASE("the version is one line", "[cli]") {
  const Ran ran = gradcast_runs("--version");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::Matches("gradcast [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_CASE("list shows what there is, and nothing is broken", "[cli]") {
  const Ran ran = gradcast_runs("list");
  CHECK(ran.exit_code == 0);
  for (const char* name :
       {"resnet-50", "iteration-vgg-16-v100", "cost-v100-pytorch-1.1", "measured-shi2019-table2",
        "10gbe-4x4", "gaussian", "ring-all-reduce", "simgrid", "analytic"})
    CHECK_THAT(ran.out, Contains(name));
  CHECK_THAT(ran.out, !Contains("BROKEN"));
  CHECK_THAT(ran.out, Contains("held-out error of interpolation: median "));
  const auto document = nlohmann::json::parse(gradcast_runs("list", "--format", "json").out);
  CHECK(document["results"].size() > 20);
}

TEST_CASE("an engine that is not in this build is answered with 5, and its need", "[cli]") {
  if (gradcast::find_engine("simgrid")->built()) return;
  const Ran ran = gradcast_runs("simulate", "--model", "alexnet", "--engine", "simgrid");
  CHECK(ran.exit_code == 5);
  CHECK_THAT(ran.err, Contains("libsimgrid-dev"));
  const Ran fallback = gradcast_runs("simulate", "--model", "alexnet");
  CHECK(fallback.exit_code == 0);
  CHECK_THAT(fallback.err, Contains("'simgrid' is not in this build"));
  CHECK(gradcast_runs("simulate", "--model", "alexnet", "-q").err.empty());
}
