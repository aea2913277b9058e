// Intervals from software that differs.
#include "sim/forecast/software_spread.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <latch>
#include <thread>

#include "sim/base/random.hpp"
#include "sim/base/statistics.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/forecast/evaluation.hpp"
#include "sim/plan/stack_use.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

namespace {

/// 100 ms by physics, and a term of 10 ms.
SoftwareSpread spread(double deviation = 0.5) {
  SoftwareSpread made;
  made.physics = 0.1;
  made.forecast = 0.11;
  made.terms = {{"per_iteration_overhead", 0.01, deviation}};
  return made;
}

constexpr const char* kHeader = "property,value,deviation,source,compressor,seen\n";

Scenario on_stack(Scenario scenario, const std::string& rows) {
  scenario.stack =
      std::make_shared<const Stack>(load_stack({"platforms/stack-mine.csv", kHeader + rows}));
  apply_stack(scenario);
  return scenario;
}

}  // namespace

// A cost of 2 ms hides but for 1 ms of it up to 3 times its value; each further one adds 10 ms.
TEST_CASE("a cost that hides at its value adds more where it no longer hides", "[spread]") {
  SpreadTerm term{"encode_per_call of topk", 1e-3, 0.5};
  CHECK(term.at(5) == Approx(5e-3));
  term.beyond = 10e-3;
  term.bend = 3;
  CHECK(term.at(0.5) == Approx(0.5e-3));
  CHECK(term.at(3) == Approx(3e-3));
  CHECK(term.at(5) == Approx(3e-3 + 2 * 10e-3));
}

TEST_CASE("an interval ends where the term's own percentiles do", "[spread]") {
  const ForecastInterval interval = interval_of(spread());
  // The 95th percentile of Student's t of 5 degrees is 2.015: 10 ms x e^(0.5 x 2.015) = 27.4 ms.
  const double factor = std::exp(0.5 * t_quantile(0.95, kSpreadDegrees));
  CHECK(interval.low.count() == Approx(0.1 + 0.01 / factor).epsilon(0.01));
  CHECK(interval.high.count() == Approx(0.1 + 0.01 * factor).epsilon(0.01));
}

// 100 ms by physics, 10 ms of them a compressor's, which may take 0.7 to 3 times as long: 97 to
// 120.
TEST_CASE("costs that nobody measured widen an interval by their own ends", "[spread]") {
  const double reach = t_quantile(0.95, kSpreadDegrees);
  SoftwareSpread derived;
  derived.physics = derived.forecast = 0.1;
  SpreadTerm costs{"costs of topk", 0.01, std::log(3) / reach};
  costs.forecast = false;
  costs.of_physics = true;
  costs.deviation_below = -std::log(0.7) / reach;
  derived.terms = {costs};
  const ForecastInterval interval = interval_of(derived);
  CHECK(interval.low.count() == Approx(0.097).epsilon(0.002));
  CHECK(interval.high.count() == Approx(0.12).epsilon(0.005));
  // Nor is it sure that it beats what takes 105 ms without a compressor: 1.08 to 0.88 times.
  SoftwareSpread dense;
  dense.physics = dense.forecast = 0.105;
  const RatioInterval faster = speedup_interval(derived, dense);
  CHECK(faster.low == Approx(0.105 / 0.12).epsilon(0.005));
  CHECK(faster.high == Approx(0.105 / 0.097).epsilon(0.005));
}

// 100 ms for sure without a compressor; with one 90 ms, of which its kernels may take 10 ms more or
// less (one deviation): 90 % lie between 70 and 110 ms.
TEST_CASE("what a compressor's kernels may take is in its speedup over dense", "[spread]") {
  const double reach = t_quantile(0.95, kSpreadDegrees);
  SoftwareSpread dense;
  dense.physics = dense.forecast = 0.1;
  SoftwareSpread compressed;
  compressed.physics = compressed.forecast = 0.09;
  compressed.kind.compressor = "int8";
  compressed.own = compressed.kernels = 0.01;
  const RatioInterval faster = speedup_interval(compressed, dense);
  const ForecastInterval time = interval_of(compressed);
  CHECK(time.high.count() == Approx(0.09 + 0.01 * reach).epsilon(0.005));
  CHECK(faster.low == Approx(0.1 / time.high.count()).epsilon(0.005));
  CHECK(faster.high == Approx(0.1 / time.low.count()).epsilon(0.005));
  // Twice the network changes nothing of the kernels: that doubt cancels.
  SoftwareSpread other = compressed;
  other.physics = other.forecast = 0.12;
  CHECK(speedup_interval(compressed, other).low > 1.2);
}

// 90 of 100 ms were measured on one GPU. 10 ms of communication, off by e^(0.2 x 2.015)
// = 1.50: 96.7 to 105.
TEST_CASE("a cluster's discrepancy is of communication, and not of compute", "[spread]") {
  SoftwareSpread made;
  made.physics = made.forecast = 0.1;
  made.compute = 0.09;
  made.discrepancy = 0.2;
  made.group = "a cluster";
  const double factor = std::exp(0.2 * t_quantile(0.95, kSpreadDegrees));
  const ForecastInterval interval = interval_of(made);
  CHECK(interval.low.count() == Approx(0.09 + 0.01 / factor).epsilon(0.005));
  CHECK(interval.high.count() == Approx(0.09 + 0.01 * factor).epsilon(0.005));
}

// A term of 10 ms could take e^(1.5 x 2.015) = 20 times as long, and physics lets it take twice.
TEST_CASE("no interval holds more of a term than physics allows", "[spread]") {
  SoftwareSpread made = spread(1.5);
  CHECK(interval_of(made).high.count() > 0.2);
  made.terms[0].most = 2;
  CHECK(interval_of(made).high.count() == Approx(0.12));
}

// 90 of 100 ms are one GPU's own work. A run scatters by 20 %, which alone would let it take
// 100 / 1.5 = 67 ms. Against a run of 150 ms it is 1.72 times as fast at most.
TEST_CASE("no run is faster than its GPU alone", "[spread]") {
  SoftwareSpread made;
  made.physics = made.forecast = 0.1;
  made.compute = 0.09;
  made.scatter = 0.2;
  CHECK(interval_of(made).low.count() == Approx(0.067).epsilon(0.01));
  made.least = 0.0873;
  CHECK(interval_of(made).low.count() == Approx(0.0873));
  SoftwareSpread other = made;  // takes 150 ms and does not scatter
  other.physics = other.forecast = 0.15;
  other.scatter = 0;
  CHECK(speedup_interval(made, other).high == Approx(0.15 / 0.0873));
}

// The toy takes 43 ms: one GPU computes for 19, and two ranks exchange for 24.
TEST_CASE("a run scatters the less the more of it one GPU computes", "[spread]") {
  const auto scatter = [](Scenario scenario) {
    scenario.fusion = parse_fusion("merged");
    scenario.overlap = false;
    const Scenario run =
        on_stack(std::move(scenario), "per_iteration_overhead,1us,30%,x,,\nscatter,10%,,x,,\n");
    const Plan plan = make_plan(run);
    return spread_of(run, plan, gradcast::run(run, *find_engine("analytic")))->scatter;
  };
  CHECK(scatter(toy::scenario("dense")) == Approx(0.1 * scatter_share(19.0 / 43)).epsilon(0.001));
  Scenario alone = toy::scenario("dense");
  alone.cluster.nodes = 1;
  CHECK(scatter(alone) == Approx(0.05).epsilon(0.001));
}

// A megabyte less a byte is small. An all-gather of two ranks' halves is as large as both.
TEST_CASE("a small collective alone has widths of its own", "[spread]") {
  const auto widths = [](std::int64_t bytes, Outcome outcome, const std::string& small) {
    Scenario scenario = toy::scenario("dense");
    scenario.payload = Bytes{bytes};
    scenario.outcome = outcome;
    scenario = on_stack(std::move(scenario), "discrepancy,5%,,x,,\nscatter,10%,,x,,\n" + small);
    const Plan plan = make_plan(scenario);
    const auto spread =
        spread_of(scenario, plan, gradcast::run(scenario, *find_engine("analytic")));
    return std::pair(spread->discrepancy, spread->scatter);
  };
  const std::string small = "small_discrepancy,20%,,x,,\nsmall_scatter,30%,,x,,\n";
  CHECK(widths((1 << 20) - 1, Outcome::AllReduced, small) == std::pair(0.2, 0.3));
  CHECK(widths(1 << 20, Outcome::AllReduced, small) == std::pair(0.05, 0.1));
  CHECK(widths(1 << 19, Outcome::AllGathered, small) == std::pair(0.05, 0.1));
  CHECK(widths(1 << 18, Outcome::AllGathered, small) == std::pair(0.2, 0.3));
  CHECK(widths(1024, Outcome::AllReduced, "") == std::pair(0.05, 0.1));
  CHECK(widths(1024, Outcome::AllReduced, "small_scatter,30%,,x,,\n") == std::pair(0.05, 0.3));
  CHECK(widths(1024, Outcome::AllReduced, "small_discrepancy,20%,,x,,\n") == std::pair(0.2, 0.1));
}

TEST_CASE("where one GPU's time is a guess, a run may be faster than it", "[spread]") {
  const auto least = [](Scenario scenario) {
    const Scenario run =
        on_stack(std::move(scenario), "per_iteration_overhead,1ms,30%,x,,\nscatter,3%,,x,,\n");
    const Plan plan = make_plan(run);
    return spread_of(run, plan, gradcast::run(run, *find_engine("analytic")))->least;
  };
  CHECK(least(toy::scenario("dense")) == 0);  // somebody else's trace
  Scenario measured = toy::scenario("dense");
  measured.trace = scaled_to(measured.trace, Seconds{0.2});
  CHECK(least(measured) == Approx(0.97 * alone(measured).count()));
  Scenario other_gpu = measured;
  other_gpu.cluster.compute_speed = 0.5;
  CHECK(least(other_gpu) == 0);
}

// No stack: 100 ms by physics are forecast, and software is thought to take 10 ms more. A run
// scatters by 5 %, and its software may be next to nothing.
TEST_CASE("a forecast by physics is not the end of its own interval", "[spread]") {
  SoftwareSpread unnamed = spread(0.1);
  unnamed.forecast = unnamed.physics;
  unnamed.scatter = 0.05;
  const double factor = std::exp(0.05 * t_quantile(0.95, kSpreadDegrees));
  CHECK(interval_of(unnamed).low.count() == Approx(0.1 / factor).epsilon(0.01));
  CHECK(interval_of(unnamed).high.count() == Approx(0.11 * factor).epsilon(0.01));
}

TEST_CASE("compute that was derived and not measured widens the interval", "[spread]") {
  Scenario scenario = on_stack(toy::scenario(), "per_iteration_overhead,1us,10%,x,,\n");
  const auto width = [&] {
    const Evaluation its = evaluate(scenario, *find_engine("analytic"));
    return its.interval->high - its.interval->low;
  };
  const Seconds measured = width();
  scenario.trace.change().derived = true;
  CHECK(width() > 10 * measured);
}

// Compute takes 0.74 to 1.35 times its time: the fast end ends where the network binds, and the
// slow one has all of what is longer. A twentieth of the bandwidth makes the toy wait for its
// network.
TEST_CASE("the ends of derived compute are forecasts with that compute", "[spread]") {
  for (const double slower : {1., 20.}) {
    Scenario scenario = on_stack(toy::scenario(), "per_iteration_overhead,1us,1%,x,,\n");
    scenario.cluster.nic.bandwidth.value /= slower;
    scenario.trace.change().derived = true;
    const auto its = [&](double speed) {
      Scenario other = scenario;
      other.cluster.compute_speed = speed;
      return evaluate(other, *find_engine("analytic"));
    };
    const ForecastInterval interval = *its(1).interval;
    const double end = std::exp(.15 * t_quantile(0.95, kSpreadDegrees));
    CHECK(interval.low / its(end).result.iteration == Approx(1).epsilon(0.02));
    CHECK(interval.high / its(1 / end).result.iteration == Approx(1).epsilon(0.02));
  }
}

// Newer arithmetic makes it shorter more often than longer. The toy communicates for half of its
// iteration.
TEST_CASE(
    "compute that was carried over to a newer GPU may be much shorter, to an older one longer",
    "[spread]") {
  Scenario scenario = on_stack(toy::scenario(), "per_iteration_overhead,1us,10%,x,,\n");
  const auto interval = [&] { return *evaluate(scenario, *find_engine("analytic")).interval; };
  CHECK(interval().low / evaluate(scenario, *find_engine("analytic")).result.iteration > 0.9);
  const auto ends = [&](double speed) {
    scenario.speed_derived = true;
    scenario.cluster.compute_speed = speed;
    const Evaluation its = evaluate(scenario, *find_engine("analytic"));
    return std::pair(its.result.iteration / its.interval->low,
                     its.interval->high / its.result.iteration);
  };
  const auto [newer_below, newer_above] = ends(1.01);
  CHECK(newer_below > 1.25);
  CHECK(newer_above > 1.1);
  CHECK(newer_below > newer_above);
  const auto [older_below, older_above] = ends(0.99);
  CHECK(older_above > older_below);
}

// 40 MB on two nodes at 1 GB/s: halves to and fro take 40 ms both ways at once, 80 in turns, and 70
// where three of four bytes take turns, which is forecast.
TEST_CASE("exchanges that may take turns are forecast between the ends of their interval",
          "[spread]") {
  Scenario scenario = toy::scenario();
  scenario.cluster.nodes = 2;
  scenario.cluster.gpus_per_node = 1;
  scenario.cluster.lay_out_ranks();
  scenario.cluster.nic = {BytesPerSecond{1e9}, Seconds{0}};
  scenario.cluster.network_kind = NetworkKind::Tcp;
  scenario.payload = Bytes{40'000'000};
  scenario.collective = nullptr;
  scenario.library = find_library_rule("open-mpi");
  scenario = on_stack(scenario, "per_iteration_overhead,1us,1%,x,,\n");
  const Evaluation its = evaluate(scenario, *find_engine("analytic"));
  CHECK(its.result.iteration.count() == Approx(0.070).epsilon(0.01));
  CHECK(its.interval->low.count() == Approx(0.043).epsilon(0.02));  // with a tenth of the turns
  CHECK(its.interval->high.count() == Approx(0.080).epsilon(0.01));
}

TEST_CASE("the same overhead on both sides leaves a speedup sure", "[spread]") {
  SoftwareSpread slower = spread(1);
  slower.physics = 0.105;
  slower.forecast = 0.115;
  // Each interval is tens of percent wide, and they overlap.
  CHECK(interval_of(spread(1)).high > interval_of(slower).low);
  const RatioInterval same = speedup_interval(spread(1), slower);
  CHECK(same.low > 1);
  CHECK(same.high < 1.06);
  slower.terms[0].name = "another term";
  CHECK(speedup_interval(spread(1), slower).low < 1);
}

TEST_CASE("runs of one kind share most of their scatter, the more the nearer their forecasts",
          "[spread]") {
  SoftwareSpread run = spread(0);
  run.scatter = 0.05;
  run.kind = {"", Seconds{0.1}, 8};
  run.kind_variance = 2.0 / 3 * 0.05 * 0.05;
  SoftwareSpread other = run;
  const auto reach_of = [&] {
    const RatioInterval ratio = speedup_interval(run, other);
    return std::log(ratio.high / ratio.low) / 2 / t_quantile(0.95, kSpreadDegrees);
  };
  // The same run once more: 1/50 of 0.05^2 is each one's own, 0.05 x sqrt(2 / 50) = 0.01 between
  // two.
  CHECK(reach_of() == Approx(0.05 * std::sqrt(2.0 / 50)).epsilon(0.1));
  // Another schedule that takes half as long again: a third is each one's own.
  other.forecast *= 1.5;
  CHECK(reach_of() == Approx(0.05 * std::sqrt(2.0 / 3)).epsilon(0.1));
  // With a compressor the same: its GPUs compute what those without compute.
  other.forecast = run.forecast;
  other.kind.compressor = "topk";
  CHECK(reach_of() == Approx(0.05 * std::sqrt(2.0 / 3)).epsilon(0.1));
  other.kind.compute = Seconds{10};  // another model shares nothing
  CHECK(reach_of() == Approx(0.05 * std::sqrt(2.0)).epsilon(0.1));
}

// The run takes 100 ms by NCCL's choice and 200 by the one that it nearly took: the interval holds
// both, and beside itself the run is sure. One run whose second choice is as far off as 25 % has it
// in 7.6 % of the draws, more than lie above the interval; none is there beyond that.
TEST_CASE("what NCCL sees of a machine it sees in both runs", "[spread]") {
  SoftwareSpread near;
  near.physics = near.forecast = 0.1;
  near.other_choice = {.1, .1, .1, .1};
  CHECK(interval_of(near).low.count() == Approx(.1));
  CHECK(interval_of(near).high.count() == Approx(.2));
  SoftwareSpread twice = near;
  twice.physics = twice.forecast = 0.05;
  twice.other_choice = {.05, .05, .05, .05};
  CHECK(speedup_interval(twice, near).low == Approx(2));
  CHECK(speedup_interval(twice, near).high == Approx(2));
  SoftwareSpread far = near;
  far.other_choice = {0, 0, 0, .1};
  CHECK(interval_of(far).high.count() == Approx(.2));
  const std::vector<double> draws = draws_of(far);
  CHECK(std::count_if(draws.begin(), draws.end(), [](double time) { return time > .15; }) == 76);
}

// Four nodes pass 3/4 of 1 GiB twice through 9.43 Gb/s, of which 10 % more may be there: 1.24 s.
TEST_CASE("no dense sum is faster than its bytes on the NICs", "[spread]") {
  Scenario scenario = toy::scenario();
  scenario.payload = Bytes{1 << 30};
  scenario.collective = nullptr;
  scenario.nccl = kUsualNccl;
  scenario.cluster.nodes = 4;
  scenario.cluster.nic.bandwidth = BytesPerSecond{9.43e9 / 8};
  scenario.cluster.lay_out_ranks();
  scenario = on_stack(std::move(scenario), "per_iteration_overhead,1ms,50%,x,,\n");
  const auto low = [&] { return evaluate(scenario, *find_engine("analytic")).doubt.spread->least; };
  CHECK(low() == Approx(2 * .75 * (1 << 30) / (1.1 * 9.43e9 / 8)));
  scenario.cluster.network_sharp = YesNo::Yes;  // switches add up
  CHECK(low() == 0);
  scenario.cluster.network_sharp = YesNo::No;
  scenario.cluster.network_kind = NetworkKind::Tcp;
  CHECK(low() > 0);
  scenario.cluster.nic.bandwidth = BytesPerSecond{4.9e9 / 8};  // a flow's
  CHECK(low() == 0);
}

TEST_CASE("a term that was not seen like this is in the interval and not in the forecast",
          "[spread]") {
  SoftwareSpread beyond = spread();
  beyond.forecast = beyond.physics;
  beyond.terms[0].outside = true;
  beyond.terms[0].forecast = false;
  beyond.terms[0].seconds = 5;
  const ForecastInterval interval = interval_of(beyond);
  CHECK(interval.low.count() <= 0.1);
  CHECK(interval.high.count() >= 5.1);
  // Nor is it sure which of two is faster.
  const RatioInterval faster = speedup_interval(beyond, spread());
  CHECK(faster.low < 1);
  CHECK(faster.high > 1);
}

TEST_CASE("of a population, what 40 % have is in 40 % of the draws", "[spread]") {
  SoftwareSpread population = spread();
  population.terms[0].presence = 0.4;
  std::size_t with = 0;
  for (const double time : draws_of(population)) with += time > 0.1 ? 1 : 0;
  CHECK(static_cast<double>(with) / kSpreadDraws == Approx(0.4).margin(0.002));
}

namespace {

/// Two terms of 10 ms, which go together so much.
SoftwareSpread two_terms(double correlation) {
  SoftwareSpread made;
  made.physics = 0.1;
  made.forecast = 0.12;
  made.terms = {{"rank_spread", 0.01, 0.05}, {"per_iteration_overhead", 0.01, 0.05}};
  if (correlation != 0)
    made.joint = std::make_shared<const JointTerms>(
        *joint_terms({{"rank_spread", "per_iteration_overhead", correlation}}));
  return made;
}

double width_of(const SoftwareSpread& made) {
  const ForecastInterval interval = interval_of(made);
  return (interval.high - interval.low).count();
}

}  // namespace

// Each is 10 ms x e^(0.05 t). The variance of a sum is 2 (1 + r): for -0.99 and 0.99 a hundredth of
// that of two that know nothing of each other, and nearly twice it. So the intervals are 0.1
// and 1.4 times as wide, but for the curve of e^x and the tails of sums.
TEST_CASE("terms that err together are drawn together", "[spread]") {
  const double alone = width_of(two_terms(0));
  CHECK(width_of(two_terms(-0.99)) < 0.15 * alone);
  CHECK(width_of(two_terms(0.99)) > 1.3 * alone);
  // One of the two by itself is as unsure as before.
  SoftwareSpread one = two_terms(-0.99);
  SoftwareSpread same = two_terms(0);
  for (SoftwareSpread* each : {&one, &same}) each->terms.pop_back();
  CHECK(width_of(one) == Approx(width_of(same)).epsilon(0.1));
}

TEST_CASE("a run that pays one of two joint terms has the same world as one that pays both",
          "[spread]") {
  const SoftwareSpread both = two_terms(-0.99);
  SoftwareSpread one = both;
  one.terms.pop_back();
  one.forecast = 0.11;
  // The second term adds 10 ms e^(0.05 t) to the 110 ms in each draw.
  const std::vector<double> without = draws_of(one);
  const std::vector<double> with = draws_of(both);
  for (std::size_t i = 0; i < with.size(); ++i) CHECK(with[i] > without[i]);
  // The first term's draws are the same, as its values above and below 110 ms show.
  SoftwareSpread first = both;
  first.terms.erase(first.terms.begin());
  const std::vector<double> second = draws_of(first);
  for (std::size_t i = 0; i < with.size(); ++i)
    CHECK(with[i] == Approx(without[i] + second[i] - 0.1));
}

TEST_CASE("the factor on all times goes with the terms, and cancels in a speedup", "[spread]") {
  SoftwareSpread known = spread();
  known.discrepancy = 0.1;
  known.terms[0].deviation = 1;
  SoftwareSpread joint = known;
  joint.joint = std::make_shared<const JointTerms>(
      *joint_terms({{"per_iteration_overhead", kModelFactor, -0.95}}));
  CHECK(width_of(joint) < 0.8 * width_of(known));
  SoftwareSpread half = joint;
  half.physics /= 2;
  half.forecast /= 2;
  half.terms[0].seconds /= 2;
  const RatioInterval twice = speedup_interval(half, joint);
  CHECK(twice.low == Approx(2));
  CHECK(twice.high == Approx(2));
}

TEST_CASE("a term may be surer above its value than below", "[spread]") {
  SoftwareSpread skewed = spread(0.2);
  skewed.terms[0].deviation_below = 1;
  const double reach = t_quantile(0.95, kSpreadDegrees);
  const ForecastInterval interval = interval_of(skewed);
  CHECK(interval.low.count() == Approx(0.1 + 0.01 * std::exp(-reach)).epsilon(0.01));
  CHECK(interval.high.count() == Approx(0.1 + 0.01 * std::exp(0.2 * reach)).epsilon(0.01));
}

// The compute time of one GPU was measured: the factor applies to the rest.
TEST_CASE("the factor of a cluster is on communication and software", "[spread]") {
  const std::string overhead = "per_iteration_overhead,20ms,50%,seen,,\n";
  const Engine& engine = *find_engine("analytic");
  const Scenario plain = on_stack(toy::scenario("topk"), overhead);
  const Scenario scaled = on_stack(toy::scenario("topk"), overhead + "model_factor,1.1,3%,x,,\n");
  const IterationResult before = run(plain, engine);
  const IterationResult after = run(scaled, engine);
  const double compute = alone(plain).count();
  CHECK(after.iteration.count() == Approx(compute + 1.1 * (before.iteration.count() - compute)));
  CHECK(after.overhead.count() == Approx(1.1 * before.overhead.count()));
  CHECK(after.backward.count() == Approx(before.backward.count()));
  CHECK(run(without_stack(scaled), engine).iteration ==
        run(without_stack(plain), engine).iteration);
}

// One cluster's error says nothing of another's, which may be as large.
TEST_CASE("the factor of a cluster is not another's", "[spread]") {
  Scenario scenario =
      on_stack(toy::scenario(), "per_iteration_overhead,20ms,5%,seen,,\nmodel_factor,1.3,3%,x,,\n");
  const auto learned_on = [&](const std::string& cluster) {
    Stack stack = *scenario.stack;
    stack.learned_on = {cluster};
    scenario = without_stack(std::move(scenario));  // which points into the stack
    scenario.stack = std::make_shared<const Stack>(stack);
    apply_stack(scenario);
    return evaluate(scenario, *find_engine("analytic"));
  };
  const Evaluation here = learned_on(scenario.cluster.name);
  const Evaluation elsewhere = learned_on("another");
  const double compute = alone(scenario).count();
  CHECK(here.result.iteration.count() - compute ==
        Approx(1.3 * (elsewhere.result.iteration.count() - compute)));
  CHECK(elsewhere.interval->high > here.result.iteration);
}

// One cluster is as the stack says to 3 %. Another one may be off by what such clusters are, 40 %.
TEST_CASE("what was learned on one cluster is no surer on another than before", "[spread]") {
  Scenario scenario =
      on_stack(toy::scenario(),
               "per_iteration_overhead,200ms,1%,seen,,\nmodel_factor,1,3%,x,,\nscatter,1%,,x,,\n");
  const auto width_on = [&](const std::string& cluster) {
    Stack stack = *scenario.stack;
    stack.learned_on = {cluster};
    stack.discrepancy_elsewhere = .4;
    stack.scatter_elsewhere = .07;
    scenario = without_stack(std::move(scenario));  // which points into the stack
    scenario.stack = std::make_shared<const Stack>(stack);
    apply_stack(scenario);
    const ForecastInterval interval = *evaluate(scenario, *find_engine("analytic")).interval;
    return (interval.high - interval.low).count();
  };
  CHECK(width_on("another") > 5 * width_on(scenario.cluster.name));
}

// With a thousand times the bandwidth next to all is compute, which was derived: a factor of 1.6 on
// the rest moves neither end of what compute may take.
TEST_CASE("the factor of a cluster leaves derived compute alone", "[spread]") {
  const auto interval = [](const char* factor) {
    Scenario scenario =
        on_stack(toy::scenario(), std::string("per_iteration_overhead,1us,1%,x,,\n") + factor);
    scenario.cluster.nic.bandwidth.value *= 1000;
    scenario.cluster.intra.bandwidth.value *= 1000;
    scenario.trace.change().derived = true;
    return *evaluate(scenario, *find_engine("analytic")).interval;
  };
  const ForecastInterval without = interval("");
  const ForecastInterval with = interval("model_factor,1.6,3%,x,,\n");
  CHECK(with.low / without.low == Approx(1).epsilon(0.01));
  CHECK(with.high / without.high == Approx(1).epsilon(0.01));
}

// 20 ms of overhead are 22 with a factor of 1.1, and all draws lie about the forecast.
TEST_CASE("the draws of a learned stack have its factor", "[spread]") {
  const Scenario scenario = on_stack(toy::scenario("topk"),
                                     "per_iteration_overhead,20ms,50%,x,,\n"
                                     "model_factor,1.1,3%,x,,\n");
  const Plan plan = make_plan(scenario);
  const Engine& engine = *find_engine("analytic");
  const IterationResult result =
      summarize(plan, engine.run(plan, scenario.cluster, scenario.world));
  const auto its = spread_of(scenario, plan, result);
  REQUIRE(its);
  CHECK(its->terms[0].seconds == Approx(22e-3));
  CHECK(its->physics + its->terms[0].seconds == Approx(result.iteration.count()));
  CHECK(median(draws_of(*its)) == Approx(result.iteration.count()).epsilon(0.01));
}

TEST_CASE("the terms of a forecast add up to what the stack adds", "[spread]") {
  const Scenario scenario = on_stack(
      toy::scenario("topk"), "per_iteration_overhead,20ms,50%,x,,\nencode_per_call,7ms,50%,x,,\n");
  const Plan plan = make_plan(scenario);
  const Engine& engine = *find_engine("analytic");
  const IterationResult result =
      summarize(plan, engine.run(plan, scenario.cluster, scenario.world));
  const auto its = spread_of(scenario, plan, result);
  REQUIRE(its);
  REQUIRE(its->terms.size() == 2);
  CHECK(its->terms[0].seconds == Approx(20e-3));
  CHECK(its->terms[1].seconds == Approx(7e-3));  // merged: one call
  CHECK(its->physics == Approx(result.iteration.count() - 27e-3));
}

// Seeds and all: the same 500 scenarios everywhere.
TEST_CASE("beyond what was seen no forecast runs away, in 500 random scenarios", "[spread]") {
  const Engine& engine = *find_engine("analytic");
  for (std::uint64_t number = 0; number < 500; ++number) {
    const auto pick = [&](std::uint64_t index, double low, double high) {
      return low * std::pow(high / low, uniform({number, 1, Draw::Shuffle, index}));
    };
    const auto text = [](double value) { return std::to_string(value); };
    Scenario scenario = toy::scenario(number % 3 == 0 ? "dense" : "topk");
    const char* const fusions[] = {"layer", "merged", "12000B"};
    scenario.fusion = parse_fusion(fusions[number % 3]);
    scenario.overlap = number % 2 == 0;
    scenario.cluster.nodes = static_cast<int>(pick(0, 2, 16));
    scenario.cluster.nic.bandwidth = {pick(1, 1e5, 1e8)};
    // The iteration takes 28 ms and more. Terms seen under such conditions add less than twice
    // that. A call of other runs, and an overhead of longer ones, may be a thousand times that.
    const bool other_calls = number % 5 == 0;
    const Scenario on =
        on_stack(scenario,
                 "per_iteration_overhead," + text(pick(2, 1, 10'000)) + "ms,80%,x,,compute=2..5\n" +
                     "encode_per_call," + text(pick(3, 0.1, other_calls ? 10'000 : 6)) +
                     "ms,80%,x,," + (other_calls ? "calls=500" : "calls=1..3") + "\n" +
                     "per_tensor_negotiation," + text(pick(4, 0.01, 5)) + "ms,50%,x,,calls=1..3\n");
    const Evaluation its = evaluate(on, engine);
    REQUIRE(!its.outside_seen.empty());
    const double physics = evaluate(without_stack(on), engine).result.iteration.count();
    const double forecast = its.result.iteration.count();
    CAPTURE(number, physics, forecast, its.outside_seen);
    CHECK(forecast >= physics / 3);
    CHECK(forecast <= physics * 3);
    REQUIRE(its.interval);
    CHECK(its.interval->low.count() <= std::min(physics, forecast) * (1 + 1e-9));
    CHECK(its.interval->high.count() >= std::max(physics, forecast) * (1 - 1e-9));
    // The forecast with the terms outside at their full size lies inside too.
    double multiplied = forecast;
    for (const SpreadTerm& term : its.doubt.spread->terms)
      if (term.outside) multiplied += term.seconds;
    CHECK(its.interval->high.count() >= multiplied * (1 - 1e-9));
  }
}

TEST_CASE("threads that draw at once draw what one thread draws", "[spread]") {
  // Names that nobody drew before, the same in every thread.
  const auto drawn = [] {
    std::vector<double> sums;
    for (int i = 0; i < 200; ++i) {
      SoftwareSpread one = spread();
      one.group = "group " + std::to_string(i);
      one.discrepancy = 0.1;
      one.terms[0].name = "term " + std::to_string(i);
      const std::vector<double> times = draws_of(one);
      sums.push_back(times.front() + 2 * times.back());
    }
    return sums;
  };
  constexpr std::size_t kThreads = 8;
  std::vector<std::vector<double>> of_threads(kThreads);
  std::latch begin(kThreads);
  std::vector<std::jthread> threads;
  for (std::vector<double>& sums : of_threads)
    threads.emplace_back([&] {
      begin.arrive_and_wait();
      sums = drawn();
    });
  threads.clear();  // joins
  const std::vector<double> alone = drawn();
  for (const std::vector<double>& sums : of_threads) CHECK(sums == alone);
}
