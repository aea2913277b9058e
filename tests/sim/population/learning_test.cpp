// A stack learned from runs that were made from known numbers.
#include "sim/population/learning.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/base/error.hpp"
#include "sim/base/statistics.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/plan/stack_use.hpp"
#include "sim/population/learned_report.hpp"
#include "sim/population/next_runs.hpp"
#include "sim/population/repeats.hpp"
#include "tests/sim/fit/fit_rows.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

constexpr const char* kHeader = "property,value,deviation,source,compressor,seen\n";

Stack stack_of(const std::string& rows) {
  return load_stack({"platforms/stack-mine.csv", kHeader + rows});
}

/// Terms known from elsewhere: 5 ms an iteration to a factor of e, and a cost of another
/// compressor.
Stack prior(const std::string& more = "") {
  return stack_of(
      "per_iteration_overhead,5ms,100%,elsewhere,,compute=1\n"
      "encode_per_call,3ms,50%,elsewhere,dgc,calls=1\n"
      "discrepancy,10%,,x,,\nscatter,3%,,x,,\n" +
      more);
}

/// Dense runs of the toy, of so many widths, as a cluster has them on which an iteration takes
/// `overhead` and all times `factor`. Each row is a little off.
std::vector<FitRow> runs(int widths, double overhead, double factor) {
  std::vector<FitRow> rows = toy::fit_table({"dense"}, widths);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Scenario scenario = rows[i].scenario;
    scenario.cluster.per_iteration_overhead = Seconds{overhead};
    const double time = run(scenario, *find_engine("analytic")).iteration.count();
    rows[i].run.iteration = Seconds{time * factor * (i % 2 == 0 ? 1.005 : 0.995)};
  }
  return rows;
}

const StackTerm& term_of(const Stack& stack, const std::string& name) {
  for (const StackTerm& term : stack.terms)
    if (term.name() == name) return term;
  throw std::logic_error("no " + name);
}

double forecast_of(const Scenario& scenario, const Stack& stack) {
  return evaluate_on(scenario, std::make_shared<const Stack>(stack), *find_engine("analytic"))
      .result.iteration.count();
}

}  // namespace

TEST_CASE("runs tell what the software costs here, and that it holds in their situation",
          "[population][learning]") {
  const std::vector<FitRow> rows = runs(6, 20e-3, 1);
  const StackLearner learner(prior(), rows, 1);
  const LearnedStack learned = learner.by_all("6 runs of mine");
  const StackTerm& overhead = term_of(learned.stack, "per_iteration_overhead");
  // 20 ms of 48 and more; 5 ms to a factor of 7.5 was known.
  CHECK(overhead.value == Approx(20e-3).epsilon(0.25));
  CHECK(overhead.deviation < 0.3);
  CHECK(overhead.source == "6 runs of mine");
  const Stack known = prior();
  CHECK_FALSE(outside_of(term_of(known, "per_iteration_overhead").seen, rows[0].scenario,
                         make_plan(rows[0].scenario))
                  .empty());
  for (const FitRow& row : rows)
    CHECK(outside_of(overhead.seen, row.scenario, make_plan(row.scenario)).empty());
  REQUIRE(learned.terms.size() == 4);  // the overhead, the factor, the runs' one kind, the scatter
  CHECK(learned.terms[0].before.value == Approx(5e-3));
  CHECK(learned.terms[0].after.low > 10e-3);
  CHECK(learned.terms[0].after.high < 30e-3);
}

TEST_CASE("what no run depends on stays as it was", "[population][learning]") {
  const std::vector<FitRow> rows = runs(3, 20e-3, 1);
  const Stack stack = StackLearner(prior(), rows, 1).by_all("mine").stack;
  const Stack known = prior();
  const StackTerm& before = term_of(known, "encode_per_call of dgc");
  const StackTerm& after = term_of(stack, "encode_per_call of dgc");
  CHECK(after.value == before.value);
  CHECK(after.deviation == before.deviation);
  CHECK(after.deviation_below == 0);
  CHECK(to_text(after.seen) == to_text(before.seen));
  CHECK(after.source == "elsewhere");
  for (const TermCorrelation& each : stack.correlations) {
    CHECK(each.one != "encode_per_call of dgc");
    CHECK(each.other != "encode_per_call of dgc");
  }
}

// A NIC that is e^(0.5 x 2.015) = 2.7 times as slow makes the exchange of the toy's 43 ms longer by
// more than a tenth. Beside compute that takes a thousand times as long nobody would see it.
TEST_CASE("runs show a link that would make them longer, and no other", "[population][learning]") {
  const auto shown_by = [](double compute_speed) {
    std::vector<FitRow> rows = runs(2, 5e-3, 1);
    for (FitRow& row : rows) {
      row.scenario.cluster.deviations = {{"nic_bandwidth", 0.5}};
      row.scenario.cluster.compute_speed = compute_speed;
      row.run.iteration = run(row.scenario, *find_engine("analytic")).iteration;
    }
    return *StackLearner(prior(), rows, 1).by_all("mine").stack.shown_links;
  };
  REQUIRE(shown_by(1).size() >= 1);
  for (const std::string& link : shown_by(1))
    CHECK(link.find(": nic_bandwidth at ") != std::string::npos);
  CHECK(shown_by(1e-3).empty());
}

TEST_CASE("runs that are alike know the sum of factor and overhead better than either",
          "[population][learning]") {
  const std::vector<FitRow> rows = runs(1, 20e-3, 1);
  const std::vector<FitRow> three(3, rows[0]);
  Stack stack = StackLearner(prior(), three, 1).by_all("mine").stack;
  // Runs that agree to the last digit do not mean that forecasts do.
  CHECK(stack.scatter > 0.005);
  REQUIRE(stack.correlations.size() >= 1);
  CHECK(stack.correlations[0].one == "per_iteration_overhead");
  CHECK(stack.correlations[0].other == kModelFactor);
  CHECK(stack.correlations[0].value < -0.5);
  const auto width = [&](const Stack& by) {
    const Evaluation its =
        evaluate_on(rows[0].scenario, std::make_shared<const Stack>(by), *find_engine("analytic"));
    return its.interval->high / its.interval->low;
  };
  const double joint = width(stack);
  CHECK(joint < width(prior()));
  stack.correlations.clear();
  CHECK(std::log(joint) < 0.8 * std::log(width(stack)));
}

// A host of 1 GB/s beside a NIC of 50 MB/s makes it hypot(1, 1/20), 0.12 % slower: less than runs
// scatter. Beside a NIC of 1 GB/s it makes bytes take hypot(1, 1) = 1.41 times as long, and a host
// of a third of that hypot(1, 3) = 3.2 times. Its square is 9 times as large: within 160 % (e^1.6 =
// 5) and t = 2.02, which is 25 times.
TEST_CASE("runs on a slow link leave open what a host does beside a fast one",
          "[population][learning]") {
  const Stack known = prior("host_bandwidth,1GBps,160%,x,,\n");
  std::vector<FitRow> rows = toy::fit_table({"dense"}, 3);
  const auto lengthen = [](Scenario& scenario) {
    for (GradientTensor& tensor : scenario.model.change().tensors) tensor.elements *= 100;
  };
  for (FitRow& row : rows) {
    lengthen(row.scenario);
    row.scenario.cluster.nic.bandwidth = BytesPerSecond{50e6};
    row.run.iteration = run(row.scenario, *find_engine("analytic")).iteration;
  }
  const Stack learned = StackLearner(known, rows, 1).by_all("3 runs").stack;
  const StackTerm& host = term_of(learned, "host_bandwidth");
  CHECK((host.deviation + host.deviation_below) / 2 > 1.4);  // wherever its middle lies between
  Scenario fast = rows.back().scenario;
  fast.cluster.nic.bandwidth = BytesPerSecond{1e9};
  lengthen(fast);
  const Seconds alone = run(fast, *find_engine("analytic")).iteration;
  const Evaluation forecast =
      evaluate_on(fast, std::make_shared<const Stack>(learned), *find_engine("analytic"));
  REQUIRE(forecast.interval);
  const Seconds compute = fast.trace->iteration();
  CHECK((forecast.interval->high - compute) / (alone - compute) > 2);
}

TEST_CASE("the number that is shown is the median of its draws, and near what was measured",
          "[population][learning]") {
  const std::vector<FitRow> rows = runs(4, 30e-3, 1.06);
  const Stack stack = StackLearner(prior(), rows, 1).by_all("mine").stack;
  for (const FitRow& row : rows) {
    const Evaluation its =
        evaluate_on(row.scenario, std::make_shared<const Stack>(stack), *find_engine("analytic"));
    const double forecast = its.result.iteration.count();
    CHECK(forecast == Approx(row.run.iteration.count()).epsilon(0.02));
    CHECK(median(draws_of(*its.doubt.spread)) == Approx(forecast).epsilon(0.01));
  }
}

// The median of a sum of three costs lies far above the sum of their medians if each is known only
// to a factor of 20. That is no reason to make dense runs slower, which pay none of them.
TEST_CASE("costs of compressed runs that are hardly known leave dense runs alone",
          "[population][learning]") {
  const Stack unsure = stack_of(
      "encode_per_call,3ms,150%,x,topk,\nencode_per_tensor,1ms,150%,x,topk,\n"
      "decode_per_call,3ms,150%,x,topk,\ndiscrepancy,10%,,x,,\nscatter,3%,,x,,\n");
  std::vector<FitRow> rows = toy::fit_table({"dense", "topk"}, 2);
  for (FitRow& row : rows)
    row.run.iteration =
        Seconds{forecast_of(row.scenario, unsure) * (row.run.compressor == "topk" ? 1.2 : 1.0)};
  const Stack stack = StackLearner(unsure, rows, 1).by_all("mine").stack;
  CHECK(*stack.factor == Approx(1).epsilon(0.03));
  for (const FitRow& row : rows)
    CHECK(forecast_of(row.scenario, stack) == Approx(row.run.iteration.count()).epsilon(0.03));
}

TEST_CASE("what is wrong with one kind of runs is said of that kind first",
          "[population][learning]") {
  const Stack nothing = stack_of("discrepancy,1%,,x,,\nscatter,20%,,x,,\n");
  const std::vector<FitRow> rows = runs(4, 0, 1.15);
  const Stack stack = StackLearner(nothing, rows, 1).by_all("mine").stack;
  const auto error_of = [&](double compute_times) {
    Scenario scenario = rows[0].scenario;
    scenario.trace = scaled_to(scenario.trace, scenario.compute() * compute_times, 1);
    const double truth = 1.15 * forecast_of(scenario, nothing);
    return std::log(forecast_of(scenario, stack) / truth);
  };
  // All rows compute equally long. Runs of their kind take 15 % longer, as they did; of a kind that
  // computes 7 times as long nothing is known but what all runs here share.
  // The rows have unlike networks, and so scatter unlike: a quarter of the error may stay.
  CHECK(std::abs(error_of(1)) < 0.25 * std::log(1.15) + 0.005);
  CHECK(error_of(7) < -0.08);
  REQUIRE(stack.kinds.size() == 1);
  CHECK(stack.kinds[0].factor > 1.1);
  CHECK(stack.kinds[0].kind.compute.count() ==
        Approx(rows[0].scenario.compute().count()).epsilon(1e-3));
}

/// Backward of the three layers ends at 12, 16 and 18 ms, and next to nothing is sent. Agreeing on
/// a tensor takes t. Two of three hide under backward while t is less than 2 ms: 18 + t + 1. Beyond
/// 4 ms none does: 12 + 3 t + 1, so that 28 ms are 5 ms each.
std::vector<FitRow> hiding_runs() {
  std::vector<FitRow> rows = toy::fit_table({"dense"}, 3);
  for (FitRow& row : rows) {
    row.scenario.overlap = true;
    row.scenario.fusion = parse_fusion("layer");
    row.scenario.cluster.nic.bandwidth = BytesPerSecond{1e9};
    Scenario slow = row.scenario;
    slow.cluster.per_tensor_negotiation = Seconds{5e-3};
    row.run.iteration = run(slow, *find_engine("analytic")).iteration;
    CHECK(row.run.iteration.count() == Approx(0.028).epsilon(0.01));
  }
  return rows;
}

// Sums about 0.1 ms alone would take 9 ms for it.
TEST_CASE("a cost that no longer hides is not taken for one that does", "[population][learning]") {
  const Stack hidden =
      stack_of("per_tensor_negotiation,100us,100%,x,,\ndiscrepancy,1%,,x,,\nscatter,1%,,x,,\n");
  const std::vector<FitRow> rows = hiding_runs();
  const Stack stack = StackLearner(hidden, rows, 1).by_all("mine").stack;
  CHECK(term_of(stack, "per_tensor_negotiation").value == Approx(5e-3).epsilon(0.1));
  for (const FitRow& row : rows)
    CHECK(forecast_of(row.scenario, stack) == Approx(row.run.iteration.count()).epsilon(0.05));
}

// About 5 ms the sums say 28 ms, about 0.1 ms 19.1. At 1 ms those about 0.1 ms still hold: 20.
TEST_CASE("sums of costs hold about all values where they were made", "[population][learning]") {
  const std::vector<FitRow> rows = hiding_runs();
  std::vector<LinearRow> linear;
  for (const FitRow& row : rows) linear.push_back({&row.scenario, row.run.iteration, {0}});
  const std::vector<const ScenarioQuantity*> quantities = {
      &find_scenario_quantity("per_tensor_negotiation")};
  const auto of = [](double value) { return Eigen::VectorXd::Constant(1, value); };
  LinearRows pieces(linear, quantities);
  pieces.add(of(std::log(1e-4)));
  pieces.add(of(std::log(5e-3)));
  const LinearGroup sums = pieces.group();
  for (const double value : {1e-4, 1e-3, 5e-3})
    CHECK(error_of_sums(sums, linear, quantities, of(std::log(value))) < 1e-9);
  CHECK(times_of(sums, of(1e-3))[0] == Approx(0.020).epsilon(0.01));
  CHECK(piece_at(sums, of(1e-3)).gain(0, 0) == Approx(1));
}

TEST_CASE("each run is forecast without itself", "[population][learning]") {
  std::vector<FitRow> rows = runs(4, 20e-3, 1);
  rows[3].run.iteration *= 3;  // nobody would forecast this one
  const StackLearner learner(prior(), rows, 1);
  const auto checked = check_by_others(learner, rows, *find_engine("analytic"));
  REQUIRE(checked.size() == 4);
  CHECK(std::abs(checked[3].error_percent(checked[3].after)) > 60);
  CHECK_FALSE(checked[3].holds(checked[3].after));
  CHECK(forecast_of(rows[3].scenario, learner.by_all("mine").stack) >
        checked[3].after.result.iteration.count());
}

// The middle one of three widths takes 1.2 times what the software takes. The two about it say so
// much less, 1 / 1.2 = -17 %, and would if each were listed ten times. The other two are forecast
// by a line through two runs, which is believed more if both are listed twice: so they are farther
// off. A run's own repeat would bring all three to about 1 %.
TEST_CASE("three runs listed twice check themselves no better than three runs listed once",
          "[population][learning]") {
  std::vector<FitRow> rows = runs(3, 20e-3, 1);
  rows[1].run.iteration *= 1.2;
  const auto checked = [](const std::vector<FitRow>& these) {
    return check_by_others(StackLearner(prior(), these, 1), these, *find_engine("analytic"));
  };
  const auto error_of = [](const CheckedRun& run) { return run.error_percent(run.after); };
  std::vector<FitRow> listed_twice = rows;
  listed_twice.insert(listed_twice.end(), rows.begin(), rows.end());
  const auto once = checked(rows);
  const auto twice = checked(listed_twice);
  CHECK(error_of(once[1]) == Approx(-17).margin(2));
  CHECK(error_of(twice[1]) == Approx(error_of(once[1])).margin(0.5));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::abs(error_of(twice[i])) > std::abs(error_of(once[i])) - 0.5);
    CHECK(twice[i].others == 4);  // 6 but the run and its repeat
    CHECK(twice[i].after.result.iteration == twice[i + 3].after.result.iteration);
  }
}

TEST_CASE("runs of one set-up check nothing", "[population][learning]") {
  const std::vector<FitRow> three(3, runs(1, 20e-3, 1)[0]);
  for (const CheckedRun& run :
       check_by_others(StackLearner(prior(), three, 1), three, *find_engine("analytic"))) {
    CHECK(run.others == 0);
    CHECK(run.after.result.iteration == run.before.result.iteration);
  }
}

TEST_CASE("a run repeats another if only what was measured differs", "[population][learning]") {
  const FitRow row = toy::fit_row("topk", 1);
  const auto repeats = [&](const auto& change) {
    FitRow other = row;
    change(other);
    return is_repeat(row, other) && is_repeat(other, row);
  };
  CHECK(repeats([](FitRow& it) {
    it.run.iteration = Seconds{1};
    it.run.line = 7;
    it.run.source = "again";
    it.request.fusion_given = !it.request.fusion_given;
  }));
  // One GPU timed again: 1 % longer is the same, 3 % is another batch or machine.
  CHECK(repeats([](FitRow& it) { it.run.compute *= 1.01; }));
  CHECK_FALSE(repeats([](FitRow& it) { it.run.compute *= 1.03; }));
  CHECK_FALSE(repeats([](FitRow& it) { it.run.model = "other"; }));
  CHECK_FALSE(repeats([](FitRow& it) { it.run.batch = 7; }));
  CHECK_FALSE(repeats([](FitRow& it) { it.run.cluster = "other"; }));
  CHECK_FALSE(repeats([](FitRow& it) { it.run.nodes = 4; }));
  CHECK_FALSE(repeats([](FitRow& it) { it.run.gpus_per_node = 4; }));
  CHECK_FALSE(repeats([](FitRow& it) { it.run.compressor = "dgc"; }));
  CHECK_FALSE(repeats([](FitRow& it) { it.request.density *= 2; }));
  CHECK_FALSE(repeats([](FitRow& it) { it.request.fusion = parse_fusion("layer"); }));
  CHECK_FALSE(repeats([](FitRow& it) { it.request.overlap = !it.request.overlap; }));
  CHECK_FALSE(repeats([](FitRow& it) { it.request.collective = "gloo"; }));
  CHECK_FALSE(repeats([](FitRow& it) { it.request.accumulation = 2; }));
}

TEST_CASE("what was learned is written and read again", "[population][learning]") {
  const std::vector<FitRow> rows = runs(3, 20e-3, 1.05);
  const Stack stack = StackLearner(prior(), rows, 1).by_all("mine").stack;
  const Stack again = load_stack({"platforms/stack-mine.csv", stack_csv(stack, {})});
  // Four digits of each number are written.
  CHECK(forecast_of(rows[0].scenario, again) ==
        Approx(forecast_of(rows[0].scenario, stack)).epsilon(1e-3));
  CHECK(again.correlations.size() == stack.correlations.size());
}

// The prior has no term of topk, so nothing is learned of one. Its runs were seen all the same.
TEST_CASE("a compressor that ran is known by the kernels that it ran with",
          "[population][learning]") {
  const Stack nothing = stack_of(
      "per_iteration_overhead,5ms,100%,x,,\ndiscrepancy,10%,,x,,\n"
      "scatter,3%,,x,,\n");
  std::vector<FitRow> rows = toy::fit_table({"dense", "topk"}, 2);
  for (FitRow& row : rows) row.run.iteration = Seconds{forecast_of(row.scenario, nothing)};
  const auto its = std::find_if(rows.begin(), rows.end(),
                                [](const FitRow& row) { return row.scenario.compresses(); });
  REQUIRE(its != rows.end());
  CHECK_FALSE(costs_fitted(nothing, its->scenario));
  const Stack learned = StackLearner(nothing, rows, 1).by_all("mine").stack;
  const Stack again = load_stack({"platforms/stack-mine.csv", stack_csv(learned, {})});
  CHECK(costs_fitted(again, its->scenario));
  Scenario other = its->scenario;
  other.implementation = implementation_of(other) == "gradcast-cpu" ? "torch" : "gradcast-cpu";
  CHECK_FALSE(costs_fitted(again, other));
  other = its->scenario;
  other.compressor = find_compressor("qsgd");
  CHECK_FALSE(costs_fitted(again, other));
}

TEST_CASE("the command that goes on has all that the run had", "[population][learning]") {
  FitRow row = runs(1, 20e-3, 1)[0];
  row.run.batch = 32;
  row.run.cluster = "toy.csv";
  const std::string command = simulate_command(row, "measured-mine.csv", "my cluster");
  CAPTURE(command);
  CHECK_THAT(command, Contains(" --collective " + std::string(row.scenario.collective->name)));
  CHECK_THAT(command, Contains(" --overlap no"));
  CHECK_THAT(command, Contains(" --cluster 'my cluster/platforms/toy.csv'"));
  CHECK_THAT(command, Contains(" --stack 'my cluster/platforms/stack-mine.csv'"));
  CHECK_THAT(command, Contains(" --nodes 4"));
  row.request.collective = "nccl";
  CHECK_THAT(simulate_command(row, "mine.csv", "x"), Contains(" --collective nccl"));
}

TEST_CASE("the command that goes on broadcasts buffers only where the run did",
          "[population][learning]") {
  FitRow row = runs(1, 20e-3, 1)[0];
  const auto command = [&] { return simulate_command(row, "mine.csv", "x"); };
  CHECK_THAT(command(), !Contains("--broadcast-buffers"));  // there are none
  row.scenario.model.change().tensors[0].buffer_bytes = 4000;
  CHECK_THAT(command(), Contains(" --broadcast-buffers no"));
  row.scenario.broadcast_buffers = true;
  CHECK_THAT(command(), Contains(" --broadcast-buffers yes"));
}

TEST_CASE("a stack that was learned is no prior", "[population][learning]") {
  const std::vector<FitRow> rows = runs(3, 20e-3, 1);
  const Stack stack = StackLearner(prior(), rows, 1).by_all("mine").stack;
  CHECK_THROWS_WITH(StackLearner(stack, rows, 1),
                    Contains("learn from those runs and the new ones together"));
}

TEST_CASE("the same seed learns the same, and another nearly so", "[population][learning]") {
  const std::vector<FitRow> rows = runs(3, 20e-3, 1);
  const auto overhead = [&](std::uint64_t seed) {
    return StackLearner(prior(), rows, seed).by_all("mine").terms[0].after;
  };
  CHECK(overhead(1).value == overhead(1).value);
  CHECK(overhead(2).value == Approx(overhead(1).value).epsilon(0.1));
  CHECK(overhead(2).high == Approx(overhead(1).high).epsilon(0.15));
}

TEST_CASE("a run narrows another by what both share", "[population][learning]") {
  const std::vector<double> logs{2, -2, 1.6, -1.6};
  CHECK(narrower_by(logs, logs, 0) == Approx(1));
  CHECK(narrower_by({1, -1, 1, -1}, {1, 1, -1, -1}, 0) == Approx(0));
  // With a scatter as large as the shared deviation, half of the variance is known: 0.5 + 1 instead
  // of 1 + 1.
  CHECK(narrower_by({1, -1}, {1, -1}, 1) == Approx(1 - std::sqrt(1.5 / 2)));
}
