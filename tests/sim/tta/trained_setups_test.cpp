#include "sim/tta/trained_setups.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/tta/tta_asked.hpp"
#include "tests/sim/tta/trainings.hpp"

using namespace gradcast;
using Catch::Contains;

TEST_CASE("trainings that differ in their seed alone are one setup, and dense comes first",
          "[tta]") {
  const TrainedSetups setups = trained_setups({invented_training("topk", 2, {{10, 50}}),
                                               invented_training("dense", 1, {{10, 60}}),
                                               invented_training("topk", 1, {{10, 55}})});
  REQUIRE(setups.all.size() == 2);
  CHECK(setups.dense() == &setups.all[0]);
  CHECK(setups.all[1].seeds.size() == 2);
  CHECK(setups.all[1].seeds[0].seed == 1);
  CHECK(setups.name(setups.all[1]) == "topk");
}

TEST_CASE("the density is part of a name only where there are two", "[tta]") {
  TrainingRun denser = invented_training("topk", 1, {{10, 50}});
  denser.setup.density = 0.01;
  const TrainedSetups setups = trained_setups({invented_training("topk", 1, {{10, 50}}), denser});
  CHECK(setups.dense() == nullptr);
  CHECK(setups.name(setups.all[1]) == "topk at 0.01");
}

TEST_CASE("trainings with other settings are setups of their own, named by what differs", "[tta]") {
  TrainingRun usual = invented_training("topk", 1, {{10, 50}});
  usual.setup.settings = "momentum 0.9, feedback true";
  TrainingRun without = usual;
  without.setup.settings = "momentum 0.9, feedback false";
  const TrainedSetups setups = trained_setups({usual, without});
  REQUIRE(setups.all.size() == 2);
  CHECK(setups.name(setups.all[0]) == "topk with feedback true");
  CHECK(setups.name(setups.all[1]) == "topk with feedback false");
}

TEST_CASE("trainings that cannot be compared, and one that comes twice, are refused", "[tta]") {
  const TrainingRun one = invented_training("dense", 1, {{10, 50}});
  CHECK_THROWS_WITH(trained_setups({one, one}), Contains("is the same training as in dense.json"));
  TrainingRun other = invented_training("topk", 1, {{10, 50}});
  other.setup.workers = 8;
  CHECK_THROWS_WITH(trained_setups({one, other}),
                    Contains("topk.json") && Contains("workers '8' differs from '16'"));
}

// PowerSGD sends 3,188 numbers of 199,210: no share of anything that a density asked for.
TEST_CASE("what selects no elements has no share of them", "[tta]") {
  TrainingRun run = invented_training("powersgd", 1, {{10, 50}});
  run.sent_elements = 3'188;
  run.parameters = 199'210;
  CHECK(!trained_setups({run}).all[0].sent_share());
}

// 57 of 0.001 x 190,000 = 190 elements: 0.3. With 190,900 elements k is 190 too, as it is
// truncated.
TEST_CASE("what was sent is a share of what the density asks for", "[tta]") {
  TrainingRun run = invented_training("gaussian", 1, {{10, 50}});
  run.sent_elements = 57;
  CHECK(!trained_setups({run}).all[0].sent_share());
  run.parameters = 190'000;
  CHECK(*trained_setups({run}).all[0].sent_share() == Approx(0.3));
  run.parameters = 190'900;
  CHECK(*trained_setups({run}).all[0].sent_share() == Approx(0.3));
}

TEST_CASE("targets are percent, or points below the best of dense", "[tta]") {
  // Dense's best: 87.1 and 86.1, of which the median is 86.6.
  const TrainedSetups setups =
      trained_setups({invented_training("dense", 1, {{10, 87.1}, {20, 87}}),
                      invented_training("dense", 2, {{10, 80}, {20, 86.1}}),
                      invented_training("topk", 1, {{10, 99}})});
  CHECK(percent_of(parse_targets("85,best-1,80"), setups) == std::vector<double>{80, 85, 85.6});
  CHECK(percent_of(parse_targets("best"), setups) == std::vector<double>{86.6});
  for (const char* wrong : {"", "best+1", "101", "0", "-3", "good", "best-"})
    CHECK_THROWS_AS(parse_targets(wrong), ValueError);
  CHECK_THROWS_WITH(percent_of(parse_targets("best-90"), setups), Contains("is not above 0"));
}
