// The gain of a faster network or more nodes, by arithmetic.
#include "sim/sweep/upgrades.hpp"

#include <catch2/catch.hpp>

#include "sim/base/sha256.hpp"
#include "sim/sweep/rows.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// Dense runs of one model: `seconds` of 2 nodes at 10 and 25 Gb/s, then of 8 nodes.
struct Swept {
  DataFiles files{GRADCAST_SOURCE_DIR};
  SweepPlan plan;
  SweepTasks tasks;
  std::vector<Json> rows;
  Evaluations done;

  Swept() {
    const Engine& engine = *find_engine("analytic");
    plan.axes = {{"model", {"resnet-50"}},
                 {"nodes", {"2", "8"}},
                 {"nic-bandwidth", {"10Gbps", "25Gbps"}},
                 {"compressor", {"dense"}}};
    plan.engine = std::string(engine.name);
    plan.software = "none";
    plan.against = Against::Same;
    tasks = tasks_of(plan, engine, "", files);
    const double seconds[] = {1.0, 0.8, 2.0, 1.0};
    for (std::size_t i = 0; i < tasks.points.size(); ++i) {
      Evaluation forecast;
      forecast.result.iteration = Seconds{seconds[i]};
      forecast.ranks = tasks.points[i].cluster->ranks();
      forecast.batch = 32;
      forecast.compute = Seconds{0.5};
      done[tasks.tasks[tasks.points[i].tasks.schedules[0].own.physics].key] = forecast;
    }
    rows = sweep_rows(plan, tasks, done);
  }
};

}  // namespace

// On 8 nodes 25 Gb/s takes 1 s where 10 Gb/s takes 2 s: 2x. At 10 Gb/s four times the nodes take
// twice as long: 4 / 2 = 2x the samples a second.
TEST_CASE("networks are compared on the most nodes, nodes by the slowest network", "[sweep]") {
  if (sha256_hex("").empty()) return;  // a build without OpenSSL keeps no forecasts apart
  const Swept swept;
  const std::vector<Upgrade> upgrades = upgrades_of(swept.tasks, swept.rows, swept.done);
  REQUIRE(upgrades.size() == 2);
  CHECK(upgrades[0].network);
  CHECK(upgrades[0].from == "10Gbps");
  CHECK(upgrades[0].to == "25Gbps");
  CHECK(upgrades[0].workers == 32);
  CHECK(upgrades[0].gain == Approx(2));
  // Physics alone has no interval, so nothing is sure.
  REQUIRE(upgrades[0].verdict);
  CHECK(upgrades[0].verdict->pays == Pays::CannotBeTold);
  CHECK_FALSE(upgrades[1].network);
  CHECK(upgrades[1].from == "2");
  CHECK(upgrades[1].to == "8");
  CHECK(upgrades[1].gain == Approx(2));
  CHECK_FALSE(upgrades[1].verdict);
}

TEST_CASE("a sentence names the step, and the models by their verdict", "[sweep]") {
  Upgrade network{"resnet-50", true, "10Gbps", "25Gbps", 32, "25Gbps", 1.5};
  network.interval = RatioInterval{1.25, 1.75};
  network.verdict = Verdict{Pays::Yes, network.interval, ""};
  Upgrade other = network;
  other.model = "vgg-16";
  other.verdict = Verdict{Pays::CannotBeTold, network.interval, "a dense run"};
  Upgrade nodes{"resnet-50", false, "2", "8", 32, "10Gbps", 3.5};
  CHECK(upgrade_sentences({network, other, nodes}) ==
        std::vector<std::string>{
            "Without compression, 25Gbps instead of 10Gbps on 32 GPUs: surely pays for resnet-50 "
            "1.50x (90 %: 1.25x to 1.75x); cannot be told for vgg-16 1.50x: measure a dense run.",
            "Without compression, 8 nodes instead of 2 at 10Gbps, in samples a second: resnet-50 "
            "3.50x."});
  const Json row = upgrades_json({nodes}).at(0);
  CHECK(row.at("change") == "nodes");
  CHECK(row.at("verdict").is_null());
}
