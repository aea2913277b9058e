// `gradcast decide` as a user runs it.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/run_program.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

Ran decide(std::vector<std::string> more) {
  more.insert(more.begin(), "decide");
  return gradcast_with(more);
}

Json decided(std::vector<std::string> more) {
  more.insert(more.end(), {"--format", "json"});
  const Ran ran = decide(more);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out);
}

std::vector<std::string> words_in(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

const std::vector<std::string> kExample{"--model",  "gpt2-xl", "--cluster",
                                        "dgx-a100", "--nodes", "16"};

}  // namespace

// An H200 has 141 GB, an A100 of Amazon's P4d 40 and one of a DGX 80, all by traces/devices.csv.
TEST_CASE("decide counts the memory of the GPU that the cluster's file names", "[decide]") {
  for (const auto& [cluster, memory] : {std::pair{"hgx-h200", "of 141.0 GB of a GPU (h200)"},
                                        {"aws-p4d-24xlarge", "of 40.0 GB of a GPU (a100-40gb)"},
                                        {"dgx-a100", "of 80.0 GB of a GPU (a100-80gb)"}})
    CHECK_THAT(gradcast_with({"decide", "--model", "resnet-50", "--cluster", cluster}).out,
               Contains(memory));
}

// GPT-2's trace has AdamW's step, and AlexNet's that of SGD with momentum: two moments a parameter,
// or one.
TEST_CASE("decide counts the memory of the optimizer whose step the trace has", "[decide]") {
  const auto memory = [](const std::string& model, std::vector<std::string> more) {
    more.insert(more.end(), {"--model", model, "--cluster", "dgx-a100", "--preset", "today"});
    return decide(more).out;
  };
  CHECK_THAT(memory("gpt2-small", {}),
             Contains("parameters 0.5, gradients 0.5, optimizer (adam) 1.0,"));
  CHECK_THAT(memory("gpt2-small", {"--optimizer", "momentum"}),
             Contains("optimizer (momentum) 0.5,"));
  CHECK_THAT(memory("alexnet", {}), Contains("optimizer (momentum) 0.2,"));
}

TEST_CASE("decide ranks what could be changed, and each verdict agrees with its interval",
          "[cli][decide]") {
  const UsersPreset users;
  const Json document = decided(kExample);
  CHECK(document["schema"]["name"] == "gradcast/decide");
  CHECK(document["engine"] == "flow-fluid");
  const Json& summary = document["summary"];
  CHECK(summary["bound"] == "compute");
  CHECK_THAT(summary["question"].get<std::string>(), Contains("batch 8 a GPU"));  // of 15 that fit
  CHECK(summary["largest_batches"].size() == 4);
  CHECK(summary["compute_share"].get<double>() + summary["communication_share"].get<double>() +
            summary["software_share"].get<double>() ==
        Approx(1));
  CHECK(summary["gpu"] == "a100-80gb");
  double last = 1e9;
  std::size_t told = 0;
  for (const Json& row : document["results"]) {
    CAPTURE(row.dump());
    if (row["option"] == "today" || row["refused"] != "") continue;
    ++told;
    const double low = row["speedup_low"];
    const double high = row["speedup_high"];
    CHECK(row["speedup"] <= last);
    last = row["speedup"];
    if (row["verdict"] == "surely pays")
      CHECK(low > 1);
    else if (row["verdict"] == "surely does not pay")
      CHECK(high < (row["change"] == "network" ? 1.05 : 1.01));
    else
      CHECK(row["verdict"] == "cannot be told");
    CHECK((row["measure"] != "") == (row["verdict"] == "cannot be told"));
  }
  CHECK(told > 10);
  const Ran table = decide(kExample);
  CHECK_THAT(table.out, Catch::StartsWith("gpt2-xl on dgx-a100 (16 nodes of 8 GPUs") &&
                            Contains("what binds") && Contains("network x 2 (384Gbps)") &&
                            Contains("batch x 2") && Contains("powersgd (rank 2)") &&
                            Contains("90 % interval") && Contains("\nNext:\n"));
}

// Without --engine: both take the same. ddp-gloo runs two collectives at a time, of which the
// closed form sees less than simulated flows do.
TEST_CASE("decide says of today's run and of its options what simulate says", "[cli][decide]") {
  const std::vector<std::string> software =
      GENERATE(std::vector<std::string>{}, std::vector<std::string>{"--stack", "ddp-gloo"});
  std::vector<std::string> today{"--model", "resnet-50", "--cluster", "10gbe", "--nodes", "8"};
  today.insert(today.end(), software.begin(), software.end());
  for (const Json& row : decided(today)["results"]) {
    if (row["refused"] != "") continue;
    CAPTURE(row["option"]);
    std::vector<std::string> words{"simulate", "--model",  "resnet-50", "--cluster",
                                   "10gbe",    "--format", "json"};
    words.insert(words.end(), software.begin(), software.end());
    const std::string flags = row["flags"];
    for (const std::string& word : words_in(flags)) words.push_back(word);
    if (flags.find("--nodes") == std::string::npos) words.insert(words.end(), {"--nodes", "8"});
    const Json simulated = Json::parse(gradcast_with(words).out)["results"][0];
    CHECK(row["iteration_seconds"].get<double>() ==
          Approx(simulated["iteration_seconds"].get<double>()));
    CHECK(row["memory_bytes"] == simulated["memory_bytes"]);
  }
}

TEST_CASE("the commands that decide ends with run", "[cli][decide]") {
  for (const std::string command :
       decided({"--model", "alexnet", "--cluster", "25gbe", "--nodes", "4"})["summary"]["next"]) {
    CAPTURE(command);
    std::vector<std::string> words = words_in(command);
    REQUIRE(words.size() > 2);
    words.erase(words.begin());
    CHECK(gradcast_with(words).exit_code == 0);
  }
}

TEST_CASE("decide gives the price of an epoch", "[cli][decide]") {
  const Json today =
      decided({"--model", "resnet-50", "--cluster", "25gbe", "--samples", "1281167",
               "--price-per-gpu-hour", "2.50", "--compressor", "topk"})["results"][0];
  CHECK(today["epoch_cost"].get<double>() ==
        Approx(2.5 * 8 * 1281167 / 3600 / today["samples_per_second"].get<double>()));
}

TEST_CASE("decide refuses in one line", "[cli][decide]") {
  const std::vector<std::string> run{"--model", "resnet-50"};
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--compressor", "topp"},
                                             {"--compressor", "dense"},
                                             {"--compressor", "all,topk"},
                                             {"--samples", "0"},
                                             {"--samples", "many"},
                                             {"--price-per-gpu-hour", "2"},
                                             {"--price-per-gpu-hour", "-2", "--samples", "5"},
                                             {"--gpu-memory", "40"},
                                             {"--gpu-memory", "0B"},
                                             {"--parameter", "4"},
                                             {"--cluster", "nowhere"},
                                             {"--nodes", "0"}}) {
    std::vector<std::string> words = run;
    words.insert(words.end(), wrong.begin(), wrong.end());
    const Ran ran = decide(words);
    CAPTURE(wrong, ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(ran.out.empty());
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  }
  CHECK(decide({}).exit_code == 2);
  CHECK(decide({"--payload", "1MiB"}).exit_code == 2);
}
