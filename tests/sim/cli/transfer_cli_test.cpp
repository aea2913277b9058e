// Costs of another device, and what-ifs.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/run_program.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

Ran simulated(const char* compressor, std::vector<std::string> more) {
  std::vector<std::string> arguments{"simulate", "--model",  "alexnet", "--compressor",
                                     compressor, "--format", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ran ran = gradcast_with(arguments);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return ran;
}

}  // namespace

// From 900 GB/s to 4800, all but the launches takes 0.1875 times as long. Not so torch.topk: its
// time stays as it is.
TEST_CASE("simulate scales costs to another device, and says so", "[cli]") {
  for (const auto& [compressor, share] : {std::pair("gaussian", 0.1875), std::pair("topk", 1.0)}) {
    const Json own = Json::parse(simulated(compressor, {}).out)["results"][0];
    const Json there = Json::parse(simulated(compressor, {"--scale-costs-to", "h200"}).out);
    CHECK(there["results"][0]["encode_seconds"].get<double>() ==
          Approx(share * own["encode_seconds"].get<double>()).epsilon(0.03));  // its launches
  }
  const Ran ran = simulated("topk", {"--scale-costs-to", "h200"});
  const Json scaled = Json::parse(ran.out)["results"][0];
  CHECK(scaled["evidence"] == "derived");
  CHECK(scaled["costs_scaled_to"] == "h200");
  CHECK_THAT(ran.err, Contains("costs of cost-v100-pytorch-1.1 are scaled from v100 to h200"));
  CHECK_THAT(ran.err, Contains("the time of topk by torch is taken as it is"));
  CHECK_THAT(simulated("gaussian", {"--scale-costs-to", "h200"}).err, !Contains("as it is"));
}

// The trace is a V100's, and the cluster's GPU is twice as fast. Costs of the V100 are divided by
// that; costs scaled to the H200 have the H200's speed already.
TEST_CASE("a GPU's speed divides costs of the trace's GPU, and not those scaled to another",
          "[cli]") {
  const auto encode = [](std::vector<std::string> more) {
    const Json row = Json::parse(simulated("topk", std::move(more)).out)["results"][0];
    return row["encode_seconds"].get<double>();
  };
  CHECK(encode({"--compute-speed", "2"}) == Approx(encode({}) / 2));
  CHECK(encode({"--scale-costs-to", "h200", "--compute-speed", "2"}) ==
        Approx(encode({"--scale-costs-to", "h200"})));
}

TEST_CASE("a trace of another GPU has costs derived for it, and every command says so", "[cli]") {
  const std::vector<std::string> run{"--model",   "gpt2-xl",  "--trace", "iteration-gpt2-xl-h100",
                                     "--cluster", "dgx-h100", "--nodes", "16",
                                     "--engine",  "analytic"};
  const auto answer = [&](std::vector<std::string> words, const std::string& compressor) {
    words.insert(words.end(), run.begin(), run.end());
    words.insert(words.end(), {"--compressor", compressor});
    const Ran ran = gradcast_with(words);
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    return ran.out;
  };
  const char* words = "derived for h100-sxm from the simulated V100: not measured";
  const std::string swept = answer({"sweep"}, "powersgd,fp16");
  CHECK_THAT(swept, Contains(words) && !Contains("no answer"));
  CHECK_THAT(answer({"simulate"}, "fp16"),
             Contains(words) && Contains("0.41 to 2.48 times as long"));
  CHECK_THAT(answer({"breakeven", "--over", "nic-bandwidth"}, "fp16"), Contains(words));
  // Nobody timed anything on an H100.
  std::vector<std::string> noted{"simulate", "--compressor", "fp16"};
  noted.insert(noted.end(), run.begin(), run.end());
  CHECK_THAT(gradcast_with(noted).err, !Contains("was timed on"));
  const Json row = Json::parse(answer({"simulate", "--format", "json"}, "fp16"))["results"][0];
  CHECK(row["costs"] == "cost-v100-derived");
  CHECK(row["costs_scaled_to"] == "h100-sxm");
}

TEST_CASE("a V100's costs today are the project's too, and the answer says so once", "[cli]") {
  const Ran ran =
      gradcast_with({"simulate", "--preset", "today", "--model", "vgg-16", "--cluster", "10gbe-4x4",
                     "--nodes", "4", "--compressor", "topk", "--engine", "analytic"});
  REQUIRE(ran.exit_code == 0);
  const std::string words = "derived from the simulated V100: not measured";
  CHECK_THAT(ran.out, Contains(words) && Contains("cost-v100-derived"));
  CHECK_THAT(ran.err, Contains(words) && !Contains("not measured here"));
}

TEST_CASE("a forecast with scaled costs is of no measured run", "[cli]") {
  // Table 2's run, but for the device of its costs.
  const std::vector<std::string> table2{"--wire-messages", "2", "--batch", "128"};
  CHECK_FALSE(
      Json::parse(simulated("topk", table2).out)["results"][0]["measured_seconds"].is_null());
  std::vector<std::string> scaled = table2;
  scaled.insert(scaled.end(), {"--scale-costs-to", "v100"});
  CHECK(Json::parse(simulated("topk", scaled).out)["results"][0]["measured_seconds"].is_null());
}

TEST_CASE("a device that is none is one clear line", "[cli]") {
  for (const char* command : {"simulate", "compare"}) {
    std::vector<std::string> arguments{command, "--scale-costs-to", "h2000"};
    if (command == std::string("simulate"))
      arguments.insert(arguments.end(), {"--model", "alexnet"});
    refuses(arguments, 2, "--scale-costs-to: unknown device 'h2000'; did you mean 'h200'?");
  }
  refuses({"compare", "--costs-of", "v100"}, 2, "--costs-of belongs to --scale-costs-to");
  refuses({"compare", "--scale-costs-to", "h200", "--costs-of", "tpu"}, 2,
          "--costs-of: unknown device 'tpu'");
}

// Table 2's cluster with kernels at the memory's speed. Compressing takes next to nothing, so by
// physics all three compressors take only the rest.
TEST_CASE("compare --costs is a what-if", "[cli]") {
  const Ran ran = gradcast_runs("compare", "--costs", "cost-v100-floor", "--format", "json");
  REQUIRE(ran.exit_code == 0);
  const Json document = Json::parse(ran.out);
  CHECK(document["summary"]["what_if_costs"] == "cost-v100-floor");
  CHECK_FALSE(document["summary"].contains("mean_absolute_error_percent"));
  for (const Json& row : document["results"]) {
    CAPTURE(row["model"], row["compressor"]);
    if (row["compressor"] == "dense") {
      CHECK(row["what_if_costs"] == "");
      CHECK_FALSE(row["error_percent"].is_null());
      continue;
    }
    CHECK(row["error_percent"].is_null());
    CHECK(row["implementation"] == "gradcast-cuda");
    CHECK(row["times_as_fast"].get<double>() ==
          Approx(row["measured_seconds"].get<double>() / row["predicted_seconds"].get<double>()));
    CHECK(row["predicted_seconds"] < row["own_costs_seconds"]);
    // 12 bytes of 138 M elements at 765 GB/s are 2.2 ms, decoding and sending 16 x 0.1 % the rest.
    CHECK(row["physics_seconds"].get<double>() - row["compute_seconds"].get<double>() < 0.02);
  }
  CHECK_THAT(
      gradcast_runs("compare", "--costs", "cost-v100-floor").out,
      Contains("What if compressing cost as cost-v100-floor says") && !Contains("mean absolute"));
}

TEST_CASE("a what-if has no errors to bound, explain or split", "[cli]") {
  refuses({"compare", "--costs", "cost-v100-floor", "--max-error", "20"}, 2, "--max-error");
  refuses({"compare", "--costs", "cost-v100-floor", "--explain"}, 2, "--explain");
  refuses({"compare", "--scale-costs-to", "h200", "--split"}, 2, "--split");
  refuses({"compare", "--costs", "cost-v100-flor"}, 2, "did you mean 'cost-v100-floor'?");
}

TEST_CASE("compare says what it scaled, and where nothing is compressed", "[cli]") {
  CHECK_THAT(gradcast_runs("compare", "--scale-costs-to", "h200").err,
             Contains("costs of cost-v100-pytorch-1.1 are scaled from v100 to h200"));
  CHECK_THAT(
      gradcast_runs("compare", "--measured", "measured-mg-wfbp-dense", "--costs", "cost-v100-floor")
          .err,
      Contains("no row compresses anything"));
}
