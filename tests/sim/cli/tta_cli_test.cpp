// Time to accuracy as a user asks for it. The trainings are invented (tests/sim/tta/trainings).
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sim/base/units.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

std::string trainings(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names)
    list += (list.empty() ? "" : ",") +
            (GRADCAST_SOURCE_DIR "/tests/sim/tta/trainings/" + name + ".json");
  return list;
}

const std::string kDense = trainings({"dense-1", "dense-2", "dense-3"});
const std::string kTopk = trainings({"topk-1", "topk-2", "topk-3"});

std::vector<std::string> asked(const std::vector<std::string>& more) {
  std::vector<std::string> words{"tta", "--model", "fnn-3", "--engine", "analytic"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Json tta(std::vector<std::string> more) {
  more.insert(more.end(), {"--format", "json"});
  const Ran ran = gradcast_with(asked(more));
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out);
}

double simulated_seconds(std::vector<std::string> more) {
  more.insert(more.begin(), {"simulate", "--model", "fnn-3", "--engine", "analytic"});
  more.insert(more.end(), {"--format", "json"});
  return Json::parse(gradcast_with(more).out)["results"][0]["iteration_seconds"];
}

}  // namespace

// Dense reached 85 % after 200, 210 and 220 iterations, Top-k after 500, 410 and 420 (their shift
// of 10 and 20 included).
TEST_CASE("time to accuracy is iterations times what simulate says", "[cli][tta]") {
  const Json rows = tta({"--training", kDense + "," + kTopk, "--target", "85", "--against", "same",
                         "--nic-bandwidth", "1Gbps"})["results"];
  REQUIRE(rows.size() == 4);
  CHECK(rows[0]["compressor"] == "dense");
  CHECK(rows[0]["iterations"] == 210);
  CHECK(rows[1]["iterations"] == 420);
  const double dense = simulated_seconds({"--nic-bandwidth", "1Gbps"});
  const double topk = simulated_seconds({"--nic-bandwidth", "1Gbps", "--compressor", "topk"});
  CHECK(rows[1]["iteration_seconds"].get<double>() == Approx(topk));
  CHECK(rows[1]["time_to_accuracy_seconds"].get<double>() == Approx(420 * topk));
  CHECK(rows[1]["iterations_ratio"].get<double>() == Approx(2));
  CHECK(rows[1]["time_to_accuracy_ratio"].get<double>() == Approx(2 * topk / dense));
  CHECK(rows[1]["needed_iteration_ratio"].get<double>() == Approx(0.5));
  CHECK(rows[1]["time_to_accuracy_seconds_low"].get<double>() <= 420 * topk);
  CHECK(rows[1]["time_to_accuracy_seconds_high"].get<double>() >= 420 * topk);
}

TEST_CASE("a target that no training reached has no time, only a bound", "[cli][tta]") {
  const Json document =
      tta({"--training", kDense + "," + kTopk, "--target", "87", "--fitted", "none"});
  const Json& row = document["results"][1];
  CHECK(row["seeds_reached"] == 0);
  CHECK(row["iterations"].is_null());
  CHECK(row["time_to_accuracy_seconds"].is_null());
  CHECK(row["time_to_accuracy_seconds_high"].is_null());
  CHECK(row["at_least_seconds"].get<double>() ==
        Approx(500 * row["iteration_seconds"].get<double>()));
  CHECK_THAT(document["summary"]["sentences"][1].get<std::string>(),
             Contains("did not reach 87 % in 500 iterations: at least"));
}

// Twice the iterations: time to accuracy breaks even where Top-k's iteration takes half of dense's.
// Density 0.001: c = 1000, c^4 / (2c - 1)^2 = 10^12 / 1999^2 = 250,250; c^2 = 10^6.
TEST_CASE("Theorem 2's order stands beside the iterations that Top-k took", "[cli][tta]") {
  const Json document = tta({"--training", kDense + "," + kTopk, "--target", "85"});
  CHECK_THAT(
      document["summary"]["sentences"].dump(),
      Contains("Theorem 2's order of iterations after which Top-k at the density 0.001 "
               "converges as dense does is 250250 (with 1 - k/d 1000000); in these trainings "
               "topk took 420 iterations to 85 %, 2 times dense's."));
}

TEST_CASE("the bandwidth at which time to accuracy breaks even", "[cli][tta]") {
  const Json document =
      tta({"--training", kDense + "," + kTopk, "--target", "85", "--over", "nic-bandwidth",
           "--from", "1Gbps", "--to", "100Gbps", "--against", "same", "--fitted", "none"});
  const Json& rows = document["break_evens"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["by"] == "iteration time");
  CHECK(rows[1]["by"] == "time to accuracy");
  const auto ratio_at = [&](const Json& row, double share) {
    const double at = gradcast::parse_rate(row["at"].get<std::string>()).value;
    const std::string rate = gradcast::to_text(gradcast::BytesPerSecond{at * share});
    return simulated_seconds({"--nic-bandwidth", rate, "--compressor", "topk"}) /
           simulated_seconds({"--nic-bandwidth", rate});
  };
  CHECK(ratio_at(rows[0], 1) == Approx(1).epsilon(0.001));
  CHECK(ratio_at(rows[1], 1) == Approx(0.5).epsilon(0.001));
  CHECK(ratio_at(rows[1], 0.99) < 0.5);
}

TEST_CASE("curves have each evaluation over its seconds", "[cli][tta]") {
  const Ran ran = gradcast_with(
      asked({"--training", kDense, "--curve", "--fitted", "none", "--format", "csv"}));
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 1 + 3 * 4);
  const Json rows = tta({"--training", kDense, "--curve", "--fitted", "none"})["curves"];
  CHECK(rows[3]["iteration"] == 300);
  CHECK(rows[3]["test_accuracy_percent"] == 87);
  CHECK(rows[3]["seconds"].get<double>() == Approx(300 / 80.0 * rows[0]["seconds"].get<double>()));
}

// The training sent 57 of k = 199 elements: 0.29.
TEST_CASE("a training that sent less than k is forecast with what it sent", "[cli][tta]") {
  const TemporaryFolder folder;
  const std::string counts = folder.write("counts.csv",
                                          "iteration,worker,elements,density,wanted,sent\n"
                                          "1,1,199210,0.001,199,57\n");
  const Json document = tta({"--training", kDense + "," + trainings({"gaussian-1"}), "--target",
                             "80", "--against", "same", "--fitted", "none"});
  const Json& row = document["results"][1];
  CHECK(row["sent_share"].get<double>() == Approx(57 / 199.0));
  CHECK(row["iteration_seconds"].get<double>() ==
        simulated_seconds({"--compressor", "gaussian", "--counts", counts}));
  CHECK(row["iteration_seconds_of_k"].get<double>() ==
        simulated_seconds({"--compressor", "gaussian"}));
  CHECK(row["iteration_seconds"] < row["iteration_seconds_of_k"]);
  CHECK_THAT(document["summary"].dump(),
             Contains("In training gaussian (code) sent 0.29 of the elements that its density asks "
                      "for, and so does the forecast: its iteration takes"));
  // Top-k sent k: there is no other forecast.
  CHECK(tta({"--training", kDense + "," + kTopk, "--target",
             "80"})["results"][1]["iteration_seconds_of_k"]
            .is_null());
}

TEST_CASE("what cannot be multiplied is refused in one line", "[cli][tta]") {
  refuses({"tta", "--model", "fnn-3"}, 2, "--training is missing");
  refuses(asked({"--training", kDense, "--compressor", "topk"}), 2,
          "--compressor is what the trainings say: leave it out");
  refuses(asked({"--training", kDense, "--nodes", "8"}), 2,
          "the cluster has 32 GPUs: how many iterations it takes depends on the workers; use "
          "--nodes 4");
  refuses({"tta", "--training", kDense, "--model", "lenet-5"}, 2,
          "lenet-5 has 61706 parameters, and fnn-3");
  refuses(asked({"--training", kDense, "--target", "good"}), 2, "'good' is no target");
  refuses(asked({"--training", kDense, "--over", "nodes"}), 2,
          "would change how many iterations a training takes");
  refuses(asked({"--training", kTopk, "--over", "nic-bandwidth"}), 2, "no training is of dense");
  refuses(asked({"--training", "absent.json"}), 3, "absent.json");
  const TemporaryFolder folder;
  std::filesystem::copy(trainings({"dense-1"}), folder.path / "again.json");
  refuses(asked({"--training", kDense + "," + (folder.path / "again.json").string()}), 3,
          "is the same training as in");
  refuses(asked({"--training", folder.write("a.json", "{\"results\": [{\"network\": 1}]}")}), 3,
          "a.json: results row 1");
}

// Rank 4 sends about twice what rank 2, the usual one, does: a forecast of the usual one is
// shorter.
TEST_CASE("a training's parameter is that of its forecast", "[cli][tta]") {
  const TemporaryFolder folder;
  const auto trained = [&](const std::string& name, std::vector<std::string> more) {
    const std::string file = (folder.path / (name + ".json")).string();
    more.insert(more.begin(), {"train", "--dataset", "made", "--workers", "4", "--epochs", "1",
                               "--batch", "128", "-q", "-o", file});
    REQUIRE(gradcast_with(more).exit_code == 0);
    return file;
  };
  const std::string files =
      trained("dense", {}) + "," +
      trained("four", {"--compressor", "powersgd", "--parameter", "4"}) + "," +
      trained("qsgd", {"--compressor", "qsgd", "--parameter", "3"}) + "," +
      trained("threshold", {"--compressor", "threshold"}) + "," +
      trained("levels", {"--compressor", "qsgd", "--parameter", "3", "--shared-scale", "yes"});
  const std::vector<std::string> where{"--cluster", "1gbe", "--nodes", "4", "--gpus-per-node", "1"};
  std::vector<std::string> more{"--training", files,  "--target", "best",
                                "--against",  "same", "--fitted", "none"};
  more.insert(more.end(), where.begin(), where.end());
  const Json document = tta(more);
  const Json& rows = document["results"];
  REQUIRE(rows.size() == 5);
  const auto alone = [&](std::vector<std::string> its) {
    its.insert(its.end(), where.begin(), where.end());
    its.insert(its.end(), {"--batch", "128"});
    return simulated_seconds(its);
  };
  CHECK(rows[1]["iteration_seconds"].get<double>() ==
        Approx(alone({"--compressor", "powersgd", "--parameter", "4"})));
  CHECK(rows[2]["iteration_seconds"].get<double>() ==
        Approx(alone({"--compressor", "qsgd", "--parameter", "3"})));
  // Its workers shared a scale: an all-reduce carries that.
  CHECK(rows[4]["iteration_seconds"].get<double>() ==
        Approx(alone(
            {"--compressor", "qsgd", "--parameter", "3", "--collective", "ring-all-reduce"})));
  CHECK(rows[4]["iteration_seconds"].get<double>() !=
        Approx(rows[2]["iteration_seconds"].get<double>()).epsilon(1e-6));
  CHECK(alone({"--compressor", "powersgd"}) <
        alone({"--compressor", "powersgd", "--parameter", "4"}));
  // The share that passed a threshold is the density of its forecast.
  const double passed = rows[3]["sent_share"];
  CHECK(passed > 0);
  CHECK(passed < 1);
  CHECK(rows[3]["iteration_seconds"].get<double>() ==
        Approx(alone({"--compressor", "threshold", "--density", std::to_string(passed)}))
            .epsilon(1e-3));
  CHECK(document.dump().find("its density asks for") == std::string::npos);
}
