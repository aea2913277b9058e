// `gradcast learn` as its users run it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/base/text_file.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;
using nlohmann::json;

namespace {

constexpr const char* kHeader =
    "source,model,trace,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,"
    "fusion,overlap,iteration_seconds,collective,stack,outside\n";

constexpr const char* kCluster =
    "property,value,source\n"
    "nodes,8,counted\n"
    "gpus_per_node,4,counted\n"
    "nic_bandwidth,96.6Gbps,the label\n"
    "nic_latency,2us,the label\n"
    "intra_bandwidth,130GBps,the label\n"
    "gpu_generation,volta,the label\n";

std::string row(const std::string& nodes, const std::string& seconds,
                const std::string& stack = "ddp-nccl", const std::string& outside = "") {
  return "mine,resnet-50,iteration-resnet-50-v100,64,0.17,mine.csv," + nodes +
         ",4,dense,1,ddp,yes," + seconds + ",nccl," + stack + "," + outside + "\n";
}

/// A folder with measured runs and the cluster that they name.
struct Lab {
  TemporaryFolder folder;
  std::string runs;

  explicit Lab(const std::string& rows) : runs(folder.write("my-runs.csv", kHeader + rows)) {
    folder.write("mine.csv", kCluster);
  }
  std::string path(const std::string& name) const { return (folder.path / name).string(); }
};

std::string three() { return row("1", "0.185") + row("2", "0.19") + row("4", "0.196"); }

json learned(const Lab& lab, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"learn", lab.runs, "--format", "json", "-q"};
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = gradcast_with(words);
  CAPTURE(ran.err);
  REQUIRE(ran.exit_code == 0);
  return json::parse(ran.out);
}

void refuses(const std::vector<std::string>& words, int code, const std::string& says) {
  const Ran ran = gradcast_with(words);
  CAPTURE(ran.err);
  CHECK(ran.exit_code == code);
  CHECK_THAT(ran.err, Contains(says));
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
}

/// The words of the command under "Next:".
std::vector<std::string> next_of(const std::string& out) {
  const std::size_t at = out.find("  gradcast simulate");
  REQUIRE(at != std::string::npos);
  std::istringstream line(out.substr(at, out.find('\n', at) - at));
  std::vector<std::string> words;
  for (std::string word; line >> word;) words.push_back(word);
  words.erase(words.begin());
  return words;
}

}  // namespace

// A newcomer fills in what was run, and not what NCCL chose.
TEST_CASE("runs that leave the collective and the trace empty are taken to be of their software",
          "[cli]") {
  const auto without = [](std::string text) {
    for (const std::string cell : {",nccl,", ",iteration-resnet-50-v100,"})
      for (std::size_t at = 0; (at = text.find(cell, at)) != std::string::npos;)
        text.replace(at, cell.size(), ",,");
    return text;
  };
  json full = learned(Lab(three()));
  json open = learned(Lab(without(three())));
  CHECK(open["results"] == full["results"]);
  CHECK(full["left_open"].empty());
  CHECK(open["left_open"] == json({"collective nccl", "trace iteration-resnet-50-v100"}));
}

TEST_CASE("learn writes a stack and the cluster, and the command that uses them works",
          "[cli][learn]") {
  const Lab lab(three());
  const Ran ran = gradcast_with({"learn", lab.runs, "-o", lab.path("my-cluster")});
  CAPTURE(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("Learned from 3 runs of"));
  CHECK_THAT(ran.out, Contains("all but compute, here"));
  CHECK_THAT(ran.out, Contains("Mean error"));
  CHECK_THAT(ran.out, Contains("measure next"));
  CHECK(read_text_file(lab.path("my-cluster/platforms/mine.csv")).content == kCluster);
  const std::string stack =
      read_text_file(lab.path("my-cluster/platforms/stack-my-runs.csv")).content;
  CHECK_THAT(stack, Contains("model_factor,"));
  CHECK_THAT(stack, Contains("correlation,"));
  CHECK_THAT(stack, Contains("3 runs of my-runs"));
  CHECK_THAT(stack, Contains("# clusters: mine\n"));
  CHECK_THAT(stack, Contains("sources: ") && Contains(" mine"));
  std::vector<std::string> words = next_of(ran.out);
  std::filesystem::remove(lab.path("mine.csv"));  // the folder is enough
  words.insert(words.end(), {"--format", "json", "-q"});
  const Ran next = gradcast_with(words);
  CAPTURE(next.err);
  REQUIRE(next.exit_code == 0);
  // The first run had one node; its command asks for two, and 0.19 s were measured there.
  const json forecast = json::parse(next.out)["results"][0];
  CHECK(forecast["iteration_seconds"].get<double>() == Approx(0.19).epsilon(0.03));
}

TEST_CASE("learn without a folder writes nothing", "[cli][learn]") {
  const Lab lab(three());
  const json document = learned(lab);
  CHECK(document["files"].empty());
  CHECK(document["stack"] == "ddp-nccl");
  CHECK(document["stack_assumed"] == "no");
  REQUIRE(document["results"].size() == 3);
  for (const json& each : document["results"]) {
    CHECK(each["after_high_seconds"] > each["after_low_seconds"]);
    CHECK(each["after_seconds"].get<double>() == Approx(0.19).epsilon(0.1));
  }
  CHECK(document["summary"]["after_median_interval_width_percent"] <
        document["summary"]["before_median_interval_width_percent"]);
  CHECK(!document["measure_next"].empty());
}

TEST_CASE("learn says which stack it assumes, and which runs it leaves out", "[cli][learn]") {
  const Lab lab(row("1", "0.185", "") + row("2", "0.19", "") +
                row("4", "0.9", "", "the disk was full"));
  const json document = learned(lab);
  CHECK(document["stack"] == "ddp-nccl");
  CHECK(document["stack_assumed"] == "yes");
  CHECK(document["results"].size() == 2);
  CHECK(document["left_out"] == json::array({"line 4: the disk was full"}));
  const Ran table = gradcast_with({"learn", lab.runs, "-q"});
  CHECK_THAT(table.out, Contains("The runs name no stack. ddp-nccl is assumed"));
  CHECK_THAT(table.out, Contains("line 4: the disk was full"));
  CHECK(learned(lab, {"--stack", "horovod-nccl"})["stack"] == "horovod-nccl");
}

TEST_CASE("learn takes one run too, which has no others to be forecast by", "[cli][learn]") {
  const Lab lab(row("2", "0.19"));
  const Ran ran = gradcast_with({"learn", lab.runs, "-q"});
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("One run has no others to be forecast by"));
}

TEST_CASE("learn leaves out a run and its repeats together, and says so", "[cli][learn]") {
  const std::string again = row("1", "0.186") + row("2", "0.191") + row("4", "0.197");
  const Lab twice(three() + again);
  const json document = learned(twice);
  for (const json& each : document["results"]) CHECK(each["checked_by"] == 4);  // 6 but 2
  const std::string said = "Runs that repeat a set-up are left out together";
  CHECK_THAT(gradcast_with({"learn", twice.runs, "-q"}).out, Contains(said));
  const Lab once(three());
  CHECK_THAT(gradcast_with({"learn", once.runs, "-q"}).out, !Contains(said));
  const Lab same(row("2", "0.19") + row("2", "0.191") + row("2", "0.192"));
  const Ran ran = gradcast_with({"learn", same.runs, "-q"});
  CHECK_THAT(ran.out, Contains("All 3 runs are of one set-up, so that nothing checks this"));
  CHECK_THAT(ran.out, !Contains("Mean error"));
  CHECK(learned(same)["results"][0]["checked_by"] == 0);
}

TEST_CASE("learn says that runs are of several clusters also where nobody hears notes",
          "[cli][learn]") {
  std::string other = row("4", "0.196");
  other.replace(other.find("mine.csv"), 8, "yours.csv");
  const Lab lab(row("1", "0.185") + row("2", "0.19") + other);
  lab.folder.write("yours.csv", kCluster);
  const std::string says =
      "the runs are of 2 clusters (mine.csv, yours.csv): what is learned is what they have in "
      "common";
  CHECK(learned(lab, {"-o", lab.path("my")})["notes"] == json::array({says}));
  CHECK_THAT(read_text_file(lab.path("my/platforms/stack-my-runs.csv")).content, Contains(says));
  const Lab one(three());
  CHECK(learned(one)["notes"].empty());
}

TEST_CASE("learn refuses what it cannot learn from in one line", "[cli][learn]") {
  const Lab lab(three());
  refuses({"learn"}, 2, "a file is missing: your measured runs");
  refuses({"learn", "measured-nobody"}, 2, "unknown measured file 'measured-nobody'");
  refuses({"learn", lab.path("none.csv")}, 3, "none.csv");
  refuses({"learn", lab.runs, "--stack", "dpp-nccl"}, 2, "did you mean");
  refuses({"learn", lab.runs, "--stack", "population"}, 2, "is a mixture of all");
  refuses({"learn", lab.runs, "--seed", "x"}, 2, "--seed");
  refuses({"learn", lab.runs, "-o", lab.runs}, 1, "my-runs.csv");
  refuses({"learn", "measured-gtopk-1gbe", "-o", lab.path("x/y"), "--stack", "none"}, 2, "none");
  const Lab two(row("1", "0.185") + row("2", "0.19", "horovod-nccl"));
  refuses({"learn", two.runs}, 3, "my-runs.csv:3: stack 'horovod-nccl' is not 'ddp-nccl'");
  const Lab all_outside(row("1", "0.185", "", "no"));
  refuses({"learn", all_outside.runs}, 3, "every run is outside");
  std::string many;
  for (int i = 0; i < 61; ++i) many += row("2", "0.19");
  const Lab too_many(many);
  refuses({"learn", too_many.runs}, 3, "61 runs are more than 60");
  std::string no_ending = row("2", "0.19", "");
  no_ending.replace(no_ending.find("mine.csv"), 8, "mine");
  const Lab nowhere(no_ending);
  refuses({"learn", nowhere.runs}, 3, "my-runs.csv:2: unknown cluster 'mine'");
  const Lab too_fast(row("1", "0.185") + row("2", "0.08"));
  refuses({"learn", too_fast.runs}, 3,
          "my-runs.csv:3: iteration_seconds 0.08 is less than compute_seconds 0.17");
  const Lab unknown(row("2", "0.19", "ddp-nckl"));
  refuses({"learn", unknown.runs}, 3, "my-runs.csv:2");
}

// A Top-k that takes 0.3 s more than its kernels says nothing of another compressor.
TEST_CASE("what one compressor's software takes is learned for that one alone", "[cli][learn]") {
  std::string slow = row("2", "0.49");
  slow.replace(slow.find("dense,1,"), 8, "topk,0.001,");
  const Lab lab(three() + slow);
  const Ran ran = gradcast_with({"learn", lab.runs, "-o", lab.path("my"), "-q"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("encode_per_call of topk by gradcast-cuda"));
  const auto speedup = [&](const std::string& compressor) {
    const Ran asked = gradcast_with(
        {"simulate", "--preset", "today", "--model", "resnet-50", "--cluster",
         lab.path("my/platforms/mine.csv"), "--stack", lab.path("my/platforms/stack-my-runs.csv"),
         "--nodes", "2", "--compressor", compressor, "--engine", "analytic", "--format", "json"});
    INFO(asked.err);
    REQUIRE(asked.exit_code == 0);
    return json::parse(asked.out)["results"][0]["speedup_over_dense"].get<double>();
  };
  CHECK(speedup("topk") < 0.8);
  CHECK(speedup("rtopk") > 0.9);
}

TEST_CASE("learn tells runs apart that differ in their schedule alone", "[cli][learn]") {
  std::string after = row("2", "0.2");
  after.replace(after.find(",ddp,yes,"), 9, ",merged,no,");
  const Lab lab(three() + after);
  CHECK_THAT(gradcast_with({"learn", lab.runs, "-q"}).out,
             Contains("resnet-50, 2x4, ddp, overlapped") &&
                 Contains("resnet-50, 2x4, merged, after backward"));
}

// 0.12 s are 0.7 of the 0.17 s that one GPU alone takes.
TEST_CASE("learn asks about a run that is faster than its GPUs alone", "[cli][learn]") {
  const Lab lab(three() + row("2", "0.12"));
  CHECK_THAT(gradcast_with({"learn", lab.runs}).err,
             Contains("line 5: iteration_seconds 0.12 is less than compute_seconds 0.17, and no "
                      "run is faster than its GPUs alone"));
  const Lab fine(three());
  CHECK_THAT(gradcast_with({"learn", fine.runs}).err, !Contains("faster than its GPUs"));
}

// Milliseconds where seconds belong.
TEST_CASE("learn says which terms went far from what is known", "[cli][learn]") {
  const Lab slip(row("1", "185") + row("2", "190"));
  CHECK_THAT(gradcast_with({"learn", slip.runs, "-q"}).out,
             Contains("Far from what is known. Look for a slip (milliseconds") &&
                 Contains("line 2: 185 s, where the stack alone says "));
  const Lab lab(three());
  CHECK_THAT(gradcast_with({"learn", lab.runs, "-q"}).out, !Contains("Far from what is known"));
}

TEST_CASE("learn copies the times that the cluster's file names beside it", "[cli][learn]") {
  const Lab lab(three());
  lab.folder.write("mine.csv", std::string(kCluster) + "measured_collectives,times.csv,measured\n");
  const std::string times =
      "collective,nodes,gpus_per_node,bytes,library,seconds\n"
      "all-reduce,2,4,26214400,nccl-2.27.5,0.01\n";
  lab.folder.write("times.csv", times);
  const Ran ran = gradcast_with({"learn", lab.runs, "-o", lab.path("my"), "-q"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(read_text_file(lab.path("my/platforms/times.csv")).content == times);
}

TEST_CASE("compare says that a learned stack is not tested by the runs that made it",
          "[cli][learn]") {
  const Lab lab(three());
  REQUIRE(gradcast_with({"learn", lab.runs, "-o", lab.path("my"), "-q"}).exit_code == 0);
  const auto compared = [&](const std::string& runs, const std::string& stack) {
    return gradcast_with({"compare", "--measured", runs, "--stack", stack, "-q", "--engine",
                          "analytic", "--format", "json"});
  };
  const std::string stack = lab.path("my/platforms/stack-my-runs.csv");
  const std::string says = "a row that it was learned from is no forecast and no test of it";
  const json notes = json::parse(compared(lab.runs, stack).out)["notes"];
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0].get<std::string>(), Contains("that 3 rows have: " + says));
  CHECK_THAT(gradcast_with({"compare", "--measured", lab.runs, "--stack", stack, "-q"}).out,
             Contains(says));
  CHECK_THAT(compared(lab.runs, "ddp-nccl").out, !Contains(says));
  const std::string others =
      lab.folder.write("others.csv", kHeader + std::string("new") + row("8", "0.2"));  // "newmine"
  CHECK_THAT(compared(others, stack).out, !Contains(says) && Contains("newmine"));
}

TEST_CASE("a learned stack is no beginning for another", "[cli][learn]") {
  const Lab lab(three());
  REQUIRE(gradcast_with({"learn", lab.runs, "-o", lab.path("my"), "-q"}).exit_code == 0);
  refuses({"learn", lab.runs, "--stack", lab.path("my/platforms/stack-my-runs.csv")}, 3,
          "was learned from the runs of one cluster");
}
