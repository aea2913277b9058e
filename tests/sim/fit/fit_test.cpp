#include "sim/fit/fit.hpp"

#include <catch2/catch.hpp>

#include "kernels/normal_quantile.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "tests/sim/fit/fit_rows.hpp"

using namespace gradcast;
using namespace gradcast::toy;

namespace {

/// Costs of a cluster's software and NIC, and a factor on the cost table.
FitStructure three() {
  return {"three",
          FitErrors::Relative,
          "",
          {parameter("nic_bandwidth", "", "1MBps", "100kBps", "10MBps"),
           parameter("per_iteration_overhead", "", "1ms", "0s", "100ms"),
           parameter("encode_factor", "compressor=topk", "1", "0.1", "20")},
          0};
}

Eigen::VectorXd truth() { return Eigen::Vector3d(1 / 0.7e6, 4e-3, 3.5); }

/// Two GPUs a node share a PCIe path. A message that leaves the node passes it and a NIC of 1 MB/s,
/// and the slower of the two counts.
FitStructure pcie() {
  return {"pcie",
          FitErrors::Relative,
          "",
          {parameter("per_iteration_overhead", "", "1ms", "0s", "100ms"),
           parameter("pcie_bandwidth", "", "5MBps", "200kBps", "10MBps")},
          0};
}

std::vector<FitRow> pcie_rows() {
  std::vector<FitRow> rows = fit_table({"dense"});
  for (FitRow& row : rows) row.scenario.cluster.gpus_per_node = 2;
  return rows;
}

}  // namespace

TEST_CASE("Runs without noise give the parameters that they were made with", "[fit]") {
  const FitStructure structure = three();
  std::vector<FitRow> rows = fit_table({"dense", "topk"});
  measure(rows, structure, truth());
  const Fit fit = fit_rows(pointers(rows), structure, kSearch);
  CHECK(fit.values[0] == Approx(1 / 0.7e6));
  CHECK(fit.values[1] == Approx(4e-3));
  CHECK(fit.values[2] == Approx(3.5));
  CHECK(fit.deviation < 1e-6);
  CHECK(fit.starts_that_agree == 11);
  CHECK(fit.not_told_apart.empty());
}

TEST_CASE("Each parameter lies in its own 95 % interval as often as that says", "[fit]") {
  const FitStructure structure = three();
  std::vector<FitRow> rows = fit_table({"dense", "topk"});
  measure(rows, structure, truth());
  std::vector<Seconds> exact;
  for (const FitRow& row : rows) exact.push_back(row.run.iteration);
  FitOptions options = kSearch;
  options.random_starts = 0;
  std::vector<int> inside(3, 0);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double z = normal_quantile(uniform({seed, 0, Draw::Compute, i}));
      rows[i].run.iteration = exact[i] * (1 + 0.02 * z);
    }
    const Fit fit = fit_rows(pointers(rows), structure, options);
    for (Eigen::Index j = 0; j < 3; ++j) {
      const FittedParameter& parameter = fit.parameters[static_cast<std::size_t>(j)];
      inside[static_cast<std::size_t>(j)] +=
          parameter.low <= truth()[j] && truth()[j] <= parameter.high;
    }
  }
  for (const int times : inside) {
    CHECK(times >= 88);
    CHECK(times <= 100);
  }
}

TEST_CASE("Two parameters that no run tells apart are named, and one stays where it was", "[fit]") {
  // All runs are compressed, in one call each: an iteration's overhead and a call's are the same.
  FitStructure structure{"two",
                         FitErrors::Relative,
                         "",
                         {parameter("per_iteration_overhead", "", "2ms", "0s", "100ms"),
                          parameter("encode_per_call", "compressor=topk", "1ms", "0s", "100ms")},
                         0};
  std::vector<FitRow> rows = fit_table({"topk"});
  measure(rows, structure, Eigen::Vector2d(5e-3, 7e-3));
  const Fit fit = fit_rows(pointers(rows), structure, kSearch);
  REQUIRE(fit.not_told_apart.size() == 1);
  CHECK(fit.not_told_apart[0] == "per_iteration_overhead and encode_per_call (compressor=topk)");
  CHECK(fit.parameters[1].fixed.find("cannot tell") != std::string::npos);
  CHECK(fit.values[1] == Approx(1e-3));   // its start
  CHECK(fit.values[0] == Approx(11e-3));  // all the rest of 12 ms
}

TEST_CASE("A parameter of no run in the fit stays at its start, and what it is of is extrapolated",
          "[fit]") {
  const FitStructure structure = three();
  std::vector<FitRow> rows = fit_table({"dense"});
  std::vector<FitRow> others = fit_table({"topk"}, 1);
  measure(rows, structure, truth());
  const Fit fit = fit_rows(pointers(rows), structure, kSearch);
  CHECK(fit.values[2] == 1);
  CHECK(fit.parameters[2].fixed == "no run of the fit depends on it");
  const FitForecast there =
      forecast(fit, others[0], *find_engine("analytic"), *find_engine("analytic"));
  CHECK(there.extrapolated.find("no run of topk in the fit") != std::string::npos);
  CHECK(there.extrapolated.find("encode_factor (compressor=topk) not estimated") !=
        std::string::npos);
  // Encoding takes 6 ms by the table, and evenly 0.1 to 20 times that: 34 ms of deviation.
  CHECK((there.high - there.result.iteration).count() > 1.6 * 19.9 * 6e-3 / std::sqrt(12));
}

TEST_CASE("Where no parameter is of any run, all stay at their starts", "[fit]") {
  const FitStructure structure{"one",
                               FitErrors::Absolute,
                               "",
                               {parameter("encode_factor", "compressor=topk", "1", "0.1", "20")},
                               0};
  std::vector<FitRow> rows = fit_table({"dense"}, 2);
  measure(rows, structure, Eigen::VectorXd::Ones(1));
  for (FitRow& row : rows) row.run.iteration += Seconds{3e-3};
  const Fit fit = fit_rows(pointers(rows), structure, kSearch);
  CHECK(fit.values[0] == 1);
  CHECK(fit.parameters[0].fixed == "no run of the fit depends on it");
  CHECK(fit.deviation == Approx(3e-3));  // root((3² + 3²) / 2 runs)
}

TEST_CASE("As many parameters as runs leave nothing that says how sure they are", "[fit]") {
  // One run, one overhead: whatever it was, the fit is exact.
  const FitStructure structure{"one",
                               FitErrors::Relative,
                               "",
                               {parameter("per_iteration_overhead", "", "1ms", "0s", "100ms")},
                               0};
  std::vector<FitRow> rows = fit_table({"dense"}, 1);
  measure(rows, structure, Eigen::VectorXd::Constant(1, 4e-3));
  const Fit fit = fit_rows(pointers(rows), structure, kSearch);
  CHECK(fit.values[0] == Approx(4e-3));
  CHECK(fit.deviation < 1e-9);
  CHECK(fit.parameters[0].low == 0);  // its bounds: no run is left to know better by
  CHECK(fit.parameters[0].high == Approx(100e-3));
  // 100 ms evenly have 28.9 ms of deviation, and of Student's t of 1 degree 90 % lie within 6.31.
  const Engine& engine = *find_engine("analytic");
  const FitForecast there = forecast(fit, rows[0], engine, engine);
  CHECK((there.high - there.result.iteration).count() ==
        Approx(6.314 * 100e-3 / std::sqrt(12)).epsilon(1e-3));
}

TEST_CASE("A parameter that nobody knows leaves two runs as far apart as they are", "[fit]") {
  // The overhead above, evenly 0 to 100 ms, is the same in a compressed run: root(2) times as much
  // if the two were independent, but nothing of their difference.
  const FitStructure structure{"one",
                               FitErrors::Relative,
                               "",
                               {parameter("per_iteration_overhead", "", "1ms", "0s", "100ms")},
                               0};
  std::vector<FitRow> rows = fit_table({"dense", "topk"}, 1);
  measure(rows, structure, Eigen::VectorXd::Constant(1, 4e-3));
  const Engine& engine = *find_engine("analytic");
  const Fit fit = fit_rows({&rows[0]}, structure, kSearch);
  const FitForecast dense = forecast(fit, rows[0], engine, engine);
  const FitForecast topk = forecast(fit, rows[1], engine, engine);
  const double alone = 6.314 / 1.644854 * 100e-3 / std::sqrt(12);
  CHECK(std::sqrt(variance_of(dense.deviations)) == Approx(alone).epsilon(1e-3));
  CHECK(std::sqrt(variance_of_difference(dense.deviations, topk.deviations)) < 1e-3 * alone);
}

TEST_CASE("A parameter that works only beyond a kink is found from a start on the flat side",
          "[fit]") {
  // By its start PCIe is faster than the NIC, and moves nothing; measured, it was slower.
  const FitStructure structure = pcie();
  std::vector<FitRow> rows = pcie_rows();
  measure(rows, structure, Eigen::Vector2d(4e-3, 1 / 0.5e6));
  const Fit fit = fit_rows(pointers(rows), structure, kSearch);
  CHECK(fit.parameters[1].fixed == "");
  CHECK(fit.values[1] == Approx(1 / 0.5e6));
  CHECK(fit.values[0] == Approx(4e-3));
  for (const FittedParameter& each : fit.parameters) {
    CHECK(std::isfinite(each.low));
    CHECK(std::isfinite(each.high));
  }
}

TEST_CASE("A parameter that moves nothing stays at its start, though others do as well", "[fit]") {
  // PCIe at 8 MB/s and at 5 MB/s give the same runs; nobody measured either.
  const FitStructure structure = pcie();
  std::vector<FitRow> rows = pcie_rows();
  measure(rows, structure, Eigen::Vector2d(4e-3, 1 / 8e6));
  const Fit fit = fit_rows(pointers(rows), structure, kSearch);
  CHECK(fit.parameters[1].fixed == "no run of the fit depends on it");
  CHECK(fit.values[1] == 1 / 5e6);
  CHECK(fit.values[0] == Approx(4e-3));
}

TEST_CASE("A forecast beyond the sizes of the fit says in what", "[fit]") {
  const FitStructure structure = three();
  std::vector<FitRow> rows = fit_table({"dense", "topk"}, 3);
  std::vector<FitRow> wider = {fit_row("dense", 4)};
  measure(rows, structure, truth());
  const Fit fit = fit_rows(pointers(rows), structure, kSearch);
  const Engine& engine = *find_engine("analytic");
  CHECK(forecast(fit, wider[0], engine, engine).extrapolated == "elements 24000 above 18000");
  CHECK(forecast(fit, rows[0], engine, engine).extrapolated.empty());
}

TEST_CASE("Nothing that is fitted leaves what is physical", "[fit]") {
  const FitStructure structure = three();
  std::vector<FitRow> rows = fit_table({"dense", "topk"});
  measure(rows, structure, Eigen::Vector3d(1 / 0.7e6, 0, 3.5));
  // Runs a little faster than no overhead at all would make them.
  for (FitRow& row : rows) row.run.iteration -= Seconds{1e-3};
  const Fit fit = fit_rows(pointers(rows), structure, kSearch);
  CHECK(fit.values[1] == 0);
  CHECK(fit.parameters[1].at_bound);
}

TEST_CASE("Absolute errors weigh seconds, relative ones shares", "[fit]") {
  // One overhead, two runs: 10 ms too long on the short one, none on the long one. Absolute: 5 ms
  // for both. Relative: nearer to what the short one says.
  FitStructure structure{"one",
                         FitErrors::Absolute,
                         "",
                         {parameter("per_iteration_overhead", "", "0s", "0s", "1s")},
                         0};
  std::vector<FitRow> rows = {fit_row("dense", 1), fit_row("dense", 50)};
  measure(rows, structure, Eigen::VectorXd::Zero(1));
  rows[0].run.iteration += Seconds{10e-3};
  CHECK(fit_rows(pointers(rows), structure, kSearch).values[0] == Approx(5e-3));
  structure.errors = FitErrors::Relative;
  CHECK(fit_rows(pointers(rows), structure, kSearch).values[0] > 9.9e-3);
}

TEST_CASE("Overheads of two parameters add up, and two rates of one run are refused", "[fit]") {
  FitStructure structure{"sum",
                         FitErrors::Absolute,
                         "",
                         {parameter("per_iteration_overhead", "", "0s", "0s", "1s"),
                          parameter("per_iteration_overhead", "compressor=topk", "0s", "0s", "1s")},
                         0};
  const FitRow row = fit_row("topk", 1);
  CHECK(with_parameters(row, structure, Eigen::Vector2d(1e-3, 2e-3))
            .cluster.per_iteration_overhead.count() == Approx(3e-3));
  structure.parameters = {
      parameter("nic_bandwidth", "", "1MBps", "100kBps", "10MBps"),
      parameter("nic_bandwidth", "compressor=topk", "1MBps", "100kBps", "10MBps")};
  CHECK_THROWS_AS(with_parameters(row, structure, Eigen::Vector2d(1e-6, 1e-6)), ValueError);
}
