// `gradcast sweep` as its users run it: the same bytes whatever happens on the way.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sim/base/text_file.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

/// 2 models x 3 compressors x 4 sizes x 2 bandwidths.
const Words kPlan = {"sweep",
                     "--model=resnet-50,alexnet",
                     "--compressor=dense,topk,gaussian",
                     "--nodes=1..8",
                     "--nic-bandwidth=1Gbps,10Gbps",
                     "--engine=analytic",
                     "-q"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string content(const fs::path& file) { return gradcast::read_text_file(file).content; }

/// Starts gradcast and kills it after so long, if it is still there.
void killed_after(const Words& arguments, std::chrono::microseconds wait) {
  const pid_t child = fork();
  if (child == 0) {
    Words words = with({GRADCAST_PROGRAM}, arguments);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  std::this_thread::sleep_for(wait);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace

TEST_CASE("a sweep answers every combination, with and without fitted software", "[cli][sweep]") {
  const Ran ran = gradcast_with(with(kPlan, {"--format", "json"}));
  REQUIRE(ran.exit_code == 0);
  const json document = json::parse(ran.out);
  const json& rows = document["results"];
  CHECK(rows.size() == 2 * 3 * 4 * 2);
  CHECK(document["summary"]["points"] == 48);
  for (const json& row : rows) {
    CAPTURE(row.dump());
    CHECK(row["problem"] == "");
    CHECK(row["workers"] == row["nodes"].get<int>() * 4);
    CHECK(row["iteration_seconds"] > row["physics_seconds"]);
    const bool dense = row["compressor"] == "dense";
    CHECK(row["verdict"].is_null() == dense);
    if (dense) CHECK(row["speedup_over_dense"] == 1.0);
    if (dense) continue;
    const bool pays = row["speedup_low"] > 1.0;
    const bool does_not = row["speedup_high"] < 1.0;
    CHECK(row["verdict"] == (pays       ? "surely pays"
                             : does_not ? "surely does not pay"
                                        : "cannot be told"));
    CHECK(row["pays"] == (pays ? json("yes") : does_not ? json("no") : json()));
    CHECK((row["measure"] == "") == (pays || does_not));
  }
}

// `--preset paper` takes software in a sweep alone (--fitted), so simulate is told which.
TEST_CASE("a sweep's row is simulate's answer: the forecast, and physics beside it",
          "[cli][sweep]") {
  const std::vector<std::pair<Words, Words>> asked = {
      {{"--preset=today"}, {"--preset=today"}},
      {{"--preset=today", "--stack=none"}, {"--preset=today", "--stack=none"}},
      {{"--preset=today", "--stack=ddp-gloo"}, {"--preset=today", "--stack=ddp-gloo"}},
      {{"--preset=paper"}, {"--preset=paper", "--stack=population"}},
      {{"--preset=paper", "--fitted=none"}, {"--preset=paper"}},
  };
  for (const auto& [swept, simulated] : asked)
    for (const char* compressor : {"dense", "gaussian"}) {
      const Words run = {"--model=alexnet",       "--nodes=8",
                         "--nic-bandwidth=1Gbps", "--engine=analytic",
                         "--format=json",         "-q",
                         "--cluster=10gbe-4x4",   std::string("--compressor=") + compressor};
      const Ran many = gradcast_with(with(with({"sweep"}, swept), run));
      const Ran one = gradcast_with(with(with({"simulate"}, simulated), run));
      CAPTURE(swept, compressor, many.err, one.err);
      REQUIRE(many.exit_code == 0);
      REQUIRE(one.exit_code == 0);
      const json row = json::parse(many.out)["results"][0];
      const json alone = json::parse(one.out)["results"][0];
      for (const char* column :
           {"iteration_seconds", "forward_seconds", "backward_seconds", "encode_seconds",
            "communication_seconds", "exposed_communication_seconds", "decode_seconds",
            "update_seconds", "overhead_seconds", "wait_seconds", "samples_per_second",
            "scaling_efficiency", "speedup_over_dense", "memory_bytes", "interval_low_seconds",
            "interval_high_seconds", "physics_seconds", "batch", "collective"}) {
        CAPTURE(column);
        REQUIRE(row.contains(column));
        CHECK(row[column] == alone[column]);
      }
      const bool software = row["physics_seconds"] != row["iteration_seconds"];
      CHECK(software == (swept.back() != "--fitted=none" && swept.back() != "--stack=none"));
      CHECK(row["software"].is_null() != software);
      for (const std::string name : {"scaling_efficiency", "schedule", "speedup_over_dense",
                                     "speedup_over_best_dense", "best_dense"}) {
        CAPTURE(name);
        CHECK(row.contains("physics_" + name));
        if (!software) CHECK(row["physics_" + name] == row[name]);
      }
    }
}

// One forecast a point is half the work: the run's, whose stack is today's usual one.
TEST_CASE("a sweep with --fitted none has the run's own software, and no physics beside it",
          "[cli][sweep]") {
  const Words run = {"--preset=today",    "--model=alexnet", "--nodes=8",
                     "--engine=analytic", "--format=json",   "-q"};
  const json row =
      json::parse(gradcast_with(with(with({"sweep"}, run), {"--fitted=none"})).out)["results"][0];
  const json alone = json::parse(gradcast_with(with({"simulate"}, run)).out)["results"][0];
  CHECK(row["iteration_seconds"] == alone["iteration_seconds"]);
  CHECK(row["outside_seen"] == alone["outside_seen"]);
  CHECK(row["software"] == "stack-ddp-nccl");
  CHECK(row["physics_seconds"].is_null());
  CHECK(row["physics_schedule"] == "");
}

// GRACE's trainings of ResNet-50 on 8 workers: Top-k at 0.01 ended at 72.99 %, dense at 73.88 %:
// 0.9 less. At 0.02 nobody trained it.
TEST_CASE("a sweep says where published trainings with its compressors ended", "[cli][sweep]") {
  const Ran ran = gradcast_runs("sweep", "--model=resnet-50", "--compressor=dense,topk",
                                "--density=0.01,0.02", "--nodes=4,8", "--cluster=10gbe",
                                "--fitted=none", "--engine=analytic", "--format=json");
  REQUIRE(ran.exit_code == 0);
  const json document = json::parse(ran.out);
  const json& sentences = document["summary"]["sentences"];
  REQUIRE(sentences.size() == 2);  // the first says what more nodes gain
  CHECK_THAT(sentences[1].get<std::string>(),
             Contains("at density 0.01 on 8 workers ended at 72.99 %, 0.9 points below dense"));
  CHECK_THAT(document["inputs"].dump(), Contains("\"accuracy-grace\""));
}

// FNN-3 takes a millisecond. A dense run is as fast as itself, so that a speedup would say nothing.
TEST_CASE("a sweep's table has times in the unit that fits, and speedups of what compresses",
          "[cli][sweep]") {
  const std::vector<std::string> run{"sweep", "--model",  "fnn-3",   "--nodes",
                                     "1,2",   "--engine", "analytic"};
  const Ran dense = gradcast_with(run);
  CHECK_THAT(dense.out, Contains("iteration ms") && !Contains("speedup"));
  std::vector<std::string> compressed = run;
  compressed.insert(compressed.end(), {"--compressor", "dense,topk"});
  CHECK_THAT(gradcast_with(compressed).out, Contains("speedup") && Contains("iteration ms"));
}

TEST_CASE("a dense run has no density: it is one point, not one of each", "[cli][sweep]") {
  const Ran ran = gradcast_runs("sweep", "--model=resnet-50", "--compressor=dense,topk",
                                "--density=0.001,0.01", "--engine=analytic", "--format=json", "-q");
  const json rows = json::parse(ran.out)["results"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["density"] == 1.0);
  CHECK(rows[2]["density"] == 0.01);
}

TEST_CASE("any number of processes and shards gives the same bytes", "[cli][slow][sweep]") {
  const TemporaryFolder scratch;
  const fs::path& folder = scratch.path;
  for (const char* format : {"csv", "json"}) {
    const std::string ending = std::string(".") + format;
    const std::string one = (folder / "one").string() + ending;
    const std::string two = (folder / "two").string() + ending;
    const std::string merged = (folder / "merged").string() + ending;
    REQUIRE(gradcast_with(with(kPlan, {"-j1", "-o", one})).exit_code == 0);
    REQUIRE(gradcast_with(with(kPlan, {"-j2", "-o", two})).exit_code == 0);
    CHECK(content(one) == content(two));
    CHECK(content(one + ".points") == content(two + ".points"));

    const std::string shards = (folder / ("shards-" + std::string(format))).string();
    for (int number = 7; number >= 1; --number)
      REQUIRE(gradcast_with(with(kPlan, {"--shard", std::to_string(number) + "/7", "-o", shards}))
                  .exit_code == 0);
    REQUIRE(gradcast_runs("sweep", "merge", shards.c_str(), "-o", merged.c_str()).exit_code == 0);
    CHECK(content(one) == content(merged));
  }
}

TEST_CASE("killed at random moments and started again, a sweep gives the same bytes",
          "[cli][slow][sweep]") {
  const TemporaryFolder scratch;
  const std::string whole = (scratch.path / "whole.csv").string();
  const std::string broken = (scratch.path / "broken.csv").string();
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(gradcast_with(with(kPlan, {"-o", whole})).exit_code == 0);
  const std::chrono::duration<double, std::micro> takes = std::chrono::steady_clock::now() - begin;

  std::mt19937 random(1);
  std::uniform_real_distribution<double> moment(0, takes.count());
  for (int i = 0; i < 20; ++i) {
    killed_after(with(kPlan, {"-o", broken}),
                 std::chrono::microseconds(static_cast<long>(moment(random))));
    if (i % 5 == 4) fs::remove(broken + ".points");  // few points are left by now: begin anew
  }
  REQUIRE(gradcast_with(with(kPlan, {"-o", broken})).exit_code == 0);
  CHECK(content(whole) == content(broken));
  CHECK(content(whole + ".points") == content(broken + ".points"));
}

TEST_CASE("a changed input runs anew just what it changes", "[cli][sweep]") {
  const TemporaryFolder scratch;
  const std::string out = (scratch.path / "a.csv").string();
  const std::string mine = (scratch.path / "mine.csv").string();
  const auto costs = [](const char* encode) {
    return std::string(
               "compressor,mode,implementation,tensors,elements,density,workers,"
               "distribution,selected,encode_seconds,encode_p95_seconds,decode_seconds,"
               "decode_p95_seconds,samples,evidence\n"
               "topk,,torch,1,25557032,0.001,16,normal,25557,") +
           encode + "," + encode + ",0.001,0.001,9,measured\n";
  };
  const Words plan = {"sweep",
                      "--model=resnet-50",
                      "--compressor=dense,topk",
                      "--costs=" + mine,
                      "--engine=analytic",
                      "--fitted=none",
                      "-q",
                      "-o",
                      out};
  gradcast::write_text_file(mine, costs("0.1"));
  REQUIRE(gradcast_with(plan).exit_code == 0);
  const std::string points = content(out + ".points");
  const std::string first = content(out);
  CHECK(std::count(points.begin(), points.end(), '\n') == 4);  // dense by three schedules, topk

  gradcast::write_text_file(mine, costs("0.2"));
  REQUIRE(gradcast_with(plan).exit_code == 0);
  const std::string now = content(out + ".points");
  // Dense reads no costs: its lines are those that both have.
  int common = 0;
  std::istringstream lines(points);
  for (std::string line; std::getline(lines, line);)
    if (now.find(line) != std::string::npos) ++common;
  CHECK(common == 3);
  CHECK(content(out) != first);
}

TEST_CASE("a missing shard is named, and nothing is written", "[cli][sweep]") {
  const TemporaryFolder scratch;
  const std::string shards = (scratch.path / "shards").string();
  const std::string out = (scratch.path / "out.csv").string();
  for (const char* shard : {"1/3", "3/3"})
    REQUIRE(gradcast_with(with(kPlan, {"--shard", shard, "-o", shards})).exit_code == 0);
  refuses({"sweep", "merge", shards, "-o", out}, 1, "shard 2/3 lacks");
  CHECK_FALSE(fs::exists(out));
  refuses(with(kPlan, {"--shard", "1/4", "-o", shards}), 3, "holds the shards of another sweep");
  refuses({"sweep", "merge", scratch.path.string()}, 3, "not a folder of a sweep's shards");

  const fs::path plan = fs::path(shards) / "plan.json";
  json other = json::parse(content(plan));
  other["made_by"] = "0.0.9";
  gradcast::write_text_file(plan, other.dump(2) + "\n");
  refuses({"sweep", "merge", shards}, 3, "these shards are of gradcast 0.0.9, and this is");
}

TEST_CASE("a plan's file holds flags as keys, and paths that begin beside it", "[cli][sweep]") {
  const TemporaryFolder scratch;
  const std::string plan = (scratch.path / "plan.toml").string();
  gradcast::write_text_file(
      plan,
      "model = [\"resnet-50\", \"alexnet\"]\ncompressor = \"dense,topk\"\nnodes = \"1..4\"\n"
      "density = 0.01\nengine = \"analytic\"\n");
  refuses({"sweep", plan}, 3, "plan.toml:5: unknown key 'engine'");
  gradcast::write_text_file(
      plan,
      "model = [\"resnet-50\", \"alexnet\"]\ncompressor = \"dense,topk\"\nnodes = [1, 2, 4]\n"
      "density = 0.01\ncosts = \"mine.csv\"\n");
  refuses({"sweep", plan, "--engine=analytic"}, 3, "mine.csv");
  fs::copy_file(fs::path(GRADCAST_SOURCE_DIR) / "traces/cost-v100-pytorch-1.1.csv",
                scratch.path / "mine.csv");
  const Ran ran =
      gradcast_with({"sweep", plan, "--engine=analytic", "--nodes=4", "-q", "--format=csv"});
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 1 + 4);  // flags go before the file
}

TEST_CASE("a list of fusions may hold cycles, which have a comma", "[cli][sweep]") {
  const TemporaryFolder folder;
  const std::string plan = folder.write(
      "plan.toml", "model = \"resnet-50\"\nfusion = [\"layer\", \"cycle:5ms,64MiB\", \"25MiB\"]\n");
  for (const Words& more :
       {Words{plan}, Words{"--model=resnet-50", "--fusion=layer,cycle:5ms,64MiB,25MiB"}}) {
    const Ran ran =
        gradcast_with(with(with({"sweep"}, more), {"--engine=analytic", "-q", "--format=json"}));
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    Words fusions;
    const json document = json::parse(ran.out);
    for (const json& row : document["results"]) fusions.push_back(row["fusion"]);
    CHECK(fusions == Words{"layer", "cycle:5ms,64MiB", "25MiB"});
  }
}

TEST_CASE("a bad plan is one clear line", "[cli][sweep]") {
  const TemporaryFolder scratch;
  const std::string plan = (scratch.path / "plan.toml").string();
  const auto refuses_plan = [&](const std::string& text, const std::string& says) {
    gradcast::write_text_file(plan, text);
    refuses({"sweep", plan}, 3, says);
  };
  refuses_plan("model = \"resnet-50\"\nnoodes = 4\n",
               "plan.toml:2: unknown key 'noodes'; did you mean 'nodes'?");
  for (const auto& [line, typed] : std::vector<std::pair<std::string, std::string>>{
           {"engine = \"analytic\"",
            "engine', which belongs on the command line: --engine analytic"},
           {"jobs = 4", "jobs', which belongs on the command line: --jobs 4"},
           {"dry-run = true", "dry-run', which belongs on the command line: --dry-run"},
           {"against = \"same\"", "against', which belongs on the command line: --against same"}})
    refuses_plan("model = \"resnet-50\"\n" + line + "\n", "plan.toml:2: unknown key '" + typed);
  refuses_plan("model = \"resnet-50\"\nreplicas = 4\n",
               "unknown key 'replicas'; keys are flags of `gradcast sweep` without their dashes");
  refuses_plan("model = \"resnet-50\"\nnodes = []\n", "plan.toml:2: nodes: an empty list");
  refuses_plan("model = \"resnet-50\"\nnodes = \"8..4\"\n",
               "plan.toml:2: nodes: the range '8..4' does not rise");
  refuses_plan("model = \"resnet-50\"\nnic-bandwidth = 10\n", "plan.toml:2: nic-bandwidth: ");
  refuses_plan("model = \"resnet-50\"\n[more]\nnodes = 4\n", "plan.toml:2: a plan has no tables");
  refuses_plan("model = resnet-50\n", "plan.toml:1: ");
  refuses_plan("model = \"resnet-50\"\nnodes = -4\n", "plan.toml:2: nodes: '-4' is not");
  refuses_plan("model = \"resnet-50\"\nnodes = \"\"\n", "plan.toml:2: nodes: the value is empty");
  refuses_plan("model = \"resnet-50\"\ncollective = \"gtopp\"\n",
               "plan.toml:2: collective: unknown collective 'gtopp'; did you mean 'gtopk'?");

  refuses({"sweep"}, 2, "--model is missing");
  refuses({"sweep", "--model=resnet-5"}, 2, "did you mean 'resnet-50'?");
  refuses({"sweep", "--model=resnet-50", "--compressor=topk,gausian"}, 2,
          "did you mean 'gaussian'?");
  refuses({"sweep", "--model=resnet-50", "--engine=analytic", "--nodes=all"}, 2, "--nodes: 'all'");
  refuses(
      {"sweep", "--model=resnet-50", "--nodes=1..16384", "--density=1e-9..1", "--batch=1..1000000",
       "--accumulation=1..64", "--nic-bandwidth=1Gbps..1000Gbps", "--concurrent-jobs=1..64"},
      2, "a sweep has 1000000 at most");
  refuses({"sweep", scratch.path.string()}, 3, scratch.path.string());
  refuses({"sweep", "--model=alexnet", "--engine=analytic", "-o", scratch.path.string()}, 2,
          "is a folder");
  refuses({"sweep", "--model=alexnet", "--engine=analytic", "-o",
           (scratch.path / "none/a.csv").string()},
          1, "cannot write");
  refuses({"sweep", "--model=alexnet", "--engine=analytic", "--shard=1/2"}, 2,
          "needs -o, a folder");
  refuses({"sweep", "--model=alexnet", "--collective=auto,ring"}, 2, "unknown collective 'ring'");
  refuses({"sweep", "--preset=today", "--model=alexnet", "--cluster=nope"}, 2,
          "--cluster: unknown cluster 'nope'");
  refuses({"sweep", "--preset=today", "--model=alexnet", "--cluster=dgx-a100,nope"}, 2,
          "--cluster: unknown cluster 'nope'");
  refuses({"sweep", "--preset=today", "--model=alexnet", "--stack=nope"}, 2,
          "--stack: unknown stack 'stack-nope'");
  refuses({"sweep", "--model=alexnet\n"}, 2, "--model: the value has a line break");
  refuses({"sweep", "--model=alexnet", "--jobs=0"}, 2, "--jobs");
}

TEST_CASE("a disk that is full is one clear line, and nothing is half written", "[cli][sweep]") {
  const TemporaryFolder scratch;
  const std::string out = (scratch.path / "a.csv").string();
  const Ran ran = gradcast_limited(with(kPlan, {"-o", out}), 2000);
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.err, Contains("cannot write") && Contains("a.csv.points"));
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  CHECK_FALSE(fs::exists(out));
  // Points that fitted on the disk are not lost.
  REQUIRE(gradcast_with(with(kPlan, {"-o", out})).exit_code == 0);
}

TEST_CASE("a point without an answer says why, and the others have theirs", "[cli][sweep]") {
  const Ran ran = gradcast_runs("sweep", "--model=resnet-50", "--nodes=1,4,17000",
                                "--engine=analytic", "--format=json");
  CHECK(ran.exit_code == 0);
  const json document = json::parse(ran.out);
  CHECK(document["summary"]["points_without_answer"] == 1);
  CHECK_THAT(document["results"][2]["problem"].get<std::string>(), Contains("ranks"));
  CHECK(document["results"][2]["iteration_seconds"].is_null());
  CHECK_THAT(ran.err, Contains("1 of 3 points have no answer"));
}

// Top-k's pairs do not add up: it is gathered, whatever collective the others take.
TEST_CASE("among several compressors one that a collective cannot carry has its usual one",
          "[cli][sweep]") {
  const std::vector<std::string> many = {"sweep",         "--model=resnet-50",
                                         "--nodes=8",     "--compressor=topk,terngrad,randk,fp16",
                                         "--format=json", "--engine=analytic"};
  const Ran usual = gradcast_with(many);
  CHECK_THAT(usual.err, Contains("could be all-reduced where ranks share a seed or a scale") &&
                            Contains("--collective ring-all-reduce): randk, terngrad\n"));
  const auto collectives = [](const Ran& ran) {
    std::vector<std::string> names;
    const json document = json::parse(ran.out);
    for (const json& row : document["results"]) {
      CHECK(row["problem"] == "");
      names.push_back(row["collective"].get<std::string>());
    }
    return names;
  };
  const std::string gathered = "ring-all-gather";
  const std::string reduced = "ring-all-reduce";
  CHECK(collectives(usual) == std::vector{gathered, gathered, gathered, reduced});
  const Ran named = gradcast_with(with(many, {"--collective=ring-all-reduce"}));
  CHECK(collectives(named) == std::vector{gathered, reduced, reduced, reduced});
  CHECK_THAT(named.err, !Contains("could be all-reduced"));
  // With both collectives, a compressor appears once for each that it can use.
  const Ran both = gradcast_with(with(many, {"--collective=ring-all-gather,ring-all-reduce"}));
  CHECK(collectives(both).size() == 6);
}

TEST_CASE("a point is compared with the dense run that `simulate` compares with", "[cli][sweep]") {
  // 161 collectives of 64 nodes: chosen by size, the dense run's are trees, and twice as quick.
  const std::vector<std::string> point = {
      "--model=resnet-50", "--compressor=topk", "--nodes=64",    "--fusion=layer",
      "--collective=auto", "--engine=analytic", "--format=json", "-q"};
  const json swept = json::parse(gradcast_with(with({"sweep"}, point)).out)["results"][0];
  const Words asked = with({"simulate", "--stack=population"}, point);
  const json one = json::parse(gradcast_with(asked).out)["results"][0];
  CHECK(swept["speedup_over_dense"] == one["speedup_over_dense"]);
  CHECK(swept["verdict"] == "surely does not pay");
}

// The dense run of Gloo's fp16 is Gloo's. A plain ring would go through all NICs of the node.
TEST_CASE("the dense run of a point goes by the point's library", "[cli][sweep]") {
  for (const char* library : {"gloo", "open-mpi"}) {
    CAPTURE(library);
    const std::string collective = std::string("--collective=") + library;
    const std::vector<std::string> point = {
        "--model=resnet-50", "--cluster=dgx-a100", "--nodes=2",     "--compressor=fp16",
        collective,          "--engine=analytic",  "--format=json", "-q"};
    const json swept = json::parse(gradcast_with(with({"sweep"}, point)).out)["results"][0];
    const Words asked = with({"simulate", "--stack=population"}, point);
    const json one = json::parse(gradcast_with(asked).out)["results"][0];
    CHECK(swept["speedup_over_dense"] == one["speedup_over_dense"]);
  }
}

TEST_CASE("a collective alone has no speedup over dense", "[cli][sweep]") {
  const Ran ran =
      gradcast_runs("sweep", "--payload=1MiB,2MiB", "--engine=analytic", "--format=json", "-q");
  const json rows = json::parse(ran.out)["results"];
  REQUIRE(rows.size() == 2);
  for (const json& row : rows) {
    CHECK(row["iteration_seconds"] > 0);
    CHECK(row["speedup_over_dense"].is_null());
    CHECK(row["physics_speedup_over_dense"].is_null());
    CHECK(row["batch"].is_null());  // nor images, as the schema has it: 1 or more, or none
  }
}

TEST_CASE("a list in one text has its paths beside the plan too", "[cli][sweep]") {
  const TemporaryFolder scratch;
  for (const char* name : {"a.csv", "b.csv"})
    fs::copy_file(fs::path(GRADCAST_SOURCE_DIR) / "platforms/10gbe-4x4.csv", scratch.path / name);
  const std::string plan = (scratch.path / "plan.toml").string();
  gradcast::write_text_file(plan, "model = \"resnet-50\"\ncluster = \"a.csv,b.csv\"\n");
  const Ran ran = gradcast_runs("sweep", plan.c_str(), "--engine=analytic", "--dry-run");
  CAPTURE(ran.err);
  CHECK_THAT(ran.out, Catch::StartsWith("2 points"));
}

TEST_CASE("a problem may name what is no UTF-8", "[cli][sweep]") {
  const Ran ran =
      gradcast_runs("sweep", "--model=resnet-50", "--compressor=topk", "--implementation=\xff\xfe",
                    "--engine=analytic", "--format=json", "-q");
  CAPTURE(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK_THAT(json::parse(ran.out)["results"][0]["problem"].get<std::string>(),
             Contains("has no costs of compressor 'topk' in implementation"));
}

TEST_CASE("merging takes what the folder's plan says", "[cli][sweep]") {
  const TemporaryFolder scratch;
  const std::string shards = (scratch.path / "shards").string();
  REQUIRE(gradcast_with(with(kPlan, {"--shard", "1/1", "-o", shards})).exit_code == 0);
  refuses({"sweep", "merge", shards, "--model=vgg-16"}, 2, "--model is not for `sweep merge`");
  // The shards' engine was asked for, and is in this build.
  const Ran ran = gradcast_runs("sweep", "merge", shards.c_str(), "--format=csv");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.err, !Contains("is not in this build"));
}

// Gaussian-k calls neither torch.topk nor randperm, so that PyTorch 1.1's table, of a V100, serves
// it.
TEST_CASE("a sweep says whose costs are scaled where not all are", "[sweep]") {
  const UsersPreset usual;
  const auto said = [](const char* compressors) {
    return gradcast_runs("sweep", "--model", "resnet-50", "--cluster", "10gbe", "--compressor",
                         compressors, "--implementation", "torch", "--engine", "analytic")
        .out;
  };
  CHECK_THAT(said("topk,randk,gaussian"),
             Contains("Costs of topk, randk are scaled to v100 from cost-h20-pytorch-2.6"));
  CHECK_THAT(said("topk,randk"),
             Contains("Costs of compressing are scaled to v100 from cost-h20-pytorch-2.6"));
}
