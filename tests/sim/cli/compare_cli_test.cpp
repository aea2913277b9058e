#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

Json compared(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"compare", "--format", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ran ran = gradcast_with(arguments);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out);
}

}  // namespace

TEST_CASE("Table 2 has sixteen rows, with the columns of the design", "[cli]") {
  const Ran ran = gradcast_runs("compare", "--format", "csv");
  REQUIRE(ran.exit_code == 0);
  const auto lines = gradcast::split_words(ran.out, '\n');
  REQUIRE(lines.size() == 18);  // header, 16 rows, and nothing after the last line break
  for (const char* column : {"source",
                             "model",
                             "batch",
                             "compute_seconds",
                             "cluster",
                             "nodes",
                             "gpus_per_node",
                             "compressor",
                             "density",
                             "fusion",
                             "overlap",
                             "iteration_seconds",
                             "measured_seconds",
                             "predicted_seconds",
                             "error_percent",
                             "measured_efficiency",
                             "predicted_efficiency",
                             "measured_speedup",
                             "predicted_speedup",
                             "unexplained_seconds"}) {
    CAPTURE(column);
    CHECK_THAT("," + lines[0] + ",", Contains("," + std::string(column) + ","));
  }
}

TEST_CASE("unfitted, dense is within 20 % and Top-k within 6 % on every row", "[cli]") {
  int rows = 0;
  const Json document = compared();
  for (const Json& row : document["results"]) {
    const double error = std::abs(row["error_percent"].get<double>());
    CAPTURE(row["model"], row["compressor"], error);
    if (row["compressor"] == "dense") CHECK(error <= 20);
    if (row["compressor"] == "topk") CHECK(error <= 6);
    ++rows;
  }
  CHECK(rows == 16);
}

// Every published row of DGC and Gaussian-k takes longer than its forecast. The difference is
// shown, not hidden: if a change makes it vanish without a fit, something else has broken.
TEST_CASE("DGC and Gaussian-k stand as they come out, with what is unexplained", "[cli]") {
  int rows = 0;
  const Json document = compared();
  for (const Json& row : document["results"]) {
    if (row["compressor"] != "dgc" && row["compressor"] != "gaussian") continue;
    ++rows;
    CAPTURE(row["model"], row["compressor"]);
    const double unexplained = row["unexplained_seconds"].get<double>();
    CHECK(unexplained > 0.05);
    CHECK(unexplained < 0.25);
    CHECK(unexplained ==
          Approx(row["measured_seconds"].get<double>() - row["predicted_seconds"].get<double>()));
    CHECK(row["evidence"] == "derived");
  }
  CHECK(rows == 8);
}

TEST_CASE("the engines give the same errors", "[cli]") {
  const Json by_default = compared();
  const Json analytic = compared({"--engine", "analytic"});
  for (std::size_t i = 0; i < 16; ++i)
    CHECK(by_default["results"][i]["predicted_seconds"].get<double>() ==
          Approx(analytic["results"][i]["predicted_seconds"].get<double>()).epsilon(1e-3));
}

TEST_CASE("the summary is of the rows above it", "[cli]") {
  const Json document = compared();
  double sum = 0;
  for (const Json& row : document["results"]) sum += std::abs(row["error_percent"].get<double>());
  const Json& summary = document["summary"];
  CHECK(summary["mean_absolute_error_percent"].get<double>() == Approx(sum / 16));
  CHECK(summary["by_compressor"]["topk"]["rows"] == 4);
  CHECK(summary["speedups"].size() == 12);  // four models, Gaussian-k over the three others
}

// Table 2: 0.571 / 0.245 = 2.33, 0.891 / 0.245 = 3.64, 0.369 / 0.245 = 1.51 on AlexNet.
TEST_CASE("the table ends with forecast beside measured speedups", "[cli]") {
  const Ran ran = gradcast_runs("compare");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("an input,\nnot a forecast"));
  CHECK_THAT(ran.out, Contains("mean absolute") && Contains("overall") && Contains("unexplained"));
  for (const char* speedup : {"2.33", "3.64", "1.51"})
    CHECK_THAT(ran.out.substr(ran.out.find("speedup of")), Contains(speedup));
}

TEST_CASE("a row beyond --max-error answers with 4, and the rows are printed all the same",
          "[cli]") {
  const Ran ran = gradcast_runs("compare", "--max-error", "20%");
  CHECK(ran.exit_code == 4);
  CHECK_THAT(ran.err, Contains("more than --max-error 20 %"));
  CHECK_THAT(ran.out, Contains("overall"));
  CHECK(gradcast_runs("compare", "--max-error", "99").exit_code == 0);
}

// The ring of 8 ranks sends 14 messages of 10.2 ms over each NIC, one after another; with a latency
// of 10 ms each next one has arrived when it is due, so that only the last one's shows.
TEST_CASE("a row may have a NIC of its own", "[cli]") {
  TemporaryFolder folder;
  const std::string header =
      "source,model,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,fusion,"
      "overlap,iteration_seconds,nic_bandwidth,nic_latency\n";
  const std::string row = "me,resnet-50,128,0.46,10gbe-4x4,2,4,dense,1,merged,no,0.7,";
  const std::string own = folder.write(
      "own.csv", header + row + "10Gbps,0\n" + row + "10Gbps,10ms\n" + row + "20Gbps,0\n");
  const Json document = compared({"--measured", own});
  const auto predicted = [&](int i) {
    return document["results"][i]["predicted_seconds"].get<double>();
  };
  CHECK(predicted(1) - predicted(0) == Approx(0.01).epsilon(1e-6));
  const double wire = 2 * 7.0 / 8 * 4 * 25'557'032 / 1.25e9;
  CHECK(predicted(0) - predicted(2) == Approx(wire / 2).epsilon(1e-6));
}

TEST_CASE("users bring measurements of their own, and are told the line that is wrong", "[cli]") {
  TemporaryFolder folder;
  const std::string header =
      "source,model,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,fusion,"
      "overlap,iteration_seconds\n";
  const std::string own =
      folder.write("own.csv", header + "me,resnet-50,64,0.2,10gbe-4x4,2,4,dense,1,25MiB,yes,0.4\n");
  const Ran ran = gradcast_runs("compare", "--measured", own.c_str(), "--format", "csv");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("me,resnet-50,64,0.2,10gbe-4x4,2,4,dense,1,,25MiB,yes,0.4,"
                               "iteration-resnet-50-v100,,,ring-all-reduce,9.43Gbps,26.6us,,8,1,"));

  const std::string wrong = folder.write(
      "wrong.csv", header + "me,resnet50,64,0.2,10gbe-4x4,2,4,dense,1,25MiB,yes,0.4\n");
  const Ran refused = gradcast_runs("compare", "--measured", wrong.c_str());
  CHECK(refused.exit_code == 3);
  CHECK(refused.out.empty());
  CHECK_THAT(refused.err,
             Contains("wrong.csv:2: unknown model 'resnet50'; did you mean 'resnet-50'?"));
}

// One job on 8 nodes is 1.5 times what a ring needs; its share of adding up was fitted on the rows
// of one job. Rows of several jobs are forecasts: 8 rings share each NIC, and the adding goes on
// once.
TEST_CASE("--stack takes a file from where the user is, not from beside the measured runs",
          "[cli]") {
  const TemporaryFolder folder;
  const std::filesystem::path stack = folder.path / "mine.csv";
  std::filesystem::copy_file(
      std::filesystem::path(GRADCAST_SOURCE_DIR) / "platforms/stack-paper.csv", stack);
  const std::string from_here = std::filesystem::relative(stack).string();
  const Json by_path = compared({"--engine", "analytic", "--stack", from_here});
  const Json by_name = compared({"--engine", "analytic", "--stack", "paper"});
  for (std::size_t i = 0; i < by_name["results"].size(); ++i)
    CHECK(by_path["results"][i]["predicted_seconds"] == by_name["results"][i]["predicted_seconds"]);
}

TEST_CASE("jobs that share a network: the growth from one to eight is within 15 %", "[cli]") {
  const Json document = compared({"--measured", "measured-contention-10gbe"});
  double measured[9] = {};
  double predicted[9] = {};
  for (const Json& row : document["results"]) {
    if (row["nodes"] != 8) continue;
    const int jobs = row["concurrent_jobs"].get<int>();
    measured[jobs] = row["measured_seconds"].get<double>();
    predicted[jobs] = row["predicted_seconds"].get<double>();
  }
  const double growth = measured[8] / measured[1];
  CHECK(growth == Approx(1.232869 / 0.241320).epsilon(1e-4));
  CHECK(predicted[8] / predicted[1] == Approx(growth).epsilon(0.15));
}

TEST_CASE("--explain names what alone would explain each large error", "[cli]") {
  const Ran ran = gradcast_runs("compare", "--measured", "measured-mg-wfbp-dense", "--explain",
                                "--format", "json");
  REQUIRE(ran.exit_code == 0);
  const Json document = Json::parse(ran.out);
  REQUIRE(document["results"].size() == 24);
  int explained = 0;
  for (const Json& row : document["results"]) {
    const bool large = std::abs(row["error_percent"].get<double>()) > 10;
    const auto suspects = row["suspects"].get<std::string>();
    CAPTURE(row["model"], row["cluster"], row["fusion"], suspects);
    CHECK(suspects.empty() == !large);
    // One collective an iteration has nothing to negotiate.
    if (large && row["fusion"] == "merged") CHECK_THAT(suspects, !Contains("negotiation"));
    if (large && row["fusion"] == "layer") CHECK_THAT(suspects, Contains("per_tensor_negotiation"));
    explained += large ? 1 : 0;
  }
  CHECK(explained > 5);
}

// The parts of each row add up to what was measured, but for what is hidden under computing.
TEST_CASE("--split says where the time of each row goes", "[cli]") {
  const Json document = compared({"--split"});
  for (const Json& row : document["results"]) {
    double sum = 0;
    double shares = 0;
    for (const char* part :
         {"computing", "codec", "exposed_communication", "overhead_and_wait", "unexplained"}) {
      sum += row[std::string(part) + "_seconds"].get<double>();
      shares += row[std::string(part) + "_share_percent"].get<double>();
    }
    CHECK(sum == Approx(row["measured_seconds"].get<double>()));
    CHECK(shares == Approx(100));
  }
  CHECK_THAT(gradcast_runs("compare", "--split").out,
             Contains("Where the time goes by the forecast") && Contains("exposed comm."));
}

// Table 2 has gaussian < dgc < dense < topk on each of its four models.
TEST_CASE("the forecast ranks Table 2's algorithms as they were measured", "[cli]") {
  const Json summary = compared()["summary"];
  CHECK(summary["rankings_total"] == 4);
  CHECK(summary["rankings_right"] == 4);
  CHECK(summary["rankings"][0]["forecast"] == Json{"gaussian", "dgc", "dense", "topk"});
  CHECK(summary["rankings"][0]["ranks"] == 16);
  CHECK_THAT(gradcast_runs("compare").out, Contains("came out right in all 4 set-ups: gaussian < "
                                                    "dgc < dense < topk."));
}

// Dense was fused by Horovod, all others ran layer by layer. One of Top-k's 8 runs, DGC's 4 and
// Rand-k's 8 is within 3 % of dense: 0.465342 / 0.470176 = 0.99. The 20 upper bounds have no
// verdict.
TEST_CASE("compressed runs are held against the fastest dense run of another schedule", "[cli]") {
  const Json document =
      compared({"--measured", "measured-grace-resnet50-10g", "--engine", "analytic"});
  const Json& verdicts = document["summary"]["verdicts"];
  CHECK(verdicts["pairs"] == 19);
  CHECK(verdicts["too_close"] == 1);
  CHECK(verdicts["right"].get<int>() + verdicts["wrong"].get<int>() == 19);
  // 4 densities of 3 methods, with and without memory as one, all more than 5 % apart: 12 x 11 / 2.
  CHECK(document["summary"]["orders"]["pairs"] == 66);
  CHECK(document["summary"]["rankings"][0]["measured"].size() == 13);
  for (const Json& row : document["results"]) {
    CHECK(row["dense_fusion"] == document["results"][0]["fusion"]);
    CHECK(row["measured_speedup"].get<double>() ==
          Approx(0.465342 / row["iteration_seconds"].get<double>()));
  }
  for (const Json& pair : document["summary"]["speedups"])
    CHECK(pair["over"] != pair["compressor"]);
}

TEST_CASE("summaries are by algorithm, by model and by source", "[cli]") {
  const Json summary = compared({"--measured", "measured-mg-wfbp-dense"})["summary"];
  CHECK(summary["by_model"]["resnet-50"]["rows"] == 6);
  CHECK(summary["by_source"]["shi-tpds-16xV100"]["rows"] == 18);
  CHECK(summary["by_source"]["shi-tpds-16xV100"]["bias"] == "too fast");
  // There is but one algorithm, with three schedules: four models on two clusters each.
  CHECK(summary["rankings_total"] == 8);
  CHECK(summary["verdicts"]["pairs"] == 0);
}

TEST_CASE("rows outside the model are shown, and break no bound", "[cli]") {
  TemporaryFolder folder;
  const std::string own = folder.write(
      "own.csv",
      "source,model,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,fusion,"
      "overlap,iteration_seconds,outside\n"
      "me,resnet-50,128,0.46,10gbe-4x4,4,4,dense,1,merged,no,0.63,\n"
      "me,resnet-50,128,0.46,10gbe-4x4,4,4,topk,0.001,merged,no,9,stale gradients\n");
  const Ran ran = gradcast_runs("compare", "--measured", own.c_str(), "--max-error", "5%");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("resnet-50 !") && Contains("counted nowhere: stale gradients"));
  const Json document = compared({"--measured", own});
  CHECK(document["results"][1]["outside"] == "stale gradients");
  CHECK(document["summary"]["rows"] == 1);
  CHECK(document["summary"]["rows_outside_model"] == 1);
}
