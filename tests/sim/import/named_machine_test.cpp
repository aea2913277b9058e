// Measurements of a machine that somebody names: import --cluster, --nodes, --gpus-per-node.
#include <catch2/catch.hpp>

#include "sim/base/text.hpp"
#include "sim/inputs/nccl_settings.hpp"
#include "tests/sim/import/nccl_tests_logs.hpp"
#include "tests/sim/import/network_imports.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

Cluster machine(NetworkKind kind) {
  Cluster cluster;
  cluster.name = "ours";
  cluster.nodes = 8;
  cluster.gpus_per_node = 8;
  cluster.nic = {BytesPerSecond{9e9}, Seconds{9e-6}};
  cluster.intra = {BytesPerSecond{370e9}, Seconds{3e-6}};
  cluster.network_kind = kind;
  cluster.gpu_generation = GpuGeneration::Hopper;
  return cluster;
}

/// 9.4 Gb/s are 1.175 GB/s, and half of the round trip is 26 us.
const std::string kIperf3 =
    R"({"start":{"version":"iperf 3.16","test_start":{"protocol":"TCP","num_streams":1}},
        "end":{"streams":[{"sender":{"min_rtt":52}}],"sum_received":{"bits_per_second":9.4e9}}})";

}  // namespace

TEST_CASE("links that files measure are those of the named machine", "[network]") {
  const Imported tcp = network_of({kIperf3}, {}, machine(NetworkKind::Tcp));
  CHECK(tcp.cluster->cluster.nic.bandwidth.value == Approx(1.175e9));
  CHECK(tcp.cluster->cluster.nic.latency.count() == Approx(26e-6));
  CHECK(tcp.cluster->sources.at("nic_bandwidth") == "said by the imported files");
  const Imported osu = network_of({"# OSU MPI Bandwidth Test v5.6.3\n4194304  24300.5\n"}, {},
                                  machine(NetworkKind::InfiniBand));
  CHECK(osu.cluster->cluster.nic.bandwidth.value == Approx(24300.5e6));
  CHECK(osu.cluster->sources.at("nic_latency") == "as ours");
}

TEST_CASE("TCP's rate is not taken for a machine whose network is another", "[network]") {
  const Imported imported = network_of({kIperf3}, {}, machine(NetworkKind::InfiniBand));
  CHECK(imported.cluster->cluster.nic.bandwidth.value == Approx(9e9));
  CHECK(imported.cluster->cluster.network_kind == NetworkKind::InfiniBand);
  CHECK_THAT(join(imported.notes.dropped),
             Contains("iperf3 measured over TCP: the network of ours is infiniband"));
}

TEST_CASE("a log that contradicts the named machine is taken, and asked about", "[network]") {
  const std::string log = "all_reduce_perf\n" + kBegin + ranks(2, 4) +
                          "n:1:1 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n"
                          "n:1:1 [0] NCCL INFO Using network Socket\n" +
                          kHeader + nccl_row(1'000'000, 100, 1.75) + "\n";
  const Imported imported = network_of({log}, {}, machine(NetworkKind::InfiniBand));
  CHECK(imported.cluster->cluster.network_kind == NetworkKind::Tcp);
  CHECK(imported.cluster->cluster.nccl_settings.text == "NCCL_ALGO=Ring");
  const std::string notes = join(imported.notes.unknown);
  CHECK_THAT(notes, Contains("why the files' network is tcp where that of ours is infiniband"));
  CHECK_THAT(notes,
             Contains("why the files name the GPU NVIDIA A100-SXM4-40GB where ours has those "
                      "of generation hopper"));
}

TEST_CASE("somebody says the layout where no file does", "[network]") {
  const SaidLayout said{.nodes = 4, .gpus_per_node = 8};
  const Imported link = network_of({kIperf3}, said);
  CHECK(link.cluster->cluster.nodes == 4);
  CHECK(link.cluster->cluster.gpus_per_node == 8);
  CHECK(link.cluster->sources.at("gpus_per_node") == "said by --gpus-per-node");
  const Imported log = network_of({"all_reduce_perf\n" + kBegin + ranks(2, 4) + kHeader +
                                   nccl_row(1'000'000, 100, 1.75) + "\n"},
                                  said);
  CHECK(log.cluster->cluster.nodes == 2);
  CHECK_THAT(join(log.notes.dropped), Contains("--nodes 4: the files say 2") &&
                                          Contains("--gpus-per-node 8: the files say 4"));
}
