// The example of measurements of one's own: its numbers are what its comments say, and it can be
// compared, fitted and saved from any directory.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "sim/fit/row_model.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

const fs::path kExample = fs::path(GRADCAST_SOURCE_DIR) / "traces" / "examples";
const std::string kMeasured = (kExample / "measured.csv").string();
const std::string kStructures = (kExample / "structures.csv").string();

Json answer_to(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json", "--quiet"});
  const Ran ran = gradcast_with(arguments);
  CAPTURE(arguments, ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out);
}

/// The current directory is another one for as long as this lives.
struct InFolder {
  fs::path before = fs::current_path();
  explicit InFolder(const fs::path& folder) { fs::current_path(folder); }
  ~InFolder() { fs::current_path(before); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;
};

/// $GRADCAST_DATA is another one for as long as this lives.
struct WithData {
  std::string before;
  explicit WithData(const fs::path& folder) {
    if (const char* set = std::getenv("GRADCAST_DATA")) before = set;
    setenv("GRADCAST_DATA", folder.c_str(), 1);
  }
  ~WithData() {
    before.empty() ? unsetenv("GRADCAST_DATA") : setenv("GRADCAST_DATA", before.c_str(), 1);
  }
  WithData(const WithData&) = delete;
  WithData& operator=(const WithData&) = delete;
};

/// A copy of the example, to be changed.
struct Copy : TemporaryFolder {
  Copy() { fs::copy(kExample, path, fs::copy_options::recursive); }

  std::string at(const std::string& name) const { return (path / name).string(); }

  /// All places of a text in a file become another.
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read_text_file(path / name).content;
    std::size_t found = text.find(from);
    REQUIRE(found != std::string::npos);
    for (; found != std::string::npos; found = text.find(from, found + to.size()))
      text.replace(found, from.size(), to);
    write(name, text);
  }
};

/// The values to be found, as the comments of measured.csv state them.
Eigen::VectorXd truth() { return Eigen::Vector3d(1 / parse_rate("8.5Gbps").value, 6e-3, 1.25); }

std::vector<FitRow> example_rows() {
  DataFiles files{GRADCAST_SOURCE_DIR};
  return fit_rows_of(load_measured_runs(files.read(kMeasuredRuns, kMeasured)), files);
}

FitStructures example_structures() {
  DataFiles files{GRADCAST_SOURCE_DIR};
  return load_fit_structures(files.read(kFitStructures, kStructures));
}

}  // namespace

// Words, two blocks of 3 + 1 + 4 + 4 square matrices, a norm and the head. Width 768:
// 2 x 10,000 x 768 + 24 x 768 x 768 + 2 x 768 = 29,517,312, and of a sentence of 64 words
// 2 x 64 x (24 x 768 x 768 + 10,000 x 768) operations.
TEST_CASE("the example's models have the parameters that their width gives", "[example]") {
  DataFiles files{GRADCAST_SOURCE_DIR};
  for (const std::int64_t width : {512, 768, 1024}) {
    const std::string name = "my-transformer-" + std::to_string(width) + ".csv";
    const TextFile file = files.read(kModels, name, kExample);
    const Model model = load_model(file);
    CAPTURE(name);
    CHECK(model.tensors.size() == 12);
    CHECK(model.elements() == 2 * 10'000 * width + 24 * width * width + 2 * width);
    CHECK(model.forward_flops() ==
          static_cast<double>(2 * 64 * (24 * width * width + 10'000 * width)));
    if (width == 768) CHECK_THAT(file.content, Contains("29,517,312 parameters"));
  }
}

// Batch 32 is the trace. An update takes 2 ms, so that of width 768 batch 64 takes
// 2 x (0.015963 - 0.002) + 0.002 = 0.029926 s and 4 micro-steps 4 x (0.015963 - 0.002) + 0.002 =
// 0.057852 s.
TEST_CASE("the example's compute times are those of its traces", "[example]") {
  DataFiles files{GRADCAST_SOURCE_DIR};
  for (const FitRow& row : example_rows()) {
    CAPTURE(row.run.line);
    const IterationTrace trace =
        load_iteration_trace(files.read(kIterationTraces, row.run.trace, kExample));
    CHECK(trace.batch == 32);
    const double steps = row.run.batch / 32.0;
    CHECK(row.run.compute.count() ==
          Approx(steps * (trace.iteration().count() - 0.002) + 0.002).epsilon(1e-9));
  }
}

// Times are written to 0.1 ms, which of the shortest, 17.1 ms, is 0.6 %, half of it rounded away.
TEST_CASE("the example's times are forecasts of what its comments say, off by 3 % at most",
          "[example]") {
  const std::vector<FitRow> rows = example_rows();
  const FitStructures structures = example_structures();
  const FitStructure& structure = structures.find("software-kernels");
  REQUIRE(structure.parameters.size() == 3);
  REQUIRE(rows.size() == 31);
  for (const FitRow& row : rows) {
    CAPTURE(row.run.line);
    const double forecast = forecasts({&row}, structure, truth(), *find_engine("analytic"))[0];
    const double by_hand = row.run.outside.empty() ? 1 : 1.6;
    const double rest = row.run.iteration.count() / (by_hand * forecast) - 1;
    CHECK(std::abs(rest) < 0.033);
    if (!row.run.measured_encode) continue;
    const Plan plan = make_plan(with_parameters(row, structure, truth()));
    CHECK(row.run.measured_encode->count() ==
          Approx(plan.buckets.at(0).cost.encode.count()).epsilon(0.016));
  }
}

TEST_CASE("the example's fit finds what its times were made with", "[example]") {
  const Json document = answer_to({"fit", "--measured", kMeasured, "--structures", kStructures});
  const Json& fit = document["summary"]["fit"];
  CHECK(fit["runs"] == 30);  // the one that another job disturbed is not claimed
  CHECK(fit["not_told_apart"].empty());
  REQUIRE(fit["parameters"].size() == 3);
  for (int i = 0; i < 3; ++i) {
    const Json& parameter = fit["parameters"][static_cast<std::size_t>(i)];
    CAPTURE(parameter);
    CHECK(parameter["number_low"].get<double>() < truth()[i]);
    CHECK(parameter["number_high"].get<double>() > truth()[i]);
    CHECK(parameter["number"].get<double>() == Approx(truth()[i]).epsilon(0.03));
  }
}

// Every model is forecast by a fit on the two others. Off by 3 % by hand, and by no more than that
// again by what the fit makes of it.
TEST_CASE("the example's models are forecast by fits that have not seen them", "[example]") {
  const Json document = answer_to(
      {"fit", "--measured", kMeasured, "--structures", kStructures, "--leave-one-out", "model"});
  const Json& summary = document["summary"];
  CHECK(summary["folds"].size() == 3);
  CHECK(summary["structures"].size() == 3);
  CHECK(summary["nested"]["chosen"] ==
        Json{"software-kernels", "software-kernels", "software-kernels"});
  CHECK(summary["mean_absolute_error_percent"].get<double>() < 3);
  CHECK(summary["unfitted"]["mean_absolute_error_percent"].get<double>() > 15);
  for (const Json& row : document["results"])
    if (row["outside"] == "") CHECK(std::abs(row["error_percent"].get<double>()) < 6);
}

// The default structure has no parameter for the compressors, which take 1.25 times as long as the
// table says: it finds the goodput and leaves more than the 3 % unexplained.
TEST_CASE("without --structures the default is fitted, and leaves unexplained what it lacks",
          "[example]") {
  const Json document = answer_to({"fit", "--measured", kMeasured});
  const Json& fit = document["summary"]["fit"];
  CHECK(document["summary"]["structure"] == "software");
  CHECK(fit["parameters"].size() == 3);
  CHECK(fit["parameters"][0]["parameter"] == "nic_bandwidth");
  CHECK(fit["parameters"][0]["number"].get<double>() == Approx(truth()[0]).epsilon(0.1));
  CHECK(fit["deviation"].get<double>() > 0.05);
}

TEST_CASE("the example is the same from any directory, and its paths are printed as typed",
          "[example]") {
  TemporaryFolder elsewhere;
  const auto compared = [&](const fs::path& from, const std::string& measured) {
    const InFolder in(from);
    return answer_to({"compare", "--measured", measured});
  };
  const Json there = compared(kExample, "measured.csv");
  for (const Json& other : {compared(elsewhere.path, kMeasured),
                            compared(GRADCAST_SOURCE_DIR, "traces/examples/measured.csv"),
                            compared(kExample.parent_path(), "../traces/examples/measured.csv")})
    CHECK(other["results"] == there["results"]);
  REQUIRE(there["inputs"].size() ==
          11);  // measured, cluster, three models and traces, stacks by NCCL and by MPI, costs
  CHECK(there["inputs"][0]["path"] == "measured.csv");
  CHECK(there["inputs"][1]["path"] == "my-transformer-512.csv");
  CHECK(there["inputs"][2]["path"] == "my-transformer-512-my-gpu.csv");
  CHECK(there["inputs"][3]["path"] == "my-cluster.csv");
  CHECK(there["results"][0]["trace"] == "my-transformer-512-my-gpu.csv");
}

TEST_CASE("a row's files are those beside it, whatever the current directory holds", "[example]") {
  const Copy copy;
  copy.replace("my-cluster.csv", "10Gbps", "1Gbps");
  const InFolder in(copy.path);  // its my-cluster.csv is slower
  const Json here = answer_to({"compare", "--measured", "measured.csv"});
  const Json there = answer_to({"compare", "--measured", kMeasured});
  CHECK(here["results"][0]["nic_bandwidth"] == "1Gbps");
  CHECK(there["results"][0]["nic_bandwidth"] == "10Gbps");
}

TEST_CASE("the example needs nothing of the project but costs, and stacks for its intervals",
          "[example]") {
  const Copy copy;
  const TemporaryFolder data;
  fs::create_directory(data.path / "models");
  fs::create_directory(data.path / "traces");
  fs::copy(fs::path(GRADCAST_SOURCE_DIR) / "traces" / "cost-v100-pytorch-1.1.csv",
           data.path / "traces");
  fs::create_directory(data.path / "platforms");
  fs::copy(fs::path(GRADCAST_SOURCE_DIR) / "platforms" / "stack-population.csv",
           data.path / "platforms");
  const Json with_all = answer_to({"compare", "--measured", kMeasured});
  const WithData only(data.path);
  const InFolder in(data.path);
  CHECK(answer_to({"compare", "--measured", copy.at("measured.csv")})["results"] ==
        with_all["results"]);
  CHECK(answer_to({"fit", "--measured", copy.at("measured.csv"), "--structures",
                   copy.at("structures.csv")})["summary"]["fit"]["runs"] == 30);
}

// The fit explains the rows it was fitted to: their error falls from 21 % to 1.5 %, the size of the
// changes made by hand.
TEST_CASE("what the example's fit saves is what compare and simulate go on with", "[example]") {
  const Copy copy;
  const Ran fitted =
      gradcast_runs("fit", "--measured", copy.at("measured.csv").c_str(), "--structures",
                    copy.at("structures.csv").c_str(), "--save", copy.at("saved").c_str());
  CAPTURE(fitted.err);
  REQUIRE(fitted.exit_code == 0);
  CHECK_THAT(fitted.err, Contains("saved/platforms/my-cluster-fitted.csv") &&
                             Contains("saved/traces/cost-v100-pytorch-1.1-fitted.csv"));
  copy.replace("measured.csv", "my-cluster.csv,", "saved/platforms/my-cluster-fitted.csv,");
  copy.replace("measured.csv", ",cost-v100-pytorch-1.1,",
               ",saved/traces/cost-v100-pytorch-1.1-fitted.csv,");
  const Json compared = answer_to({"compare", "--measured", copy.at("measured.csv")});
  CHECK(compared["summary"]["mean_absolute_error_percent"].get<double>() < 2);
  CHECK(compared["results"][0]["interval_low_seconds"].is_number());  // the cluster is a fitted one

  const Json simulated = answer_to(
      {"simulate", "--model", copy.at("my-transformer-768.csv"), "--trace",
       copy.at("my-transformer-768-my-gpu.csv"), "--cluster",
       copy.at("saved/platforms/my-cluster-fitted.csv"), "--costs",
       copy.at("saved/traces/cost-v100-pytorch-1.1-fitted.csv"), "--compressor", "gaussian"});
  CHECK(simulated["results"][0]["iteration_seconds"].get<double>() == Approx(0.0263).epsilon(0.02));

  // The software alone is a stack, which goes with any cluster. It states the parts that it lacks.
  const std::string stack = copy.at("saved/platforms/stack-measured.csv");
  const std::string text = read_text_file(stack).content;
  CHECK_THAT(text, Contains("per_iteration_overhead,,") && Contains("sources: my-lab"));
  const Json elsewhere =
      answer_to({"simulate", "--model", copy.at("my-transformer-768.csv"), "--trace",
                 copy.at("my-transformer-768-my-gpu.csv"), "--cluster", "25gbe", "--stack", stack});
  CHECK(elsewhere["results"][0]["iteration_seconds"].get<double>() >
        elsewhere["results"][0]["physics_seconds"].get<double>());
}

TEST_CASE("a row's path that leads nowhere is named as it was tried", "[example]") {
  const Copy copy;
  copy.replace("measured.csv", ",my-cluster.csv,", ",my-clutser.csv,");
  refuses(
      {"compare", "--measured", copy.at("measured.csv")}, 3,
      "measured.csv:10: " + copy.at("my-clutser.csv") + ": cannot read this file: No such file");
}

// A flag's path begins where the user is, a row's beside its file: here both are called costs.csv.
TEST_CASE("the paths of flags begin in the current directory, also beside rows of the same name",
          "[example]") {
  const Copy copy;
  const TemporaryFolder elsewhere;
  const fs::path table = fs::path(GRADCAST_SOURCE_DIR) / "traces" / "cost-v100-pytorch-1.1.csv";
  fs::copy(table, copy.path / "costs.csv");
  fs::copy(table, elsewhere.path / "costs.csv");
  std::ofstream(elsewhere.path / "costs.csv", std::ios::app) << "# of another folder\n";
  copy.replace("measured.csv", ",cost-v100-pytorch-1.1,", ",costs.csv,");
  const InFolder in(elsewhere.path);
  const Json document =
      answer_to({"compare", "--measured", copy.at("measured.csv"), "--costs", "costs.csv"});
  std::vector<std::string> read;
  for (const Json& input : document["inputs"])
    if (input["path"] == "costs.csv") read.push_back(input["sha256"]);
  REQUIRE(read.size() == 2);
  CHECK(read[0] != read[1]);

  // The device is taken from the row's own table, which is not in the current directory.
  fs::remove(elsewhere.path / "costs.csv");
  const Ran scaled = gradcast_runs("compare", "--measured", copy.at("measured.csv").c_str(),
                                   "--costs-of", "v100", "--scale-costs-to", "h200");
  CAPTURE(scaled.err);
  CHECK(scaled.exit_code == 0);
  CHECK_THAT(scaled.err, Contains("costs of costs.csv are scaled from v100 to h200"));
}

// Columns in another order and the line ends of Windows; then the fitted file is fitted once more.
TEST_CASE("what is saved is whole, whatever the cluster's file looks like", "[example]") {
  const Copy copy;
  copy.write("my-cluster.csv",
             "value,property,source\r\n8,nodes,counted\r\n1,gpus_per_node,\"counted, twice\"\r\n"
             "10Gbps,nic_bandwidth,x\r\n20us,nic_latency,x\r\n10GBps,intra_bandwidth,x\r\n");
  const auto save = [&](const std::string& to) {
    answer_to({"fit", "--measured", copy.at("measured.csv"), "--structures",
               copy.at("structures.csv"), "--starts", "0", "--save", copy.at(to)});
  };
  const auto content = [&](const std::string& name) {
    return read_text_file(copy.path / name).content;
  };
  save("once");
  CHECK_THAT(content("once/platforms/my-cluster-fitted.csv"),
             Contains("\nnodes,8,counted,\ngpus_per_node,1,\"counted, twice\",\n"));
  copy.replace("measured.csv", ",my-cluster.csv,", ",once/platforms/my-cluster-fitted.csv,");
  save("twice");
  copy.replace("measured.csv", "once/platforms/my-cluster-fitted.csv",
               "twice/platforms/my-cluster-fitted-fitted.csv");
  CHECK(answer_to({"compare", "--measured", copy.at("measured.csv")})["results"].size() == 31);
}

TEST_CASE("mistakes in one's own files are named with file and line", "[example]") {
  const auto refused = [](const std::string& file, const std::string& from, const std::string& to,
                          int exit_code, const std::string& says,
                          std::vector<std::string> more = {}) {
    const Copy copy;
    copy.replace(file, from, to);
    std::vector<std::string> arguments{
        "fit",    "--measured", copy.at("measured.csv"), "--structures", copy.at("structures.csv"),
        "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    refuses(arguments, exit_code, says);
  };
  refused("measured.csv", ",nodes,", ",node,", 3,
          "measured.csv:9: unknown column 'node'; did you mean 'nodes'?");
  refused("my-transformer-768.csv", "block1.up,block1.up.weight,2359296,301989888\n", "", 3,
          "is not a trace of model 'my-transformer-768': 12 tensors, the model has 11");
  refused("my-cluster.csv", "nodes,8,invented\n", "", 3, "the property 'nodes' is missing");
  refused("structures.csv", "per_iteration_overhead", "per_iteration_overhed", 3,
          "structures.csv:6: column 'parameter': unknown parameter 'per_iteration_overhed'; did "
          "you mean");
  refused("measured.csv", ",my-transformer-512-my-gpu.csv,", ",,", 3,
          "measured.csv:10: no trace of model 'my-transformer-512.csv' is named, and none has the "
          "name 'iteration-my-transformer-512-v100': name a file (--trace; of measured runs the "
          "column 'trace'); `gradcast import` writes one");
  refused("measured.csv", "my-lab,", "my-lab,", 2,
          "'modell' is not 'model', 'row', 'source', 'method' or 'trace'",
          {"--leave-one-out", "modell"});
  refused("measured.csv", "my-lab,", "my-lab,", 2, "unknown structure 'softwre'",
          {"--structure", "softwre"});
}

TEST_CASE("gradcast list does not take the example for the project's", "[example]") {
  const Ran ran = gradcast_runs("list");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, !Contains("my-transformer") && !Contains("my-cluster"));
}
