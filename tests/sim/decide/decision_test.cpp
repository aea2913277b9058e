#include "sim/decide/decision.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;

namespace {

Evaluation forecast(double seconds, int ranks, int batch, double uncertain = 0) {
  Evaluation made;
  made.result.iteration = Seconds{seconds};
  made.ranks = ranks;
  made.batch = batch;
  made.doubt.deviations = ForecastDeviations{Seconds{uncertain}};
  return made;
}

DecideAsked asked_for(const std::string& model, const std::string& cluster) {
  DecideAsked asked;
  asked.request.model = model;
  asked.request.cluster = cluster;
  asked.request.costs.clear();
  asked.request.today = true;
  asked.compressors = {"fp16", "topk"};
  return asked;
}

const WeighedOption* find(const Decision& decision, const std::string& flag) {
  for (const WeighedOption& each : decision.ranked)
    for (const auto& [name, value] : each.option.flags)
      if (name == flag) return &each;
  return nullptr;
}

}  // namespace

// 16 GPUs with 32 samples each in 1 s, against 8 GPUs with 32 in 0.8 s: 512 and 320 samples/s, so
// 1.6 times as fast. A sample takes 16/512 and 8/320 GPU seconds: 1.25 times as much.
TEST_CASE("options are compared by samples, not by iterations", "[decide]") {
  const WeighedOption weighed = weigh({}, forecast(1, 16, 32), forecast(0.8, 8, 32), true);
  CHECK(weighed.speedup == Approx(1.6));
  CHECK(weighed.gpu_time_ratio == Approx(1.25));
  REQUIRE(weighed.interval);
  CHECK(weighed.interval->low == Approx(1.6));
  CHECK(weighed.interval->high == Approx(1.6));
  CHECK(weighed.verdict.pays == Pays::Yes);
}

TEST_CASE("twice the batch in twice the time gains nothing", "[decide]") {
  const WeighedOption weighed = weigh({}, forecast(2, 8, 64), forecast(1, 8, 32), true);
  CHECK(weighed.speedup == Approx(1));
  CHECK(weighed.verdict.pays == Pays::No);  // the interval is 1 to 1: less than 1 %
}

// The interval of 1.25 is about 1.25 +- 1.645 x 1.25 x sqrt(2) x the deviation's share.
TEST_CASE("the verdict follows the interval", "[decide]") {
  const auto pays = [](double its, double deviation, bool costs_known = true) {
    return weigh({}, forecast(its, 8, 32, deviation), forecast(1, 8, 32, deviation), costs_known)
        .verdict;
  };
  CHECK(pays(0.8, 0.01).pays == Pays::Yes);
  CHECK(pays(1.25, 0.01).pays == Pays::No);
  CHECK(pays(0.8, 0.2).pays == Pays::CannotBeTold);
  CHECK(pays(0.8, 0.2).measure != "");
  CHECK(pays(0.8, 0.01, false).pays == Pays::CannotBeTold);  // software that nobody measured
  CHECK(pays(1.25, 0.01, false).pays == Pays::No);
  CHECK(pays(0.995, 0.0001).pays == Pays::No);  // 1.005 times as fast: nobody would bother
}

TEST_CASE("a faster network must gain 5 % to be worth its price", "[decide]") {
  Option network;
  network.change = Change::Network;
  const auto pays = [&](double its) {
    return weigh(network, forecast(its, 8, 32, 0.0001), forecast(1, 8, 32, 0.0001), true)
        .verdict.pays;
  };
  CHECK(pays(1 / 1.04) == Pays::No);
  CHECK(pays(1 / 1.06) == Pays::Yes);
}

// 1.25 times as fast, give or take 40 %: a faster network is not slower, another change may be.
TEST_CASE("a faster network makes nothing slower, however little is known of it", "[decide]") {
  const auto low = [&](Change change) {
    Option option;
    option.change = change;
    return weigh(option, forecast(0.8, 8, 32, 0.2), forecast(1, 8, 32, 0.2), true).interval->low;
  };
  CHECK(low(Change::Network) == 1);
  CHECK(low(Change::Schedule) < 1);
}

TEST_CASE("the fastest option comes first, and equal ones keep their order", "[decide]") {
  std::vector<WeighedOption> options(4);
  const double speedups[] = {1.0, 1.2, 1.0, 0.8};
  for (std::size_t i = 0; i < options.size(); ++i) {
    options[i].speedup = speedups[i];
    options[i].option.name = std::to_string(i);
  }
  rank(options);
  std::string order;
  for (const WeighedOption& each : options) order += each.option.name;
  CHECK(order == "1023");
}

// 8 GPUs take 0.5 s for 8 x 100 samples: 1600 samples/s. An epoch of 5,760,000 takes an hour, which
// is 8 GPU hours.
TEST_CASE("an epoch costs its GPU hours times their price", "[decide]") {
  CHECK(epoch_hours(forecast(0.5, 8, 100), 5'760'000) == Approx(8));
  CHECK(epoch_cost(forecast(0.5, 8, 100), 5'760'000, 2.5) == Approx(20));
}

TEST_CASE("compute, exposed communication and the rest add up to the iteration", "[decide]") {
  Evaluation today = forecast(1, 8, 32);
  today.compute = Seconds{0.7};
  today.result.exposed_communication = Seconds{0.2};
  const Shares shares = shares_of(today);
  CHECK(shares.compute == Approx(0.7));
  CHECK(shares.communication == Approx(0.2));
  CHECK(shares.software == Approx(0.1));
  Decision decision;
  decision.forecast = today;
  CHECK(bound_of(decision) == Bound::Compute);
  decision.forecast.result.exposed_communication = Seconds{0.8};
  CHECK(bound_of(decision) == Bound::Communication);
  decision.forecast.compute = decision.forecast.result.exposed_communication = Seconds{0.1};
  CHECK(bound_of(decision) == Bound::Software);
  decision.memory.parameters = Bytes{100};
  decision.usable = Bytes{99};
  CHECK(bound_of(decision) == Bound::Memory);
  decision.usable = Bytes{100};
  CHECK(bound_of(decision) == Bound::Software);
}

// On 1 Gbit/s communication binds, and twice the bandwidth nearly halves it.
TEST_CASE("on a slow network, twice the bandwidth surely pays", "[decide]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const Decision decision = decide(asked_for("vgg-16", "1gbe"), *find_engine("analytic"), files);
  CHECK(bound_of(decision) == Bound::Communication);
  const WeighedOption* network = find(decision, "nic-bandwidth");
  REQUIRE(network != nullptr);
  CHECK(network->speedup > 1.5);
  CHECK(network->verdict.pays == Pays::Yes);
  for (std::size_t i = 1; i < decision.ranked.size(); ++i)
    CHECK(decision.ranked[i - 1].speedup >= decision.ranked[i].speedup);
  for (const WeighedOption& each : decision.ranked) {
    REQUIRE(each.interval);
    CHECK(each.interval->low <= each.speedup);
    CHECK(each.interval->high >= each.speedup);
  }
}

TEST_CASE("threads change nothing", "[decide]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  DecideAsked asked = asked_for("resnet-50", "10gbe");
  const Decision one = decide(asked, *find_engine("analytic"), files);
  asked.jobs = 4;
  const Decision four = decide(asked, *find_engine("analytic"), files);
  REQUIRE(one.ranked.size() == four.ranked.size());
  for (std::size_t i = 0; i < one.ranked.size(); ++i) {
    CHECK(one.ranked[i].option.name == four.ranked[i].option.name);
    CHECK(one.ranked[i].speedup == four.ranked[i].speedup);
  }
}

TEST_CASE("the GPU's memory is that of the cluster's usual GPU, or as asked", "[decide]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  DecideAsked asked = asked_for("gpt2-small", "dgx-a100");
  asked.compressors.clear();
  const Decision usual = decide(asked, *find_engine("analytic"), files);
  CHECK(usual.gpu == "a100-80gb");
  CHECK(usual.gpu_memory == Bytes{80'000'000'000});
  asked.gpu_memory = Bytes{1'000'000'000};
  const Decision small = decide(asked, *find_engine("analytic"), files);
  CHECK(small.gpu.empty());
  CHECK(bound_of(small) == Bound::Memory);
}

TEST_CASE("a run that has no forecast is refused in the words of simulate", "[decide]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  CHECK_THROWS_AS(decide(asked_for("resnet-5", "10gbe"), *find_engine("analytic"), files),
                  ValueError);
}
