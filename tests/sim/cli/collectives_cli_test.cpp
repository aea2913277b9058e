// `gradcast collectives`, and what the commands assume where nobody says otherwise.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/run_program.hpp"
#include "tests/sim/report/well_formed.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Matchers::Contains;

namespace {

nlohmann::json results_of(std::vector<std::string> words) {
  words.insert(words.end(), {"--format", "json"});
  const Ran ran = gradcast_with(words);
  REQUIRE(ran.exit_code == 0);
  return nlohmann::json::parse(ran.out).at("results");
}

nlohmann::json simulated(std::vector<std::string> words) {
  words.insert(words.begin(), {"simulate", "--preset", "today"});
  return results_of(words).at(0);
}

}  // namespace

// A ring of 8 GiB on 4 nodes passes 2 x 31/32 of it, 16.6 GB, by 16 channels of 20.5 GB/s in 51 ms.
// 8 NICs of 47 GB/s would take 44. nccl-tests counts that as a bus bandwidth.
TEST_CASE("collectives prints what nccl-tests would", "[collectives]") {
  const nlohmann::json rows =
      results_of({"collectives", "--cluster", "dgx-h100", "--nodes", "4", "--sizes", "1KiB,8GiB"});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("algorithm") == "tree");
  CHECK(rows[0].at("protocol") == "LL");
  CHECK(rows[0].at("bound_by") == "latency");
  CHECK(rows[1].at("algorithm") == "ring");
  CHECK(rows[1].at("us").get<double>() > 50e3);
  CHECK(rows[1].at("us").get<double>() < 52e3);
  CHECK(rows[1].at("busbw_gb_per_second").get<double>() < 328);
  CHECK(rows[1].at("bound_by").get<std::string>().starts_with("node0."));
}

// A collective alone is the same question to both commands: the same time, and the same interval.
// NCCL's forecasts are off by more over TCP and Slingshot (platforms/stack-nccl*.csv).
TEST_CASE("collectives has the interval of simulate --payload", "[collectives]") {
  double narrowest = 0;
  for (const auto& [cluster, nodes, kind, collective, payload] :
       {std::tuple{"dgx-h100", "2", "all-reduce", "nccl", "8MiB"},
        {"dgx-h100", "1", "broadcast", "nccl-broadcast", "8MiB"},
        {"dgx-a100", "4", "all-gather", "nccl-all-gather", "256KiB"},  // 32 ranks have 8 MiB
        {"polaris", "8", "all-reduce", "nccl", "8MiB"},
        {"10gbe-4x4", "4", "reduce-scatter", "nccl-reduce-scatter", "8MiB"},
        {"10gbe-4x4-fitted", "4", "all-reduce", "nccl", "8MiB"}}) {
    CAPTURE(cluster, kind);
    const nlohmann::json row = results_of({"collectives", "--cluster", cluster, "--nodes", nodes,
                                           "--kind", kind, "--sizes", "8MiB"})
                                   .at(0);
    const nlohmann::json same = simulated(
        {"--payload", payload, "--cluster", cluster, "--nodes", nodes, "--collective", collective});
    CHECK(row.at("us").get<double>() ==
          Approx(1e6 * same.at("iteration_seconds").get<double>()).epsilon(1e-12));
    CHECK(row.at("interval_low_seconds") == same.at("interval_low_seconds"));
    CHECK(row.at("interval_high_seconds") == same.at("interval_high_seconds"));
    const double width = row.at("interval_high_seconds").get<double>() /
                         row.at("interval_low_seconds").get<double>();
    if (narrowest == 0) narrowest = width;
    if (cluster == std::string("polaris")) CHECK(width > 1.2 * narrowest);
  }
}

TEST_CASE("the table of collectives shows the interval beside the time", "[collectives]") {
  const Ran ran = gradcast_with({"collectives", "--cluster", "dgx-h100", "--nodes", "1..64",
                                 "--sizes", "1KiB,8GiB", "--engine", "analytic"});
  CHECK_THAT(ran.out, Contains("     us  ") && Contains(" 90 %  ") && Contains(" to "));
  CHECK_THAT(ran.out, Contains("90 % its interval."));
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 110);
}

// 18 hosts of 4 GPUs are one rack, and not 18 racks that use 4 GPUs each.
TEST_CASE("hosts that are taken for racks are noted", "[collectives]") {
  const auto noted = [](const char* nodes, const char* gpus) {
    return gradcast_with({"simulate", "--payload", "8MiB", "--cluster", "gb200-nvl72", "--nodes",
                          nodes, "--gpus-per-node", gpus})
        .err;
  };
  CHECK_THAT(noted("18", "4"),
             Contains("these are 18 racks, of which 4 GPUs each take part; hosts of one rack are "
                      "--nodes 1 --gpus-per-node 72"));
  CHECK_THAT(noted("2", "4"), Contains("--nodes 1 --gpus-per-node 8"));
  CHECK_THAT(noted("1", "4"), !Contains("rack"));
  CHECK_THAT(noted("2", "64"), !Contains("rack"));
}

TEST_CASE("more GPUs a node than the cluster's file has are noted", "[collectives]") {
  const std::string said =
      "the cluster's file has 8 GPUs a node; 72 are taken to share its NVLink as they do";
  for (const std::vector<std::string>& asked :
       {std::vector<std::string>{"collectives", "--sizes", "8MiB"},
        {"simulate", "--payload", "8MiB"}}) {
    const auto noted = [&](const char* cluster, const char* gpus) {
      std::vector<std::string> words = asked;
      words.insert(words.end(), {"--cluster", cluster, "--nodes", "1", "--gpus-per-node", gpus});
      const Ran ran = gradcast_with(words);
      CHECK(ran.exit_code == 0);
      return ran.err;
    };
    CAPTURE(asked);
    CHECK_THAT(noted("hgx-b200", "72"), Contains(said));
    CHECK_THAT(noted("hgx-b200", "8"), !Contains("are taken to share"));
    CHECK_THAT(noted("hgx-b200", "4"), !Contains("are taken to share"));
    CHECK_THAT(noted("10gbe", "8"), !Contains("are taken to share"));    // PCIe
    CHECK_THAT(noted("mi300x", "16"), !Contains("are taken to share"));  // no NVLink
  }
}

// ResNet-50 with 32 images takes a tenth of a second on a V100.
TEST_CASE("a compute time in milliseconds is noted", "[cli]") {
  const auto note = [](const char* seconds) {
    return gradcast_with(
               {"simulate", "--model", "resnet-50", "--batch", "32", "--compute-seconds", seconds})
        .err;
  };
  CHECK_THAT(note("100s"), Contains("samples: seconds, of one GPU alone?"));
  CHECK_THAT(note("100us"), Contains("samples: seconds, of one GPU alone?"));
  CHECK_THAT(note("0.1s"), !Contains("of one GPU alone?"));
}

// 300 GB/s are an A100's links in one direction, and 600 in both. Nothing but that tells a GPU
// here.
TEST_CASE("GPUs that nothing names are said, where a data sheet's rate may name others", "[cli]") {
  const auto note = [](const std::string& bandwidth) {
    return gradcast_with({"simulate", "--preset=today", "--model", "gpt2-small", "--cluster",
                          "10gbe", "--nodes", "2", "--gpus-per-node", "8", "--intra-bandwidth",
                          bandwidth})
        .err;
  };
  CHECK_THAT(note("300GBps"),
             Contains("by an intra_bandwidth of 2400Gbps they are taken for a100"));
  CHECK_THAT(note("600GBps"), Contains("they are taken for h100"));
  CHECK_THAT(note("240GBps"), !Contains("they are taken for"));
}

TEST_CASE("list names the libraries whose choice a collective may be", "[collectives]") {
  std::vector<std::string> names;
  for (const nlohmann::json& entry : results_of({"list"}))
    if (entry.at("kind") == "collective") names.push_back(entry.at("name"));
  for (const char* library : {"nccl", "rccl", "gloo", "open-mpi", "open-mpi-4.0"})
    CHECK_THAT(names, Catch::VectorContains(std::string(library)));
}

TEST_CASE("collectives says whose choice it prints", "[collectives]") {
  for (const auto& [cluster, library] :
       {std::pair{"frontier", "RCCL"}, {"mi300x", "RCCL"}, {"dgx-h100", "NCCL"}}) {
    const Ran ran = gradcast_with({"collectives", "--cluster", cluster, "--nodes", "1,4", "--sizes",
                                   "1KiB,64MiB", "--verbose"});
    CAPTURE(cluster);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.out, Contains(std::string(library) + "'s estimates, us"));
    CHECK_THAT(ran.out,
               Contains("\n" + std::string(library) + " 2.27.5 chooses by its own tables"));
    const std::string all = ran.out;
    CHECK((all.find("\nNCCL 2") == all.npos) == (library == std::string("RCCL")));
    CHECK((all.find("Few logs of RCCL") == all.npos) == (library == std::string("NCCL")));
    const nlohmann::json row =
        results_of({"collectives", "--cluster", cluster, "--sizes", "1MiB"}).at(0);
    CHECK(row.at("library") == library);
    CHECK(row.at("library_version") == "2.27.5");
  }
}

// nccl-tests counts both bandwidths alike. A node of 8 H100 sends to the next through one NIC of
// 47 GB/s, and broadcasts through all eight.
TEST_CASE("broadcast and send-receive have one bandwidth", "[collectives]") {
  for (const auto& [kind, least, most] :
       {std::tuple{"broadcast", 200., 376.}, {"send-receive", 40., 47.}}) {
    const nlohmann::json row = results_of({"collectives", "--cluster", "dgx-h100", "--nodes", "4",
                                           "--sizes", "1GiB", "--kind", kind})
                                   .at(0);
    CAPTURE(kind);
    const double bus = row.at("busbw_gb_per_second").get<double>();
    CHECK(bus == row.at("algbw_gb_per_second"));
    CHECK(bus > least);
    CHECK(bus < most);
    CHECK(row.at("rule_us").is_null() == (row.at("algorithm") == "p2p"));
  }
}

// Two pictures in one file, and the same two from the JSON.
TEST_CASE("collectives draws what it prints", "[collectives]") {
  const TemporaryFolder folder;
  const std::string file = folder.path / "collectives.svg";
  const std::string json = folder.path / "collectives.json";
  const Ran ran = gradcast_with({"collectives", "--cluster", "dgx-h100", "--nodes", "1..4",
                                 "--engine", "analytic", "--plot", file, "-o", json});
  REQUIRE(ran.exit_code == 0);
  std::ostringstream svg_text;
  svg_text << std::ifstream(file).rdbuf();
  const std::string svg = svg_text.str();
  CHECK(xml_fault(svg) == "");
  for (const char* there :
       {"all-reduce: bus bandwidth", "all-reduce: time", "4 nodes of 8", "nvls/Simple", "256MiB"})
    CHECK_THAT(svg, Contains(there));
  const Ran listed = gradcast_with({"report", json, "--figures"});
  CHECK_THAT(listed.out, Contains("all-reduce-bandwidth") && Contains("all-reduce-time"));
}

TEST_CASE("what collectives cannot say has one line", "[collectives]") {
  for (const auto& [words, said] :
       {std::pair<std::vector<std::string>, const char*>{{"collectives", "--kind", "gather"},
                                                         "is not one of all-reduce"},
        {{"collectives", "--nodes", "1", "--gpus-per-node", "1"}, "nobody to exchange with"},
        {{"collectives", "--nccl", "1.3"}, "is not a version of NCCL"},
        {{"collectives", "--cluster", "mi300x", "--nccl", "2.22"}, "RCCL 2.22 is older"},
        {{"collectives", "--plot", "a.svg", "-o", "a.svg"}, "are two files"},
        {{"collectives", "--nccl", "torch-2.99"}, "is not known (known: 1.7, 1.8"},
        {{"collectives", "--sizes", "8GiB..1KiB"}, "is no range of sizes"},
        {{"collectives", "--nodes", "65536"}, "are 262144 ranks; the most is 65536"},
        {{"collectives", "--nic-share", "101%"}, "101% of a NIC is not from 0.1% to 100%"},
        {{"collectives", "--cluster", "dgx-h10"}, "did you mean 'dgx-h100'?"},
        {{"collectives", "--gpu", "rtx-4900"}, "gpu 'rtx-4900' is none of traces/devices.csv"},
        {{"simulate", "--payload", "8MiB", "--gpu", "rtx-4900"}, "did you mean 'rtx-4090'?"},
        {{"collectives", "--network-kind", "carrier-pigeon"}, "is not one of unknown"}}) {
    const Ran ran = gradcast_with(words);
    CAPTURE(words);
    CHECK(ran.exit_code == 2);
    CHECK_THAT(ran.err, Contains(said));
  }
}

// Four times 3e18 bytes are more than 63 bits count: the range never ended.
TEST_CASE("a range of sizes ends at what can be counted", "[collectives]") {
  for (const char* range : {"3000000000000000000B..9000000000000000000B", "8000000000000000000B"})
    CHECK(results_of({"collectives", "--sizes", range, "--nodes", "2"}).size() == 1);
  CHECK(results_of({"collectives", "--sizes", "1000000000000000000B..9000000000000000000B",
                    "--nodes", "2"})
            .size() == 2);
}

// A plain ring crossed one NIC, so that 1 and 8 of them took as long.
TEST_CASE("without flags a job runs DDP on NCCL over all NICs of its cluster", "[collectives]") {
  double before = 0;
  for (const char* nics : {"1", "2", "4", "8"}) {
    const nlohmann::json row = simulated(
        {"--model", "gpt2-xl", "--cluster", "dgx-a100", "--nodes", "16", "--nics-per-node", nics});
    const double seconds = row.at("iteration_seconds").get<double>();
    if (before > 0) CHECK(seconds < before);
    before = seconds;
    CHECK(row.at("trace") == "iteration-gpt2-xl-a100");
    CHECK(row.at("fusion") == "ddp");
    CHECK(row.at("overlap") == "yes");
    CHECK_THAT(row.at("assumed").get<std::string>(),
               Catch::StartsWith("PyTorch DDP on NCCL 2.27.5 over " + std::string(nics) + " NIC"));
  }
}

TEST_CASE("switches that add up for NCCL are said in words, and shorten a job", "[collectives]") {
  const auto asked = [](const char* sharp) {
    return simulated(
        {"--model", "gpt2-xl", "--cluster", "dgx-h100", "--nodes", "16", "--network-sharp", sharp});
  };
  const nlohmann::json without = asked("no");
  const nlohmann::json with = asked("yes");
  CHECK_THAT(with.at("assumed").get<std::string>(),
             Catch::Contains("a node, to switches that add up, buckets of 25 MiB"));
  CHECK(without.at("assumed").get<std::string>().find("add up") == std::string::npos);
  CHECK(with.at("iteration_seconds") < without.at("iteration_seconds"));
}

// torch 2.5 requires NCCL 2.21.5.
TEST_CASE("a PyTorch stands for its NCCL, and the answer says which", "[collectives]") {
  const nlohmann::json by_torch = simulated({"--model", "resnet-50", "--nccl", "torch-2.5"});
  const nlohmann::json by_nccl = simulated({"--model", "resnet-50", "--nccl", "2.21.5"});
  CHECK_THAT(by_torch.at("assumed").get<std::string>(),
             Catch::StartsWith("PyTorch DDP on NCCL 2.21.5 of PyTorch 2.5 over"));
  CHECK(by_torch.at("iteration_seconds") == by_nccl.at("iteration_seconds"));
}

TEST_CASE("what is typed comes before what is assumed", "[collectives]") {
  const nlohmann::json row =
      simulated({"--model", "resnet-50", "--stack", "none", "--fusion", "merged", "--overlap", "no",
                 "--collective", "ring-all-reduce", "--trace", "iteration-resnet-50-v100",
                 "--broadcast-buffers", "no"});
  CHECK(row.at("stack") == "");
  CHECK(row.at("fusion") == "merged");
  CHECK(row.at("collective") == "ring-all-reduce");
  const nlohmann::json paper =
      results_of({"simulate", "--preset", "paper", "--model", "resnet-50"}).at(0);
  CHECK(row.at("iteration_seconds") == paper.at("iteration_seconds"));
}

// An RTX 3090's trace on an A100 is scaled by memory bandwidths, 2039 / 936 GB/s: arithmetic has
// more. A speed that somebody typed was once called derived too.
TEST_CASE("a speed is called derived only where nobody gave it", "[collectives]") {
  const auto assumed = [](std::vector<std::string> more) {
    std::vector<std::string> words{"--model", "vgg-16", "--gpu-generation", "ampere"};
    words.insert(words.end(), more.begin(), more.end());
    return simulated(words).at("assumed").get<std::string>();
  };
  CHECK_THAT(assumed({}), Contains("iteration-vgg-16-rtx-3090 at 2.18 times the speed (they are of "
                                   "mixed precision; derived"));
  CHECK_THAT(assumed({"--compute-speed", "2"}), !Contains("derived"));
}

// 8 KiB among 1024 GPUs: 8 levels up and down, some 10 us a step and 6 us of launch; 10 ms by a
// plain ring of 2046 steps.
TEST_CASE("a small all-reduce of many nodes takes a tree's time", "[collectives]") {
  const nlohmann::json row = simulated(
      {"--payload", "8192B", "--nodes", "256", "--gpus-per-node", "4", "--cluster", "polaris"});
  const double us = 1e6 * row.at("iteration_seconds").get<double>();
  CHECK(us > 150);
  CHECK(us < 350);
  CHECK(row.at("collective") == "tree");
}
