#include "sim/forecast/uncertainty.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

namespace {

const double kDeviationsToBothEnds = 1.644854;  // 90 % of a normal distribution lie within

std::optional<ForecastInterval> interval(const Scenario& scenario, Seconds jitter = Seconds{0}) {
  const Plan plan = make_plan(scenario);
  return interval_of(scenario, plan, run(scenario, *find_engine("analytic")), jitter);
}

/// Half the interval's width over what 90 % of a normal have: the deviation behind it.
double deviation(const Scenario& scenario, Seconds jitter = Seconds{0}) {
  const auto found = interval(scenario, jitter);
  REQUIRE(found);
  return (found->high - found->low).count() / 2 / kDeviationsToBothEnds;
}

/// The toy with kernels whose 95th percentile lies 16.44854 % above the median: a deviation of
/// 10 %.
Scenario with_spread() {
  Scenario scenario = toy::scenario("topk");
  for (CostRow& row : scenario.costs.change().rows) {
    row.encode_p95 = row.encode * 1.1644854;
    row.decode_p95 = row.decode * 1.1644854;
  }
  return scenario;
}

}  // namespace

TEST_CASE("A cluster that was not fitted has no interval", "[uncertainty]") {
  CHECK_FALSE(interval(toy::scenario()));
  CHECK_FALSE(interval(with_spread(), Seconds{1e-3}));
}

TEST_CASE("What a fit left unexplained is an interval about the forecast", "[uncertainty]") {
  // 6 + 12 + 1 ms of computing and a ring of two ranks that sends half of 24 kB twice: 43 ms.
  Scenario scenario = toy::scenario();
  scenario.cluster.forecast_deviation = Seconds{3e-3};
  const auto found = interval(scenario);
  REQUIRE(found);
  CHECK(found->low.count() == Approx(43e-3 - 1.644854 * 3e-3));
  CHECK(found->high.count() == Approx(43e-3 + 1.644854 * 3e-3));
  // As a share: 10 % of 43 ms.
  scenario.cluster.forecast_deviation = Seconds{0};
  scenario.cluster.forecast_deviation_share = 0.1;
  CHECK(deviation(scenario) == Approx(4.3e-3));
}

TEST_CASE("An interval does not reach below no time at all", "[uncertainty]") {
  Scenario scenario = toy::scenario();
  scenario.cluster.forecast_deviation = Seconds{1};
  CHECK(interval(scenario)->low == Seconds{0});
}

// Encoding takes 1 + 3 s and decoding 2. At the 95th percentile they take half as long again, 3 s.
TEST_CASE("Costs that nobody measured are uncertain together, and the interval has it",
          "[uncertainty]") {
  PlannedBucket bucket;
  bucket.first_encode = Seconds{1};
  bucket.cost.encode = Seconds{3};
  bucket.cost.decode = Seconds{2};
  bucket.cost.factors.high = 1.5;
  Plan plan;
  plan.buckets = {bucket};
  CHECK(cost_deviation(plan).count() == Approx(3 / kDeviationsToBothEnds));

  Scenario scenario = toy::scenario("topk");
  scenario.cluster.forecast_deviation = Seconds{3e-3};
  CHECK(deviation(scenario) == Approx(3e-3));
  for (CostRow& row : scenario.costs.change().rows) row.factors.high = 1.5;
  const double costs = cost_deviation(make_plan(scenario)).count();
  CHECK(costs > 1e-4);
  CHECK(deviation(scenario) == Approx(std::hypot(3e-3, costs)));
}

TEST_CASE("A property's deviation counts by how far the forecast moves with it", "[uncertainty]") {
  // 24 ms on the wire: 24 / 0.9 = 26.67 ms and 24 / 1.1 = 21.82 ms, half of which apart are 2.424
  // ms. With 3 ms beside it: root(2.424² + 3²) = 3.857 ms.
  Scenario scenario = toy::scenario();
  scenario.cluster.forecast_deviation = Seconds{3e-3};
  scenario.cluster.deviations = {{"nic_bandwidth", 0.1}};
  CHECK(deviation(scenario) == Approx(std::hypot(2.424242e-3, 3e-3)));
  // A second property, an overhead of 20 ms ± 10 %, adds its square: 2 ms.
  scenario.cluster.per_iteration_overhead = Seconds{20e-3};
  scenario.cluster.deviations.push_back({"per_iteration_overhead", 0.1});
  CHECK(deviation(scenario) == Approx(std::hypot(2.424242e-3, 3e-3, 2e-3)));
}

TEST_CASE("A property that moves nothing adds nothing", "[uncertainty]") {
  Scenario scenario = toy::scenario();
  scenario.cluster.forecast_deviation = Seconds{3e-3};
  scenario.cluster.deviations = {{"intra_bandwidth", 0.5}};  // a GPU a node
  CHECK(deviation(scenario) == Approx(3e-3));
  scenario.cluster.deviations = {{"reduction_bandwidth", 0.5}};  // none: nothing to move
  CHECK(deviation(scenario) == Approx(3e-3));
}

TEST_CASE("The spread of replicas joins the interval", "[uncertainty]") {
  Scenario scenario = toy::scenario();
  scenario.cluster.forecast_deviation = Seconds{3e-3};
  CHECK(deviation(scenario, Seconds{4e-3}) == Approx(5e-3));  // 3, 4, 5
}

TEST_CASE("Kernels bring in the spread of their table", "[uncertainty]") {
  // One bucket of 6000 elements: encode 6 ms, decode 3 ms, 10 % of each: root(0.6² + 0.3²) ms. The
  // table's line is straight, so nothing is lost by reading between its points.
  const Scenario scenario = with_spread();
  CHECK(kernel_deviation(make_plan(scenario), scenario).count() ==
        Approx(std::hypot(0.6e-3, 0.3e-3)));
}

TEST_CASE("Kernels of several buckets vary each by itself", "[uncertainty]") {
  // Encode 1, 2, 3 ms and decode half of that: squares of 10 % of them add up to 0.01 x 17.5.
  Scenario scenario = with_spread();
  scenario.fusion = parse_fusion("layer");
  CHECK(kernel_deviation(make_plan(scenario), scenario).count() ==
        Approx(0.1e-3 * std::sqrt(1 + 4 + 9 + 0.25 + 1 + 2.25)));
}

TEST_CASE("Without kernels, or without a spread of theirs, they bring in nothing",
          "[uncertainty]") {
  const Scenario dense = toy::scenario();
  CHECK(kernel_deviation(make_plan(dense), dense) == Seconds{0});
  const Scenario unspread = toy::scenario("topk");  // its 95th percentiles say nothing: 0
  CHECK(kernel_deviation(make_plan(unspread), unspread) == Seconds{0});
  Scenario alone = with_spread();
  alone.cluster.nodes = 1;
  CHECK(kernel_deviation(make_plan(alone), alone) == Seconds{0});
}

TEST_CASE("What reading between a table's points errs by is taken to be alike in all buckets",
          "[uncertainty]") {
  // At 1000 elements the table is twice the line between 100 and 10000: left out, it is forecast by
  // half of itself, and so is decoding: a mean absolute error of 50 %, of a normal with 50 / 0.798
  // = 62.7 % deviation. Two of the three buckets lie between points: 2000 and 3000 elements.
  Scenario scenario = toy::scenario("topk");
  for (const int workers : {1, 16}) {
    CostRow row = scenario.costs->rows.front();
    row.workers = workers;
    row.elements = 1000;
    row.encode = Seconds{2e-3};
    row.decode = Seconds{1e-3};
    scenario.costs.change().rows.push_back(row);
  }
  scenario.fusion = parse_fusion("layer");
  scenario.cluster.nodes = 16;  // a point of the table
  const Plan plan = make_plan(scenario);
  double interpolated = 0;
  for (const PlannedBucket& bucket : plan.buckets)
    if (bucket.cost.interpolated) interpolated += (bucket.cost.encode + bucket.cost.decode).count();
  CHECK(interpolated > 0);
  CHECK(kernel_deviation(plan, scenario).count() ==
        Approx(0.5 / 0.798 * interpolated).epsilon(1e-6));
}
