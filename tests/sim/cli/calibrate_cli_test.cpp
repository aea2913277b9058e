// Measurements and output of `gradcast calibrate`, as a user runs it, on the CPU.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/base/npy.hpp"
#include "tests/run_program.hpp"
#include "tests/sim/cli/calibrating.hpp"

using Catch::Contains;
using namespace gradcast;
using namespace gradcast::calibrating;
using Json = nlohmann::ordered_json;

TEST_CASE("costs that were measured here are what simulate forecasts with", "[cli][slow]") {
  TemporaryFolder folder;
  const std::string costs = (folder.path / "costs.csv").string();
  const Ran measured = gradcast_with(
      calibrate("resnet-50", costs, {"--compressors", "gaussian", "--workers", "1,16"}));
  INFO(measured.err);
  REQUIRE(measured.exit_code == 0);
  const Ran ran = gradcast_runs("simulate", "--model", "resnet-50", "--costs", costs.c_str(),
                                "--compressor", "gaussian", "--format", "json");
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const Json result = Json::parse(ran.out)["results"][0];
  CHECK(result["evidence"] == "measured");
  CHECK(result["implementation"] == "gradcast-cpu");
  CHECK(result["mode"] == "code");
  CHECK(result["encode_seconds"] > 0);
  CHECK_THAT(ran.err, Contains("compressing was timed on ") && Contains("the model on V100"));

  // Every distinct tensor, the model as one, its buckets, and its 161 tensors in one call.
  std::set<std::pair<int, std::int64_t>> sizes;
  double merged = 0;
  for (const CostRow& row : load_cost_table(read_text_file(costs)).rows) {
    sizes.insert({row.tensors, row.elements});
    if (row.tensors == 1 && row.elements == 25'557'032 && row.mode == "code")
      merged = row.encode.count();
    CHECK(row.samples >= 3);
    CHECK(row.encode_p95 >= row.encode);
    CHECK((row.selected > 0 || row.elements < 10'000));  // it may select none of few elements
  }
  CHECK(sizes.contains({161, 25'557'032}));
  CHECK(sizes.contains({1, 64}));
  CHECK(sizes.contains({1, 2'048'000}));
  CHECK(result["encode_seconds"].get<double>() == Approx(merged));
  for (const char* said :
       {"# device: ", "# driver: ", "# toolkit: ", "# clocks: ", "# gradcast: ", "# seed: 1\n",
        "# date: 2", "# command: gradcast calibrate --device cpu "})
    CHECK_THAT(content(costs), Contains(said));
}

TEST_CASE("a recorded vector is timed whole, beside made elements of its size", "[cli]") {
  TemporaryFolder folder;
  const std::string costs = (folder.path / "costs.csv").string();
  std::vector<float> u(3000, 0.0f);
  for (std::size_t i = 0; i < 7; ++i) u[i] = 1;
  const auto timed = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"calibrate",
                                   "--device",
                                   "cpu",
                                   "--compressors",
                                   "topk,gaussian",
                                   "--seconds",
                                   "0.002",
                                   "-o",
                                   costs,
                                   "--workers",
                                   "1",
                                   "--distributions",
                                   "normal," + folder.write("u-9.npy", npy_of(u))};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Ran ran = gradcast_with(timed({"--format", "json"}));
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const Json document = Json::parse(ran.out);
  CHECK_THAT(document["inputs"].dump(), Contains("u-9.npy"));
  std::multiset<std::string> of;
  for (const CostRow& row : load_cost_table(read_text_file(costs)).rows) {
    CHECK(row.elements == 3000);
    of.insert(row.compressor + row.mode + " " + row.distribution);
    // Seven stand out, and k is 3: whatever lies above a threshold is all of them.
    if (row.compressor == "gaussian" && row.distribution == "u-9.npy") CHECK(row.selected == 7);
  }
  CHECK(of == std::multiset<std::string>{"gaussiancode normal", "gaussiancode u-9.npy",
                                         "gaussianpaper normal", "gaussianpaper u-9.npy",
                                         "topk normal", "topk u-9.npy"});
  CHECK_THAT(content(costs), Contains("# u-9.npy: u of 3000 elements, recorded in a training"));
  CHECK(document["results"][5]["most_selected"] == 7);

  u[8] = 5;  // another vector of the same name is not this one
  refuses(timed({}), 3, "its u-9.npy is 'u of 3000 elements");
  refuses(timed({"--models", "lenet-5"}), 2,
          "u-9.npy has 3000 elements, and the models need 61706");
}

TEST_CASE("the table goes to its file and the summary to standard output, in any format", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const std::string costs = (folder.path / "costs.csv").string();
  const std::vector<std::string> less{"--compressors", "topk", "--workers", "1"};
  const Ran table = gradcast_with(calibrate(model, costs, less));
  CHECK_THAT(table.out, Catch::StartsWith("compressor ") && Contains("gradcast-cpu"));
  CHECK_THAT(table.err, Contains("measuring 6 on ") && Contains(", about 1 s\n"));
  CHECK_THAT(table.err, Catch::EndsWith("; use it with `--costs " + costs + "`\n"));
  auto json = less;
  json.insert(json.end(), {"--format", "json", "-q"});
  const Ran ran = gradcast_with(calibrate(model, costs, json));
  CHECK(ran.err.empty());
  const Json document = Json::parse(ran.out);
  CHECK(document["results"][0]["points"] == 6);
  CHECK(document["results"][0]["most_elements"] == 30'100);
  CHECK(document["summary"]["file"] == costs);
  CHECK(document["seed"] == 1);
}

TEST_CASE("a baseline that this device lacks is said to be lacking", "[cli]") {
  TemporaryFolder folder;
  const Ran ran =
      gradcast_with(calibrate(small_model(folder), (folder.path / "costs.csv").string(),
                              {"--compressors", "topk", "--workers", "1", "--baselines", "cub"}));
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.err, Contains("gradcast: no 'cub' on this device"));
}

TEST_CASE("the roofline has its ceiling, and the per-layer table its sum", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const Ran roofline =
      gradcast_runs("calibrate", "--device", "cpu", "--models", model.c_str(), "--roofline",
                    "--seconds", "0.002", "--compressors", "topk", "--format", "json");
  REQUIRE(roofline.exit_code == 0);
  const Json rows = Json::parse(roofline.out)["results"];
  REQUIRE(rows.size() == 3);  // the ceiling; the model as one tensor, and in one call
  CHECK(rows[0]["compressor"] == "ceiling");
  CHECK(rows[1]["recall"] == 1.0);
  CHECK(rows[1]["selected_share"] == 1.0);
  CHECK(rows[2]["tensors"] == 4);

  const std::string trace =
      folder.write("trace.csv",
                   "# device: X\n# batch: 1\ntensor,forward_seconds,backward_seconds\n"
                   "a.w,1,0\na.b,0,1\nb.w,1,1\nc.w,1,0\n");
  const Ran layers = gradcast_runs("calibrate", "--device", "cpu", "--per-layer", model.c_str(),
                                   "--trace", trace.c_str(), "--seconds", "0.002");
  CHECK(layers.exit_code == 0);
  CHECK_THAT(layers.out, Contains("topk, gradcast-cpu") && Contains("gaussian (code)") &&
                             Contains("4 tensors"));
  CHECK_THAT(layers.err, Contains("is of X"));
  refuses({"calibrate", "--device", "cpu", "--per-layer", "resnet-50", "--trace", trace}, 3,
          "is not a trace of model 'resnet-50'");
  CHECK(folder.files() == 2);
}

TEST_CASE("torch's rows stand beside our own, and are left out where it fails", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const std::string costs = (folder.path / "costs.csv").string();
  const std::vector<std::string> more{"--compressors", "topk", "--workers", "1",
                                      "--baselines",   "torch"};
  const auto torch_rows = [&] {
    int rows = 0;
    for (const CostRow& row : load_cost_table(read_text_file(costs)).rows)
      rows += row.implementation == "torch" && row.encode == Seconds{0.5} ? 1 : 0;
    return rows;
  };
  {
    const FakePython none(folder, "echo '{\"error\": \"no torch: No module named torch\"}'\n");
    refuses(calibrate(model, costs, more), 5,
            "--baselines torch: no torch: No module named torch");  // it was asked for by name
    CHECK_FALSE(std::filesystem::exists(costs));
  }
  {
    const FakePython dies(folder, std::string(kTorchGreets) + "read line\n" + kTorchAnswers);
    const Ran ran = gradcast_with(calibrate(model, costs, more));
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.err, Contains("the torch baseline is lost"));
    CHECK(torch_rows() == 1);
  }
  const FakePython works(
      folder, std::string(kTorchGreets) + "while read -r line; do\n" + kTorchAnswers + "done\n");
  CHECK(gradcast_with(calibrate(model, costs, more)).exit_code == 0);
  CHECK(torch_rows() == 6);
  CHECK_THAT(content(costs), Contains("\n# torch: 9.9, fake\n"));
}

// 18 points of 2 ms do not fit into 5 ms. The last run has all the time that it needs.
TEST_CASE("a budget measures some points, says what is missing, and more time goes on", "[cli]") {
  TemporaryFolder folder;
  const std::string out = (folder.path / "costs.csv").string();
  const auto within = [&](const std::string& budget) {
    return gradcast_with(
        calibrate(small_model(folder), out,
                  {"--compressors", "topk,gaussian", "--workers", "1,4", "--budget", budget}));
  };
  const Ran first = within("5ms");
  CHECK(first.exit_code == 0);
  CHECK_THAT(first.err, Contains("all take about") && Contains("not reached: topk"));
  const std::size_t some = keys(out).size();
  CHECK(some >= 2);
  CHECK(some < 36);
  CHECK_THAT(content(out), Contains("# not reached: topk"));
  const Ran rest = within("1min");
  CHECK(rest.exit_code == 0);
  CHECK_THAT(rest.err, !Contains("not reached"));
  CHECK(keys(out).size() == 36);
  CHECK_THAT(content(out), !Contains("# not reached"));
}
