#include "sim/engine/replicas.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "tests/sim/engine/every_engine.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

const Engine& analytic() { return *find_engine("analytic"); }

Scenario toy_of(int ranks) {
  Scenario scenario = toy::scenario();
  scenario.cluster.nodes = ranks;
  return scenario;
}

std::vector<Seconds> seconds(const std::vector<double>& times) {
  std::vector<Seconds> all;
  for (const double time : times) all.emplace_back(time);
  return all;
}

/// E[max] of so many lognormal factors of mean 1: the integral of 1 - F(x)^n.
double expected_maximum(double deviation, int n) {
  const double sigma = std::sqrt(std::log1p(deviation * deviation));
  const auto above = [&](double x) {
    const double z = (std::log(x) + sigma * sigma / 2) / sigma;
    return 1 - std::pow(std::erfc(-z / std::sqrt(2)) / 2, n);
  };
  constexpr double kStep = 1e-4;
  double integral = 0;
  for (double x = kStep / 2; x < 1 + 20 * deviation; x += kStep) integral += kStep * above(x);
  return integral;
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

TEST_CASE("ranks whose speeds are drawn have a slowest one already", "[replicas]") {
  Scenario scenario = toy_of(4);
  scenario.cluster.rank_spread = 0.1;
  const Noise jitter{.compute = 0.1, .seed = 5};
  CHECK(make_plan(replica_of(scenario, jitter, 3)).rank_speeds ==
        make_plan(replica_of(toy_of(4), jitter, 3)).rank_speeds);
  // Noise of the network alone draws none.
  CHECK(make_plan(replica_of(scenario, {.network = 0.1, .seed = 5}, 3)).rank_speeds ==
        make_plan(scenario).rank_speeds);
}

TEST_CASE("a replica is the same whichever others are run", "[replicas]") {
  const Scenario scenario = toy_of(4);
  const Noise noise{.compute = 0.1, .network = 0.2, .seed = 5};
  const Scenario third = replica_of(scenario, noise, 3);
  replica_of(scenario, noise, 2);
  run_replicas(scenario, make_plan(scenario), analytic(), noise, 3);
  const Scenario again = replica_of(scenario, noise, 3);
  CHECK(again.rank_speeds == third.rank_speeds);
  CHECK(again.cluster.nic_slowness == third.cluster.nic_slowness);
  CHECK(again.seed == third.seed);
  // Nor does it matter what else is drawn, or for how many.
  CHECK(replica_of(scenario, {.compute = 0.1, .seed = 5}, 3).rank_speeds == third.rank_speeds);
  CHECK(replica_of(scenario, {.network = 0.2, .seed = 5}, 3).cluster.nic_slowness ==
        third.cluster.nic_slowness);
  const std::vector<double> of_eight = replica_of(toy_of(8), noise, 3).rank_speeds;
  CHECK(std::equal(third.rank_speeds.begin(), third.rank_speeds.end(), of_eight.begin()));
  // Another replica or seed is another draw.
  CHECK(replica_of(scenario, noise, 4).rank_speeds != third.rank_speeds);
  CHECK(replica_of(scenario, {0.1, 0.2, 6}, 3).rank_speeds != third.rank_speeds);
}

TEST_CASE("no replica of one seed draws the counts of another seed", "[replicas]") {
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (int replica = 0; replica < 20; ++replica) {
      Scenario scenario = toy_of(2);
      scenario.seed = seed;
      seeds.push_back(replica_of(scenario, {}, replica).seed);
      if (replica == 0) CHECK(seeds.back() == seed);  // the first is the run without replicas
    }
  std::sort(seeds.begin(), seeds.end());
  CHECK(std::adjacent_find(seeds.begin(), seeds.end()) == seeds.end());
}

TEST_CASE("the same replicas twice give the same bits", "[replicas]") {
  const Noise noise{.compute = 0.1, .network = 0.1, .seed = 2};
  for (const Engine* engine : toy::engines_for(toy_of(3))) {
    CAPTURE(engine->name);
    const Replicated once = run_replicas(toy_of(3), make_plan(toy_of(3)), *engine, noise, 3);
    const Replicated twice = run_replicas(toy_of(3), make_plan(toy_of(3)), *engine, noise, 3);
    CHECK(same_bits(once.mean.iteration.count(), twice.mean.iteration.count()));
    CHECK(same_bits(once.mean.wait.count(), twice.mean.wait.count()));
    CHECK(same_bits(once.spread.high.count(), twice.spread.high.count()));
  }
}

TEST_CASE("without noise all replicas are the run", "[replicas]") {
  const Replicated all = run_replicas(toy_of(2), make_plan(toy_of(2)), analytic(), {}, 3);
  CHECK(all.mean.iteration.count() == Approx(43e-3).epsilon(1e-12));
  CHECK((all.spread.high - all.spread.low).count() == Approx(0).margin(1e-15));
  CHECK(all.spread.replicas == 3);
  CHECK(all.spread.lost == 0);
}

TEST_CASE("the parts of the mean add up to the mean", "[replicas]") {
  Scenario scenario = toy::scenario("topk");
  scenario.fusion = parse_fusion("layer");
  scenario.overlap = true;
  scenario.encode_stream = EncodeStream::Side;
  for (const Engine* engine : toy::engines_for(scenario)) {
    CAPTURE(engine->name);
    const IterationResult r =
        run_replicas(scenario, make_plan(scenario), *engine, {0.3, 0.3, 1}, 5).mean;
    const Seconds parts = r.forward + r.backward + r.encode + r.exposed_communication + r.decode +
                          r.update + r.overhead + r.wait;
    CHECK(parts.count() == Approx(r.iteration.count()).epsilon(1e-12));
  }
}

// 8 ranks, merged and without overlap: all wait for the slowest, which takes 18 ms of forward and
// backward, the collective 2 x 7/8 x 24 = 42 ms, and the slowest again 1 ms of update. So the mean
// is 42 + 19 E[max of 8]. A 95 % interval holds it in 19 of 20 cases; fewer than 16 of 20 seeds
// would be chance once in 390 times.
TEST_CASE("an iteration that waits for the slowest has the mean of the slowest", "[replicas]") {
  const double expected = 42e-3 + 19e-3 * expected_maximum(0.2, 8);
  CHECK(expected_maximum(0.2, 1) == Approx(1).epsilon(1e-6));
  int held = 0;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Spread spread = run_replicas(toy_of(8), make_plan(toy_of(8)), analytic(),
                                       {.compute = 0.2, .seed = seed}, 40)
                              .spread;
    if (spread.low.count() <= expected && expected <= spread.high.count()) ++held;
    sum += spread.mean.count() / 20;
  }
  CHECK(held >= 16);
  // 800 draws of 19 ms times a maximum whose deviation is below 0.2: four standard errors.
  CHECK(sum == Approx(expected).margin(4 * 19e-3 * 0.2 / std::sqrt(800)));
}

// The slowest of 4 NICs carries 24 kB x 2 x 3/4: 36 ms times E[max of 4]; computing is 19.
TEST_CASE("a ring waits for the slowest NIC", "[replicas]") {
  const double expected = 19e-3 + 36e-3 * expected_maximum(0.2, 4);
  const Spread spread =
      run_replicas(toy_of(4), make_plan(toy_of(4)), analytic(), {.network = 0.2, .seed = 1}, 400)
          .spread;
  CHECK(spread.mean.count() == Approx(expected).margin(4 * 36e-3 * 0.2 / 20));
}

// mean +- t s / sqrt(n), with t of n - 1 degrees of freedom at 97.5 %, from tables.
TEST_CASE("the interval of a mean is Student's", "[replicas]") {
  struct Row {
    int degrees;
    double t;
  };
  for (const Row& row : {Row{1, 12.7062},
                         {2, 4.30265},
                         {3, 3.182446},
                         {4, 2.776445},
                         {5, 2.570582},
                         {6, 2.446912},
                         {7, 2.364624},
                         {8, 2.306004},
                         {9, 2.262157},
                         {10, 2.228139},
                         {29, 2.045230},
                         {99, 1.984217}}) {
    std::vector<double> times;
    double mean = 0;
    for (int i = 0; i <= row.degrees; ++i) times.push_back(10 + i % 2 + 0.1 * i);
    const auto n = static_cast<double>(times.size());
    for (const double time : times) mean += time / n;
    double squares = 0;
    for (const double time : times) squares += (time - mean) * (time - mean);
    const Spread spread = spread_of(seconds(times), 0);
    CAPTURE(row.degrees);
    CHECK(spread.mean.count() == Approx(mean));
    const double half = row.t * std::sqrt(squares / (n - 1) / n);
    CHECK((spread.high - spread.mean).count() == Approx(half).epsilon(2e-3));
    CHECK((spread.mean - spread.low).count() == Approx(half).epsilon(2e-3));
  }
}

TEST_CASE("quantiles are of the nearest rank", "[replicas]") {
  std::vector<double> times;
  for (int i = 100; i >= 1; --i) times.push_back(i);
  const Spread of_hundred = spread_of(seconds(times), 3);
  CHECK(of_hundred.p05 == 5s);
  CHECK(of_hundred.median == 50s);
  CHECK(of_hundred.p95 == 95s);
  CHECK(of_hundred.replicas == 103);
  CHECK(of_hundred.lost == 3);
  const Spread of_one = spread_of({7s}, 0);
  CHECK(of_one.p05 == 7s);
  CHECK(of_one.p95 == 7s);
  CHECK(of_one.low == 7s);
  CHECK(of_one.high == 7s);
  CHECK(spread_of({}, 2).lost == 2);
}

// Rank 0 pauses for ever from 45 ms on: replicas that are through by then have a time.
TEST_CASE("replicas that never end are counted and do not enter the mean", "[replicas]") {
  Scenario scenario = toy_of(2);
  scenario.world.ranks.push_back({0, {45ms, {}}, 0});
  const Replicated some =
      run_replicas(scenario, make_plan(scenario), analytic(), {.compute = 0.2, .seed = 1}, 40);
  CHECK(some.spread.lost > 0);
  CHECK(some.spread.lost < 40);
  CHECK(some.mean.lost.empty());
  CHECK(some.mean.iteration.count() == Approx(some.spread.mean.count()).epsilon(1e-12));
  scenario.world.ranks[0].period.at = 0ms;
  const Replicated none =
      run_replicas(scenario, make_plan(scenario), analytic(), {.compute = 0.2, .seed = 1}, 4);
  CHECK(none.spread.lost == 4);
  CHECK_THAT(none.mean.lost, Catch::Contains("rank 0 pauses for ever"));
  CHECK(none.mean.iteration == 0s);
}
