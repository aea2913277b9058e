#include "sim/tta/time_to_accuracy.hpp"

#include <catch2/catch.hpp>

#include "sim/tta/tta_sentences.hpp"
#include "tests/sim/tta/trainings.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// A forecast of so many seconds whose deviation is a share of it, on a fitted cluster.
TimedSetup taking(double seconds, double share) {
  TimedSetup timed;
  timed.physics.evaluation.result.iteration = Seconds{seconds};
  timed.physics.evaluation.doubt.deviations = ForecastDeviations{Seconds{seconds * share}};
  timed.physics.evaluation.interval = interval_of(Seconds{seconds}, timed.physics.evaluation.doubt);
  return timed;
}

TrainedSetups both(const std::vector<int>& dense, const std::vector<int>& topk) {
  return {{invented_setup("dense", dense), invented_setup("topk", topk)}};
}

TimeToAccuracy topk_of(const TrainedSetups& setups, const TimedSetup& dense, const TimedSetup& topk,
                       double target = 85) {
  return times_to_accuracy(setups, {dense, topk}, {target}).at(1);
}

}  // namespace

// 500 iterations of 0.6 s: 300 s; dense 200 of 1 s. 2.5 x 0.6 = 1.5; it would need 1 / 2.5.
TEST_CASE("an iteration may pay while the training does not", "[tta]") {
  const TrainedSetups setups = both({200, 200, 200}, {500, 500, 500});
  TimeToAccuracy one = topk_of(setups, taking(1, 0.01), taking(0.6, 0.01));
  CHECK(one.time->count() == Approx(300));
  const AgainstDense& against = *one.against_dense;
  CHECK(against.iterations->value == Approx(2.5));
  CHECK(against.iteration_time.value == Approx(0.6));
  CHECK(against.time->value == Approx(1.5));
  CHECK(*against.needed_iteration_ratio == Approx(0.4));
  CHECK(against.by_iteration == Pays::Yes);
  // Tests were at half the iterations: 1.25 to 5 times as many, so 0.75 to 3 times the time.
  CHECK(against.by_time == Pays::CannotBeTold);
  const std::string said = compressor_sentence(one, "topk");
  CHECK_THAT(said, Contains("topk reached 85 % after 500 iterations in 3 of 3 trainings: 5 min"));
  CHECK_THAT(said, Contains("Its iteration takes 0.6 of dense's") &&
                       Contains("but it needs 2.5 times as many iterations") &&
                       Contains("1.5 times dense's time to 85 %") &&
                       Contains("By iteration time it surely pays, but by time to accuracy it "
                                "cannot be told."));
}

TEST_CASE("where the intervals leave no doubt, both verdicts are said", "[tta]") {
  const TimeToAccuracy slow =
      topk_of(both({200, 200, 200}, {2000, 2000, 2000}), taking(1, 0.01), taking(0.6, 0.01));
  CHECK(slow.against_dense->by_time == Pays::No);  // 10 / 2 x 0.6 = 3 at the least
  CHECK_THAT(
      compressor_sentence(slow, "topk"),
      Contains(
          "By iteration time it surely pays, but by time to accuracy it surely does not pay. It "
          "needs an iteration of less than 0.1 of dense's to pay."));
  const TimeToAccuracy fast =
      topk_of(both({200, 200, 200}, {200, 200, 200}), taking(1, 0.01), taking(0.1, 0.01));
  CHECK(fast.against_dense->by_time == Pays::Yes);  // 1 x 2 x 0.1 = 0.2 at the most
}

// 300 iterations (150 to 300, as tests were at the half) times 2 s -+ 1.645 x 10 %.
TEST_CASE("the interval multiplies the ends of both", "[tta]") {
  const TimeToAccuracy one =
      times_to_accuracy({{invented_setup("dense", {300, 300})}}, {taking(2, 0.1)}, {85}).at(0);
  REQUIRE(one.interval);
  CHECK(one.interval->low.count() == Approx(150 * (2 - 0.3290)).epsilon(1e-3));
  CHECK(one.interval->high.count() == Approx(300 * (2 + 0.3290)).epsilon(1e-3));
  CHECK(!one.against_dense);
}

TEST_CASE("one training each gives a ratio, and no verdict", "[tta]") {
  const TimeToAccuracy one = topk_of(both({200}, {500}), taking(1, 0.01), taking(0.6, 0.01));
  CHECK(one.against_dense->time->value == Approx(1.5));
  CHECK(one.against_dense->by_time == Pays::CannotBeTold);
  CHECK_THAT(compressor_sentence(one, "topk"), Contains("One training each tells no spread"));
}

TEST_CASE("a target that was not reached gives a bound, and a verdict where that is enough",
          "[tta]") {
  TrainedSetups setups = both({200, 200}, {500});
  setups.all[1] = trained_setups({invented_training("topk", 1, {{1000, 70}}),
                                  invented_training("topk", 2, {{900, 70}})})
                      .all[0];
  const TimeToAccuracy long_since = topk_of(setups, taking(1, 0.01), taking(0.6, 0.01));
  CHECK(!long_since.time);
  CHECK(long_since.at_least->count() == Approx(900 * 0.6));
  CHECK(long_since.against_dense->by_time == Pays::No);  // 900 / 200 x 0.6 = 2.7
  CHECK_THAT(compressor_sentence(long_since, "topk"),
             Contains("did not reach 85 % in 900 iterations: at least 9 min") &&
                 Contains("at least 4.5 times as many iterations"));
  const TimeToAccuracy open = topk_of(setups, taking(1, 0.01), taking(0.1, 0.01));
  CHECK(open.against_dense->by_time == Pays::CannotBeTold);  // 0.45 at the least
}

TEST_CASE("without dense at the target there is no ratio", "[tta]") {
  TrainedSetups setups = both({200}, {500});
  setups.all[0] = trained_setups({invented_training("dense", 1, {{1000, 70}})}).all[0];
  const TimeToAccuracy one = topk_of(setups, taking(1, 0.01), taking(0.6, 0.01));
  CHECK(!one.against_dense->time);
  CHECK_THAT(compressor_sentence(one, "topk"), Contains("no ratio is known"));
}

TEST_CASE("times are said as people say them", "[tta]") {
  CHECK(duration_text(Seconds{0.0123}) == "12.3 ms");
  CHECK(duration_text(Seconds{12.34}) == "12.3 s");
  CHECK(duration_text(Seconds{600}) == "10 min");
  CHECK(duration_text(Seconds{36000}) == "10 h");
}
