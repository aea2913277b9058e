#include "sim/fit/fitted_files.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "tests/sim/fit/fit_rows.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using namespace gradcast::toy;
using Catch::Contains;

namespace {

constexpr const char* kCluster =
    "# Two machines under a desk.\n"
    "property,value,source\n"
    "nodes,4,counted\n"
    "gpus_per_node,1,\"counted, twice\"\n"
    "nic_bandwidth,9Gbps,the label\n"
    "nic_latency,20us,\"guessed, \"\"about\"\"\"\n"
    "intra_bandwidth,10GBps,the label\n"
    "per_iteration_overhead,1ms,guessed\n";

/// Top-k at points that the models of these tests have (ResNet-50, AlexNet) and around them.
std::string cost_rows(const char* evidence, const char* p95_of_encode = nullptr) {
  std::string text =
      "# device: V100\n"
      "compressor,mode,implementation,tensors,elements,density,workers,distribution,selected,"
      "encode_seconds,encode_p95_seconds,decode_seconds,decode_p95_seconds,samples,evidence\n";
  for (const std::int64_t elements : {1'000'000, 25'557'032, 61'100'840, 100'000'000})
    for (const int workers : {1, 4, 16}) {
      const double encode = 4e-9 * static_cast<double>(elements);
      text += csv_line(
          {"topk", "", "toy", "1", std::to_string(elements), "0.001", std::to_string(workers),
           "normal", std::to_string(elements / 1000), number_to_text(encode),
           p95_of_encode == nullptr ? number_to_text(1.2 * encode) : p95_of_encode, "0.002",
           p95_of_encode == nullptr ? "0.003" : p95_of_encode, "5", evidence});
    }
  return text;
}

constexpr const char* kMeasuredHeader =
    "source,model,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,fusion,"
    "overlap,iteration_seconds,costs,collective,nccl\n";

/// Files of a test's own beside the project's models and traces.
struct Desk {
  TemporaryFolder folder;
  DataFiles files{GRADCAST_SOURCE_DIR};
  std::string cluster = folder.write("desk.csv", kCluster);
  std::string costs = folder.write("cost-desk.csv", cost_rows("published"));

  /// ResNet-50 and AlexNet, dense and top-k, on that cluster with those costs. `sends`: the
  /// collective and NCCL's version.
  std::vector<FitRow> rows(const std::string& on, const std::string& with,
                           const std::string& sends = ",") {
    std::string text = kMeasuredHeader;
    for (const std::string model : {"resnet-50,128,0.46", "alexnet,128,0.08"})
      for (const int nodes : {4, 2, 3}) {
        const std::string shape = "," + on + "," + std::to_string(nodes) + ",1,";
        text += "desk," + model + shape + "dense,1,merged,no,1," + with + "," + sends + "\n";
        if (nodes == 4)
          text += "desk," + model + shape + "topk,0.001,merged,no,1," + with + "," + sends + "\n";
      }
    return fit_rows_of(load_measured_runs({"measured-desk.csv", text}), files);
  }

  std::vector<FittedFile> fitted(const Fit& fit) {
    return fitted_files(fit, "measured-desk", files);
  }

  std::string save(const FittedFile& file) {
    return folder.write(std::filesystem::path(file.path).filename().string(), file.content);
  }
};

FitStructure structure_of(std::vector<FitParameter> parameters,
                          FitErrors errors = FitErrors::Relative) {
  return {"desk", errors, "", std::move(parameters), 0};
}

FitStructure all_three() {
  return structure_of({parameter("nic_bandwidth", "", "9Gbps", "1Gbps", "10Gbps"),
                       parameter("per_iteration_overhead", "", "1ms", "0s", "100ms"),
                       parameter("encode_factor", "compressor=topk", "1", "0.1", "20")});
}

/// Measured as those parameters have it, one run 2 % longer and one shorter.
Fit fit_of(std::vector<FitRow>& rows, const FitStructure& structure, const Eigen::VectorXd& truth) {
  measure(rows, structure, truth);
  rows.front().run.iteration *= 1.02;
  rows.back().run.iteration *= 0.98;
  return fit_rows(pointers(rows), structure, kSearch);
}

/// Lines that are no comments and begin so.
std::vector<std::string> lines_of(const std::string& text, const std::string& beginning) {
  std::vector<std::string> found;
  for (const std::string& line : split_words(text, '\n'))
    if (!line.starts_with('#') && line.starts_with(beginning)) found.push_back(line);
  return found;
}

}  // namespace

TEST_CASE("A fitted cluster and fitted costs forecast what the fit forecasts", "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure structure = all_three();
  const Fit fit = fit_of(rows, structure, Eigen::Vector3d(8 / 7e9, 4e-3, 1.5));
  const auto made = desk.fitted(fit);
  REQUIRE(made.size() == 2);
  CHECK(made[0].path == "platforms/desk-fitted.csv");
  CHECK(made[1].path == "traces/cost-desk-fitted.csv");
  const auto again = desk.rows(desk.save(made[0]), desk.save(made[1]));
  const Engine& engine = *find_engine("analytic");
  const auto by_fit = forecasts(pointers(rows), structure, fit.values, engine);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].run.model << " " << rows[i].run.compressor << " on " << rows[i].run.nodes);
    // Four digits of each number are written.
    CHECK(run(again[i].scenario, engine).iteration.count() ==
          Approx(by_fit[static_cast<Eigen::Index>(i)]).epsilon(5e-4));
  }
}

// A ring and NCCL's rule take different times: numbers fitted with one are wrong with the other.
TEST_CASE("A fitted cluster sends as the runs that it was fitted to", "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs, "nccl,2.18");
  const auto made = desk.fitted(fit_of(rows, all_three(), Eigen::Vector3d(8 / 7e9, 4e-3, 1.5)));
  CHECK_THAT(made[0].content, Contains("# collective: nccl\n# nccl: 2.18\n"));
  const FitRow again = desk.rows(desk.save(made[0]), desk.save(made[1]))[0];
  CHECK(again.request.collective == "nccl");
  CHECK(again.request.nccl == "2.18");
  Request named = again.request;
  named.collective = "ring-all-reduce";
  CHECK(with_fitted_collective(named, desk.files) == named);

  std::vector<FitRow> rings = desk.rows(desk.cluster, desk.costs);
  std::erase_if(rings, [](const FitRow& row) { return row.run.compressor != "dense"; });
  for (FitRow& row : rings) row.request.collective = "ring-all-reduce";
  const auto other = desk.fitted(fit_of(rings, all_three(), Eigen::Vector3d(8 / 7e9, 4e-3, 1.5)));
  CHECK_THAT(other[0].content, !Contains("collective:"));
}

TEST_CASE("A fitted cluster beside the costs of another fit is found out", "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure structure = all_three();
  const auto saved = [&](double factor) {
    return desk.fitted(fit_of(rows, structure, Eigen::Vector3d(8 / 7e9, 4e-3, factor)));
  };
  const auto old = saved(1.5);
  const auto made = saved(2);
  const auto forecast_with = [&](const FittedFile& cluster, const FittedFile& costs) {
    const std::string on = desk.save(cluster);
    const std::string with = desk.save(costs);
    DataFiles files{GRADCAST_SOURCE_DIR};  // files read before stay read
    Request request;
    request.model = "resnet-50";
    request.compressor = "topk";
    request.cluster = on;
    request.costs = with;
    return make_scenario(request, files);
  };
  CHECK_NOTHROW(forecast_with(old[0], old[1]));
  CHECK_NOTHROW(forecast_with(made[0], made[1]));
  // Killed between the two names: the costs come first.
  CHECK_THROWS_WITH(forecast_with(old[0], made[1]),
                    Contains("desk-fitted.csv: was fitted with another content of ") &&
                        Contains("cost-desk-fitted.csv (`gradcast fit --save` was cut off"));
}

TEST_CASE("A fitted cluster says what it left unexplained and how sure each value is", "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  for (const FitErrors errors : {FitErrors::Relative, FitErrors::Absolute}) {
    FitStructure structure = all_three();
    structure.errors = errors;
    const Fit fit = fit_of(rows, structure, Eigen::Vector3d(8 / 7e9, 4e-3, 1.5));
    const Cluster cluster = load_cluster({"desk-fitted.csv", desk.fitted(fit)[0].content});
    const bool relative = errors == FitErrors::Relative;
    CHECK(cluster.forecast_deviation_share == Approx(relative ? fit.deviation : 0).epsilon(1e-3));
    CHECK(cluster.forecast_deviation.count() == Approx(relative ? 0 : fit.deviation).epsilon(1e-3));
    REQUIRE(cluster.deviations.size() == 2);
    CHECK(cluster.deviations[0].property == "nic_bandwidth");
    CHECK(cluster.deviations[0].share ==
          Approx(std::sqrt(fit.covariance(0, 0)) / fit.values[0]).epsilon(1e-3));
  }
}

TEST_CASE("A fitted file says on what it was fitted and what it was made from", "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure structure = all_three();
  for (const FittedFile& file :
       desk.fitted(fit_of(rows, structure, Eigen::Vector3d(8 / 7e9, 4e-3, 1.5)))) {
    INFO(file.content);
    CHECK_THAT(file.content, Contains("--measured measured-desk`") &&
                                 Contains("8 runs of measured-desk (alexnet, resnet-50); "
                                          "structure desk"));
    CHECK_THAT(file.content, Contains("95 % interval"));
  }
}

TEST_CASE("What no run depends on stays as the cluster's file has it", "[fit]") {
  Desk desk;
  desk.cluster =
      desk.folder.write("desk.csv", std::string(kCluster) + "computing_slowdown,7%,the label\n");
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  // Nothing overlaps, so that no collective runs while its GPU computes.
  const FitStructure structure =
      structure_of({parameter("per_iteration_overhead", "", "1ms", "0s", "100ms"),
                    parameter("computing_slowdown", "", "50%", "0%", "100%"),
                    parameter("encode_per_tensor", "compressor=dgc", "3ms", "0s", "100ms")});
  const Fit fit = fit_of(rows, structure, Eigen::Vector3d(4e-3, 0.5, 3e-3));
  REQUIRE(fit.parameters[1].fixed == "no run of the fit depends on it");
  const auto made = desk.fitted(fit);
  REQUIRE(made.size() == 1);
  INFO(made[0].content);
  const Cluster cluster = load_cluster({"desk-fitted.csv", made[0].content});
  CHECK(cluster.computing_slowdown == 0.07);
  CHECK(lines_of(made[0].content, "computing_slowdown,") ==
        std::vector<std::string>{"computing_slowdown,7%,the label,"});
  CHECK_THAT(made[0].content, Contains("Left as it was: computing_slowdown, not estimated"));
  CHECK(cluster.per_iteration_overhead.count() == Approx(4e-3).epsilon(0.5));
}

TEST_CASE("A fit that estimated nothing writes nothing", "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure structure =
      structure_of({parameter("computing_slowdown", "", "50%", "0%", "100%")});
  CHECK(desk.fitted(fit_of(rows, structure, Eigen::VectorXd::Constant(1, 0.5))).empty());
}

// The runs are faster than the fastest NIC that is physical: its file must not say that they know
// it exactly. From 1 to 10 Gb/s as likely each: the root of the mean square distance from 10 is 9 /
// sqrt(3) = 5.196, 52 %.
TEST_CASE("A value at its bound is known no better than its bounds", "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure structure =
      structure_of({parameter("nic_bandwidth", "", "9Gbps", "1Gbps", "10Gbps"),
                    parameter("per_iteration_overhead", "", "1ms", "0s", "100ms")});
  const Fit fit = fit_of(rows, structure, Eigen::Vector2d(8 / 12e9, 4e-3));
  REQUIRE(fit.parameters[0].at_bound);
  const auto made = desk.fitted(fit);
  const Cluster cluster = load_cluster({"desk-fitted.csv", made[0].content});
  REQUIRE(!cluster.deviations.empty());
  CHECK(cluster.deviations[0].property == "nic_bandwidth");
  CHECK(cluster.deviations[0].share == Approx(9 / std::sqrt(3.0) / 10).epsilon(1e-3));
}

// 0 to 100 ms as likely each: 57.74 ms from 0. A share of 0 would say nothing.
TEST_CASE("A value of 0 at its bound has a deviation too", "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure structure =
      structure_of({parameter("per_iteration_overhead", "", "1ms", "0s", "100ms")});
  measure(rows, structure, Eigen::VectorXd::Constant(1, 0));
  for (FitRow& row : rows) row.run.iteration *= 0.97;
  const Fit fit = fit_rows(pointers(rows), structure, kSearch);
  REQUIRE(fit.parameters[0].at_bound);
  const auto made = desk.fitted(fit);
  INFO(made[0].content);
  const Cluster cluster = load_cluster({"desk-fitted.csv", made[0].content});
  CHECK(cluster.per_iteration_overhead == Seconds{0});
  REQUIRE(cluster.deviations.size() == 1);
  CHECK(cluster.deviations[0].of_zero == "57.74ms");
  // The effect of one deviation is half of the difference of the two ends.
  const auto [low, high] = one_deviation_about(cluster, cluster.deviations[0]);
  CHECK(low.per_iteration_overhead == Seconds{0});
  CHECK(high.per_iteration_overhead.count() == Approx(2 * 57.74e-3));
}

TEST_CASE("A line that is written anew does not stand twice, and quotes of the others survive",
          "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure structure = all_three();
  const auto made = desk.fitted(fit_of(rows, structure, Eigen::Vector3d(8 / 7e9, 4e-3, 1.5)));
  const std::string& text = made[0].content;
  CHECK(lines_of(text, "nic_bandwidth,").size() == 1);
  CHECK(lines_of(text, "per_iteration_overhead,").size() == 1);
  CHECK(lines_of(text, "gpus_per_node,") ==
        std::vector<std::string>{"gpus_per_node,1,\"counted, twice\","});
  CHECK(lines_of(text, "nic_latency,") ==
        std::vector<std::string>{"nic_latency,20us,\"guessed, \"\"about\"\"\","});
  CHECK(load_cluster({"desk-fitted.csv", text}).nic.latency.count() == Approx(20e-6));
}

TEST_CASE("What was fitted can be fitted again", "[fit]") {
  // Its file has a column of deviations, and says what the first fit left unexplained.
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure relative = all_three();
  const auto first = desk.fitted(fit_of(rows, relative, Eigen::Vector3d(8 / 7e9, 4e-3, 1.5)));
  rows = desk.rows(desk.save(first[0]), desk.costs);
  const FitStructure absolute = structure_of(
      {parameter("per_iteration_overhead", "", "1ms", "0s", "100ms")}, FitErrors::Absolute);
  const Fit fit = fit_of(rows, absolute, Eigen::VectorXd::Constant(1, 6e-3));
  const auto second = desk.fitted(fit);
  INFO(second[0].content);
  const Cluster cluster = load_cluster({"x.csv", second[0].content});
  CHECK(cluster.per_iteration_overhead.count() == Approx(fit.values[0]).epsilon(1e-3));
  // The second fit's, not both.
  CHECK(cluster.forecast_deviation.count() == Approx(fit.deviation).epsilon(1e-3));
  CHECK(cluster.forecast_deviation_share == 0);
  // The first fit's uncertainty of the NIC is still stated.
  REQUIRE(cluster.deviations.size() == 2);
  CHECK(cluster.deviations[1].property == "nic_bandwidth");
}

TEST_CASE("A cluster's columns may stand in any order", "[fit]") {
  Desk desk;
  const std::string turned = desk.folder.write("turned.csv",
                                               "source,property,value\n"
                                               "counted,nodes,4\n"
                                               "counted,gpus_per_node,1\n"
                                               "label,nic_bandwidth,9Gbps\n"
                                               "label,intra_bandwidth,10GBps\n");
  std::vector<FitRow> rows = desk.rows(turned, desk.costs);
  const FitStructure structure = all_three();
  const Fit fit = fit_of(rows, structure, Eigen::Vector3d(8 / 7e9, 4e-3, 1.5));
  const Cluster cluster = load_cluster({"turned-fitted.csv", desk.fitted(fit)[0].content});
  CHECK(cluster.nodes == 4);
  CHECK(1 / cluster.nic.bandwidth.value == Approx(fit.values[0]).epsilon(1e-3));
}

TEST_CASE("What no file can say is refused", "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure of_some =
      structure_of({parameter("nic_bandwidth", "compressor=dense", "9Gbps", "1Gbps", "10Gbps")});
  CHECK_THROWS_WITH(desk.fitted(fit_of(rows, of_some, Eigen::VectorXd::Constant(1, 8 / 7e9))),
                    Contains("'nic_bandwidth (compressor=dense)' does not apply to all runs on ") &&
                        Contains("a cluster file cannot say that"));
  const FitStructure two_ways =
      structure_of({parameter("encode_factor", "compressor=topk model=alexnet", "1", "0.1", "20")});
  CHECK_THROWS_WITH(desk.fitted(fit_of(rows, two_ways, Eigen::VectorXd::Constant(1, 2))),
                    Contains("costs of topk are corrected in two ways"));
  const FitStructure twice =
      structure_of({parameter("per_iteration_overhead", "", "1ms", "0s", "100ms"),
                    parameter("per_iteration_overhead", "source=desk", "1ms", "0s", "100ms")});
  CHECK_THROWS_WITH(desk.fitted(fit_of(rows, twice, Eigen::Vector2d(1e-3, 2e-3))),
                    Contains("are the same property of"));
}

TEST_CASE("Costs that a fit did not change are not written", "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure structure =
      structure_of({parameter("per_iteration_overhead", "", "1ms", "0s", "100ms")});
  const auto made = desk.fitted(fit_of(rows, structure, Eigen::VectorXd::Constant(1, 5e-3)));
  REQUIRE(made.size() == 1);
  CHECK(made[0].path == "platforms/desk-fitted.csv");
}

TEST_CASE("A name keeps its dots", "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows("10gbe-4x4", "cost-v100-pytorch-1.1");
  const FitStructure structure = all_three();
  const auto made = desk.fitted(fit_of(rows, structure, Eigen::Vector3d(8 / 7e9, 4e-3, 1.5)));
  REQUIRE(made.size() == 2);
  CHECK(made[0].path == "platforms/10gbe-4x4-fitted.csv");
  CHECK(made[1].path == "traces/cost-v100-pytorch-1.1-fitted.csv");
}

TEST_CASE("A cost row is its factor times the table and its calls and elements, of its device",
          "[fit]") {
  Desk desk;
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure structure =
      structure_of({parameter("encode_factor", "compressor=topk", "1", "0.1", "20"),
                    parameter("decode_factor", "compressor=topk", "1", "0.1", "20")});
  Fit fit = fit_of(rows, structure, Eigen::Vector2d(2, 1));
  fit.values = Eigen::Vector2d(2, 3);
  const CostTable table = load_cost_table({"x.csv", desk.fitted(fit).back().content});
  CHECK(table.device == "V100");
  // 4 ns x 1 M elements = 4 ms, twice is 8 ms; the 95th percentile stays 0.8 ms above it. Decode:
  // 3 x 2 ms, and 1 ms above.
  const CostRow& row = table.rows.front();
  CHECK(row.encode.count() == Approx(8e-3));
  CHECK(row.encode_p95.count() == Approx(8.8e-3));
  CHECK(row.decode.count() == Approx(6e-3));
  CHECK(row.decode_p95.count() == Approx(7e-3));
  CHECK(row.evidence == "derived");
}

TEST_CASE("A measurement that a fit changed is no measurement any more", "[fit]") {
  Desk desk;
  desk.costs = desk.folder.write("cost-measured.csv", cost_rows("measured"));
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure structure =
      structure_of({parameter("encode_factor", "compressor=topk", "1", "0.1", "20")});
  const Fit fit = fit_of(rows, structure, Eigen::VectorXd::Constant(1, 2));
  const CostTable table = load_cost_table({"x.csv", desk.fitted(fit).back().content});
  CHECK(table.rows.front().evidence == "derived");
}

TEST_CASE("A table without 95th percentiles is corrected to one that can be read", "[fit]") {
  Desk desk;
  desk.costs = desk.folder.write("cost-bare.csv", cost_rows("published", "0"));
  std::vector<FitRow> rows = desk.rows(desk.cluster, desk.costs);
  const FitStructure structure =
      structure_of({parameter("encode_factor", "compressor=topk", "1", "0.1", "20")});
  const Fit fit = fit_of(rows, structure, Eigen::VectorXd::Constant(1, 0.5));
  const CostTable table = load_cost_table({"x.csv", desk.fitted(fit).back().content});
  CHECK(table.rows.front().encode.count() == Approx(fit.values[0] * 4e-3).epsilon(1e-3));
  CHECK(table.rows.front().encode_p95 >= Seconds{0});
}
