// Measurements of a cluster: logs of nccl-tests, tables of OSU, iperf3, nvidia-smi topo.
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/network/network_facts.hpp"
#include "sim/import/readers.hpp"
#include "sim/import/written.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "tests/sim/import/nccl_tests_logs.hpp"
#include "tests/sim/import/network_imports.hpp"

using namespace gradcast;
using Catch::Contains;

TEST_CASE("a log of nccl-tests gives times out of place, and the nodes that took part",
          "[network]") {
  const NetworkFacts facts = facts_of(kBegin + ranks(2, 2) + kHeader + kMegabyte + kTwo);
  CHECK(facts.nodes == 2);
  CHECK(facts.gpus_per_node == 2);
  CHECK(facts.device == "NVIDIA A100-SXM4-40GB");
  REQUIRE(facts.points.size() == 2);
  // No line names the test: 15 / 10 is 2 (4 - 1) / 4.
  CHECK(facts.points[0].collective == "all-reduce");
  CHECK(facts.points[0].bytes.count == 1'000'000);
  CHECK(facts.points[0].library == "nccl");
  CHECK(facts.points[0].seconds.count() == Approx(100e-6));
  CHECK(facts.points[1].seconds.count() == Approx(180e-6));
}

TEST_CASE("a line names the test, and lines of NCCL its version and network", "[network]") {
  // An all-gather by 4 ranks has a bus bandwidth of 3/4 of the algorithm's.
  const std::string row =
      "     1000000         62500      half    none      -1    100.0   10.00    7.50      0    N/A "
      "  "
      " N/A     N/A    N/A\n";
  const NetworkFacts facts =
      facts_of("$ mpirun -np 4 build/all_gather_perf -b 1000000\n" + kBegin + ranks(2, 2) +
               "node0:17:17 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/IB "
               "[2]mlx5_2:1/IB [RO]; OOB eth0:10.0.0.1<0>\n"
               "node0:17:17 [0] NCCL INFO Using network IB\n"
               "node0:17:17 [0] NCCL INFO NVLS multicast support is not available on dev 0\n"
               "node0:17:17 [0] NCCL INFO NCCL_ALGO set by environment to Ring,Tree.\n"
               "node0:18:18 [1] NCCL INFO NCCL_ALGO set by environment to Ring,Tree.\n"
               "node0:17:17 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5.\n"
               "node0:17:17 [0] NCCL INFO NCCL_PROTO set by environment to Simple\n"
               "node0:17:17 [0] NCCL INFO NCCL_P2P_LEVEL set by environment to LOC\n"
               "NCCL version 2.22.3+cuda12.6\n" +
               kHeader + row);
  REQUIRE(facts.points.size() == 1);
  CHECK(facts.points[0].collective == "all-gather");
  CHECK(facts.points[0].library == "nccl-2.22.3");
  CHECK(facts.network_kind == NetworkKind::InfiniBand);
  CHECK(facts.nics_per_node == 2);
  CHECK(facts.nvlink_sharp == YesNo::No);
  CHECK(facts.nccl_settings.text == "NCCL_ALGO=Ring,Tree NCCL_PROTO=Simple NCCL_P2P_LEVEL=LOC");
}

TEST_CASE("Amazon's plugin says its latency and what it sets", "[network]") {
  const std::string ofi = "node0:17:17 [0] NCCL INFO NET/OFI ";
  const NetworkFacts facts = facts_of(
      "all_reduce_perf\n" + kBegin + ranks(1, 4) +
      "node0:17:17 [0] NCCL INFO Using network Libfabric\n" + ofi +
      "Selected Provider is efa (found 4 nics)\n" + ofi + "Internode latency set at 75.0 us\n" +
      ofi + "Setting NCCL_NVLSTREE_MAX_CHUNKSIZE to 512KiB\n" + ofi +
      "Setting NCCL_PROTO to \"simple\"\n" + ofi + "Setting NCCL_PROTO to \"simple\"\n" + ofi +
      "Setting FI_EFA_FORK_SAFE environment variable to 1\n" + ofi + "Setting\n" + ofi +
      "Internode latency set at <unknown: .>\n" + kHeader + kMegabyte);
  CHECK(facts.nccl_plugin_latency == Seconds{75e-6});
  CHECK(facts.nccl_settings.text == "NCCL_NVLSTREE_MAX_CHUNKSIZE=524288 NCCL_PROTO=simple");
}

TEST_CASE(
    "an imported cluster has what Amazon's plugin said, and a step of EFA where none was timed",
    "[network]") {
  const std::string ofi = "node0:17:17 [0] NCCL INFO NET/OFI ";
  const Imported imported = network_of({"all_reduce_perf\n" + kBegin + ranks(2, 8) +
                                        "node0:17:17 [0] NCCL INFO Using network Libfabric\n" +
                                        ofi + "Selected Provider is efa (found 4 nics)\n" + ofi +
                                        "Internode latency set at 75.0 us\n" + ofi +
                                        "Setting NCCL_PROTO to \"simple\"\n" + kHeader +
                                        nccl_row(1'000'000'000, 25'000, 1.875) + "\n"});
  const Cluster& cluster = imported.cluster->cluster;
  CHECK(cluster.nccl_plugin_latency == Seconds{75e-6});
  CHECK(cluster.nccl_settings.text == "NCCL_PROTO=simple");
  CHECK(cluster.nic.latency == Seconds{54e-6});  // 1 GB says nothing of latency
  CHECK_THAT(join(imported.notes.unknown), Contains("a step over EFA in two published logs"));
}

TEST_CASE("names of ranks before a line do not matter, nor markdown's marks", "[network]") {
  for (const char* prefix : {"[1,0]<stdout>:",
                             " 0: ",
                             "node7: ",
                             "> ",
                             "  ",
                             "[0] ",
                             "Sat Nov 28 08:00:00 2026[1,0]<stdout>:",
                             "[pod/nccl-launcher-x/launcher] [1,0]<stdout>:",
                             "[pod/nccl-launcher-x/launcher] ",
                             "2025-05-01T12:00:00.123456789Z [1,0]<stdout>: ",
                             "2026-11-02T10:22:33.1Z stdout F ",
                             "2026-11-02T10:22:33+0000 node0 srun[17]: ",
                             "Nov 02 10:22:33 node0 srun[17]: ",
                             "Nov  2 10:22:33 node0 slurmstepd[17]: 0: ",
                             "2026-11-02 10:22:33,123 INFO ",
                             "2026-11-02 10:22:33,123 - root - INFO - ",
                             "[2026-11-02 10:22:33,123] [INFO] ",
                             "I1102 10:22:33.123456 1234 launch.cc:12] ",
                             "E1102 10:22:33.1 1234 5678 launch.cc:12] ",
                             "Mon Nov  2 10:22:33 UTC 2026 ",
                             "10:22:33 ",
                             "INFO:root:",
                             "[default0]:",
                             "(RayWorker pid=1234, ip=10.0.0.2) ",
                             "\x1b[36m(RayWorker pid=1234)\x1b[0m ",
                             "\x1b[0m\x1b[32m"}) {
    std::string text;
    for (const std::string& line : split_words(kBegin + ranks(1, 4) + kHeader + kMegabyte, '\n'))
      text += prefix + line + "\r\n";
    CAPTURE(prefix);
    const NetworkFacts facts = facts_of(text);
    REQUIRE(facts.points.size() == 1);
    CHECK(facts.points[0].nodes == 1);
    CHECK(facts.points[0].gpus_per_node == 4);
  }
}

TEST_CASE("a stamp before NCCL's own lines and before a test's command does not matter",
          "[network]") {
  for (const char* stamp : {"2026-11-02T10:22:33.1Z stdout F ", "Nov 02 10:22:33 node0 srun[17]: ",
                            "2026-11-02 10:22:33,123 INFO ", "(RayWorker pid=12, ip=10.0.0.2) "}) {
    std::string text;
    for (const std::string& line :
         split_words("running 2 8 all_gather_perf -b 8 -e 8G\n" + kBegin + ranks(1, 4) +
                         "node0:17:17 [0] NCCL INFO NET/OFI Internode latency set at 75.0 us\n"
                         "node0:17:17 [0] NCCL INFO NCCL_ALGO set by environment to Ring.\n" +
                         kHeader + nccl_row(1'000'000, 100, .75) + "\n",
                     '\n'))
      text += stamp + line + "\n";
    CAPTURE(stamp);
    const NetworkFacts facts = facts_of(text);
    REQUIRE(facts.points.size() == 1);
    CHECK(facts.points[0].collective == "all-gather");
    CHECK(facts.nccl_plugin_latency == Seconds{75e-6});
    CHECK(facts.nccl_settings.text == "NCCL_ALGO=Ring");
  }
}

TEST_CASE("a log whose numbers have decimal commas is refused with that word", "[network]") {
  std::string row = kMegabyte;
  for (char& letter : row)
    if (letter == '.') letter = ',';
  const std::string begin = "all_reduce_perf\n" + kBegin + ranks(1, 4) + kHeader;
  CHECK_THROWS_WITH(facts_of(begin + row + row),
                    Contains("has numbers with decimal commas: nccl-tests writes points"));
  CHECK_THAT(join(facts_of(begin + kTwo + row).notes.dropped),
             Contains("the row of 1000000 bytes has decimal commas"));
}

// Open MPI tags each part of a row that it reads at once. The time of an all-reduce of 4 ranks is
// that of the row without tags, out of place: 100 us.
TEST_CASE("a launcher's tags inside a row do not matter", "[network]") {
  const std::string first = "     1000000        250000     float     sum      -1";
  const std::string second = "    100.0   10.00   15.00      0";
  const std::string third = "     90.0   11.11   16.67      0";
  for (const std::string tag :
       {"[1,0]<stdout>:", "[1,13]<stdout>: ", "[1,0]<stderr>:", "[prterun-node1-7@1,0]<stdout>:",
        "[1,0][node1:17]<stdout>: ", "[0]", "[13] "}) {
    std::string text = "all_reduce_perf\n";
    for (const std::string& line : split_words(kBegin + ranks(1, 4) + kHeader, '\n'))
      text += tag + " " + line + "\n";
    for (const std::string& row :
         {first + tag + second + tag + third, first + tag + second + third,
          first + second + tag + third, first + tag + "\n" + tag + second + tag + third})
      for (const std::string& before : {tag, std::string()}) {
        CAPTURE(tag, row, before);
        const NetworkFacts facts = facts_of(text + before + row + "\n");
        REQUIRE(facts.points.size() == 1);
        CHECK(facts.points[0].bytes.count == 1'000'000);
        CHECK(facts.points[0].seconds.count() == Approx(100e-6));
      }
  }
}

// Each part of a row is one print of nccl-tests: up to the root, out of place, in place.
TEST_CASE("a row that other lines cut is put together", "[network]") {
  const std::string info = "node1:17:18 [0] NCCL INFO Channel 00/0 : 3[1] -> 0[0] via NET/IB/2\n";
  const std::string first = "     1000000        250000     float     sum      -1";
  const std::string second = "    100.0   10.00   15.00      0";
  const std::string third = "     90.0   11.11   16.67      0\n";
  for (const std::string& row :
       {first + info + info + second + third, first + info + second + info + third,
        first + second + info + third, first + second + info}) {
    CAPTURE(row);
    const NetworkFacts facts = facts_of(kBegin + ranks(2, 2) + kHeader + row + kTwo);
    REQUIRE(facts.points.size() == 2);
    CHECK(facts.points[0].seconds.count() == Approx(100e-6));
    CHECK(facts.points[1].seconds.count() == Approx(180e-6));
  }
  // Only the beginning of it came.
  const NetworkFacts facts = facts_of(kBegin + ranks(2, 2) + kHeader + first + info + kTwo);
  CHECK(facts.points.size() == 1);
  CHECK_THAT(join(facts.notes.dropped), Contains("the row of 1000000 bytes is cut"));
}

TEST_CASE("the old layout has no root, and an error in place of a count", "[network]") {
  const std::string old =
      "#       size         count      type   redop     time   algbw   busbw  error     time   "
      "algbw "
      "  busbw  error\n"
      "     1000000        250000     float     sum    100.0   10.00   15.00  2e-07     90.0   "
      "11.11 "
      "  16.67  2e-07\n";
  std::string devices = ranks(2, 2);
  for (std::size_t at = devices.find(" Group  0"); at != std::string::npos;
       at = devices.find(" Group  0"))
    devices.erase(at, 9);
  const NetworkFacts facts = facts_of(kBegin + devices + old);
  REQUIRE(facts.points.size() == 1);
  CHECK(facts.points[0].seconds.count() == Approx(100e-6));
  CHECK(facts.nodes == 2);
  // Before 2020 the algorithm bandwidth of an all-gather was that of its bus: 7.5 of 10 GB/s.
  const NetworkFacts gathers = facts_of("all_gather_perf\n" + kBegin + devices +
                                        "     1000000         62500     float    100.0    7.50    "
                                        "7.50  0e+00    100.0    7.50    7.50 "
                                        "0e+00\n");
  REQUIRE(gathers.points.size() == 1);
  CHECK(gathers.points[0].collective == "all-gather");
}

TEST_CASE("several tests in a file are told apart", "[network]") {
  const auto test = [](const char* name, int nodes, const char* type) {
    return std::string(
               "# nccl-tests version 2.17.8 nccl-library=22902\n# Collective test "
               "starting: ") +
           name + "\n" + kBegin + ranks(nodes, 2) + kHeader + "     1000000        250000  " +
           type +
           "    none      -1    100.0   10.00   10.00      0    100.0   10.00   10.00      0\n# "
           "Collective test concluded: " +
           name + "\n";
  };
  const NetworkFacts facts =
      facts_of(test("sendrecv_perf", 2, "bfloat16") + test("alltoall_perf", 1, "double") +
               test("hypercube_perf", 1, "half"));
  REQUIRE(facts.points.size() == 2);
  CHECK(facts.points[0].collective == "send-receive");
  CHECK(facts.points[0].nodes == 2);
  CHECK(facts.points[0].library == "nccl-2.29.2");
  CHECK(facts.points[1].collective == "all-to-all");
  CHECK(facts.points[1].nodes == 1);
  CHECK_THAT(join(facts.notes.dropped), Contains("of hypercube"));
}

// 10 GB/s, and 15 on the bus: 2 x 3/4 of that, so that 4 ranks took part.
TEST_CASE("a table without its ranks takes those that are said, if its bandwidths agree",
          "[network]") {
  const auto facts_with = [](const std::string& log, int nodes, int gpus) {
    return read_nccl_tests({"run.log", log}, {nodes, gpus});
  };
  const std::string bare = "all_reduce_perf\n" + kHeader + kMegabyte;
  const NetworkFacts facts = facts_with(bare, 2, 2);
  REQUIRE(facts.points.size() == 1);
  CHECK(facts.points[0].nodes == 2);
  CHECK(facts.points[0].gpus_per_node == 2);
  CHECK(facts.gpus_per_node == 2);
  CHECK_THROWS_WITH(facts_with(bare, 2, 4), Contains("not those of all-reduce among 8 ranks"));
  CHECK_THROWS_WITH(facts_with(bare, 1, 1), Contains("a collective of 1 ranks"));
  // A list that was cut, and a whole one.
  CHECK(facts_with(kBegin + ranks(1, 1) + kHeader + kMegabyte, 4, 1).points[0].nodes == 4);
  CHECK(facts_with(kBegin + ranks(2, 2) + kHeader + kMegabyte, 2, 1).points[0].gpus_per_node == 2);
}

TEST_CASE("a table is known by its rows alone, and a fraction counts no wrong results",
          "[network]") {
  CHECK(is_nccl_tests("some words\n" + kMegabyte));
  CHECK(is_nccl_tests("[1,0]<stdout>:" + kMegabyte));
  CHECK_FALSE(is_nccl_tests("1000000 250000 float sum -1\n"));
  CHECK_FALSE(is_nccl_tests("1000000 250000 tensor layer 1 2 3 4 5\n"));
  const std::string old =
      "     1000000        250000   float     sum   100.0   10.00   15.00  1e-06    90.0   11.11   "
      "16.67  1e-06\n";
  const NetworkFacts facts =
      read_nccl_tests({"all_reduce_perf.log", "NCCL version 2.6.4+cuda10.1\n" + old}, {2, 2});
  REQUIRE(facts.points.size() == 1);
  CHECK(facts.points[0].seconds.count() == Approx(100e-6));
  CHECK(facts.points[0].library == "nccl-2.6.4");
}

TEST_CASE("what cannot be a measured time is left out, and said", "[network]") {
  const auto dropped = [](const std::string& log, const char* why) {
    CHECK_THROWS_WITH(facts_of(log), Contains(why));
    CHECK_THROWS_AS(facts_of(log), DataError);
  };
  dropped("launch failed on node0\n", "has no table of nccl-tests");
  dropped(kBegin + kHeader + kMegabyte, "no lines '# Rank 0 ... on HOST device 0' say its ranks");
  dropped(kBegin + ranks(1, 1) + kHeader + kMegabyte, "of one rank");
  dropped(kBegin + ranks(1, 2) + ranks(1, 2) + "#  Rank 2 Group 0 Pid 17 on other device 0 GPU\n" +
              kHeader + kMegabyte,
          "unequal numbers of ranks");
  dropped(kBegin + ranks(2, 2) + kHeader +
              "     1000000 250000 float sum -1 100.0 10.00 15.00 7 90.0 11.11 16.67 7\n",
          "counts wrong results");
  // 1,000,000 bytes in 100 us are not 12 GB/s.
  dropped(kBegin + ranks(2, 2) + kHeader +
              "     1000000 250000 float sum -1 100.0 12.00 18.00 0 100.0 12.00 18.00 0\n",
          "has no time that fits its bandwidth");
  dropped(kBegin + ranks(2, 2) + kHeader +
              "     1000000 250000 float none -1 100.0 10.00 7.50 0 100.0 10.00 7.50 0\n",
          "nothing says which test it is of");
}

TEST_CASE("several files make one cluster, with a file of measured times", "[network]") {
  // Two logs of the same nodes: the median of 100 and 120 us is 110.
  const auto log = [](int nodes, double microseconds) {
    return "all_reduce_perf\n" + kBegin + ranks(nodes, 4) + kHeader +
           nccl_row(1'000'000, microseconds, nodes == 2 ? 1.75 : 1.5) + "\n";
  };
  // 15 / 10 fits an all-reduce of 4 ranks, not of 8: a line must name the test.
  CHECK_THROWS_WITH(network_of({kBegin + ranks(2, 4) + kHeader + kMegabyte}),
                    Contains("nothing says which test it is of"));
  const Imported all = network_of({log(2, 100), log(2, 120), log(1, 90)});
  REQUIRE(all.cluster);
  CHECK(all.cluster->cluster.nodes == 2);
  CHECK(all.cluster->cluster.gpus_per_node == 4);
  CHECK(all.cluster->cluster.gpu_generation == GpuGeneration::Ampere);
  REQUIRE(all.cluster->curve.size() == 2);
  CHECK(all.cluster->curve[1].seconds.count() == Approx(110e-6));
  const ImportedFiles files = files_of(all, "ours", shape_of(all, {}), "my", {"provenance"});
  REQUIRE(files.files.size() == 2);
  CHECK(files.paths.collectives == "my/traces/collectives-ours.csv");
  CHECK(files.paths.cluster == "my/platforms/ours.csv");
  require_readable(files);
  const Cluster cluster = load_cluster(files.files[1]);
  CHECK(cluster.measured_collectives == "../traces/collectives-ours.csv");
  CHECK(cluster.nic.bandwidth.value == Approx(all.cluster->cluster.nic.bandwidth.value));
}

// Seven xGMI links of 48 GB/s, as RCCL counts them. Eight H100 would have an NVSwitch.
TEST_CASE("a log of rccl-tests makes a cluster of AMD's GPUs", "[network]") {
  std::string on_amd = ranks(1, 8);
  const std::string nvidia = "NVIDIA A100-SXM4-40GB";
  REQUIRE(on_amd.find(nvidia) != on_amd.npos);
  for (std::size_t at = on_amd.find(nvidia); at != on_amd.npos; at = on_amd.find(nvidia))
    on_amd.replace(at, nvidia.size(), "AMD Instinct MI300X");
  const Imported all = network_of(
      {"all_reduce_perf\n" + kBegin + on_amd + kHeader + nccl_row(1'000'000, 100, 1.75) + "\n"});
  REQUIRE(all.cluster);
  CHECK(all.cluster->cluster.gpu_generation == GpuGeneration::Cdna3);
  CHECK(all.cluster->cluster.intra.bandwidth.value == Approx(7 * 48e9));
  CHECK(all.cluster->cluster.nvlink_sharp == YesNo::No);
  CHECK_THAT(all.cluster->sources.at("intra_bandwidth"), Contains("as RCCL counts them"));
}
