#include "sim/compare/verdicts.hpp"

#include <catch2/catch.hpp>

#include "sim/compare/setups.hpp"
#include "tests/sim/compare/compared.hpp"

using namespace gradcast;

namespace {

/// A compressed run of a set-up of its own, beside dense at 1 s: so many times as fast.
std::vector<ComparedRun> beside_dense(double measured, double predicted) {
  std::vector<ComparedRun> runs{compared("dense", 1, 1),
                                compared("topk", 1 / measured, 1 / predicted)};
  add_speedups(runs);
  return runs;
}

Verdicts sure_verdicts(double measured, double predicted, RatioInterval interval) {
  std::vector<ComparedRun> runs = beside_dense(measured, predicted);
  runs[1].speedup_interval = interval;
  return verdicts_of(runs);
}

}  // namespace

TEST_CASE("a verdict is right where the forecast is on the measured side of 1", "[comparison]") {
  CHECK(verdicts_of(beside_dense(2, 1.1)).right == 1);
  CHECK(verdicts_of(beside_dense(0.5, 0.9)).right == 1);
  CHECK(verdicts_of(beside_dense(2, 0.9)).wrong == 1);
  CHECK(verdicts_of(beside_dense(0.5, 1.1)).wrong == 1);
  CHECK(verdicts_of(beside_dense(0.5, 1.1)).pairs() == 1);
}

TEST_CASE("a run within 3 % of dense has no verdict, but is counted as such", "[comparison]") {
  for (const double measured : {1.029, 0.971}) {
    CHECK(verdicts_of(beside_dense(measured, 2)).pairs() == 0);
    CHECK(verdicts_of(beside_dense(measured, 2)).too_close == 1);
  }
  CHECK(verdicts_of(beside_dense(1.031, 2)).pairs() == 1);
  CHECK(verdicts_of(beside_dense(0.969, 2)).pairs() == 1);
}

TEST_CASE("a forecast is sure where its interval excludes 1", "[comparison]") {
  CHECK(sure_verdicts(2, 1.5, {1.2, 1.8}).sure == 1);
  CHECK(sure_verdicts(2, 1.5, {1.2, 1.8}).sure_and_wrong == 0);
  CHECK(sure_verdicts(0.5, 1.5, {1.2, 1.8}).sure_and_wrong == 1);
  CHECK(sure_verdicts(2, 0.8, {0.7, 0.9}).sure_and_wrong == 1);
  CHECK(sure_verdicts(2, 0.9, {0.7, 1.2}).sure == 0);  // wrong, but it said that it may be
  CHECK(sure_verdicts(2, 0.9, {0.7, 1.2}).wrong == 1);
  CHECK(sure_verdicts(1.01, 1.5, {1.2, 1.8}).sure == 0);  // too close
}

TEST_CASE("what pays for sure is said by the whole interval", "[comparison]") {
  ComparedRun run = compared("topk", 2, 2);
  CHECK(run.pays_sure().empty());
  run.speedup_interval = {1.1, 3};
  CHECK(run.pays_sure() == "yes");
  run.speedup_interval = {0.2, 0.9};
  CHECK(run.pays_sure() == "no");
  run.speedup_interval = {0.9, 1.1};
  CHECK(run.pays_sure().empty());
}

TEST_CASE("no verdict is of dense, an upper bound, or a row that does not count", "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 1, 1), compared("dense", 2, 2),
                                compared("topk", 0.5, 0.5), outside(compared("dgc", 0.5, 0.5))};
  runs[2].run.compressing = false;
  add_speedups(runs);
  CHECK(*runs[2].measured_speedup == Approx(2));  // shown all the same
  CHECK(verdicts_of(runs).pairs() == 0);
  // Nor over a dense run that the model does not claim.
  runs = {outside(compared("dense", 1, 1)), compared("topk", 0.5, 0.5)};
  add_speedups(runs);
  CHECK(verdicts_of(runs).pairs() == 0);
}

TEST_CASE("each algorithm has its verdicts", "[comparison]") {
  std::vector<ComparedRun> runs{compared("dense", 1, 1), compared("topk", 2, 2),
                                compared("dgc", 0.5, 2)};
  add_speedups(runs);
  CHECK(verdicts_of(runs, by_algorithm(runs), "topk").right == 1);
  CHECK(verdicts_of(runs, by_algorithm(runs), "dgc").wrong == 1);
  CHECK(verdicts_of(runs).pairs() == 2);
}

// 100 < 104 < 110 s measured: 104 is within 5 % of 100, but 110 is farther from both. Forecast
// 3 > 2 > 1 s, so that both orders are wrong; with 1 < 2 < 3 s both are right.
TEST_CASE("methods more than 5 % apart have an order, and dense is none of them", "[comparison]") {
  const auto orders = [](double a, double b, double c) {
    return method_orders_of({compared("dense", 50, 9), compared("topk", 100, a),
                             compared("dgc", 104, b), compared("gaussian", 110, c)});
  };
  CHECK(orders(1, 2, 3).pairs == 2);
  CHECK(orders(1, 2, 3).right == 2);
  CHECK(orders(3, 2, 1).right == 0);
  CHECK(orders(1, 1, 1).right == 0);  // names none
}
