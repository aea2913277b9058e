// Links of a cluster from its collectives' times.
#include "sim/import/network/derived_links.hpp"

#include <catch2/catch.hpp>

#include "sim/base/text_file.hpp"
#include "sim/import/written.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/network/measured_time.hpp"
#include "tests/sim/import/nccl_tests_logs.hpp"
#include "tests/sim/import/network_imports.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// All-reduces among `nodes` x 8 A100, which NCCL counts at 240 GB/s inside a node.
Imported reached(int nodes, double bus, const std::string& more = "") {
  const double factor = 2 * (8. * nodes - 1) / (8. * nodes);
  std::string log = "all_reduce_perf\n" + kBegin + ranks(nodes, 8) + kHeader;
  for (const std::int64_t bytes : {std::int64_t{1} << 30, std::int64_t{1} << 31})
    log += nccl_row(bytes, static_cast<double>(bytes) * factor / bus * 1e6, factor) + "\n";
  return network_of({log + more});
}

}  // namespace

// 16 H100 take 100 us for 8 bytes, as P5's do, and send 340 GB/s, which no sockets carry. NCCL's
// tree of two nodes passes the network twice: with the latency found, 8 bytes take the 100 us
// again.
TEST_CASE("a latency that is searched does not turn a fast network into sockets", "[network]") {
  const std::string log = "all_reduce_perf\n" + kBegin + ranks(2, 8, "NVIDIA H100 80GB HBM3") +
                          kHeader + nccl_row(8, 100, 1.875) + "\n" +
                          nccl_row(1 << 30, 5920, 1.875) + "\n";
  const Imported imported = network_of({log});
  Cluster cluster = imported.cluster->cluster;
  CHECK(network_kind_of(cluster) == NetworkKind::InfiniBand);
  CHECK(cluster.nic.latency > Seconds{15e-6});
  CHECK_THAT(imported.cluster->sources.at("network_kind"), Contains("inferred: not tcp"));
  cluster.measured = nullptr;
  CHECK(modelled(cluster, kUsualNccl, nullptr, Outcome::AllReduced, Bytes{8}).time.count() ==
        Approx(100e-6).epsilon(.02));
}

// 365 GB/s pass each GPU, and eight NICs carry 45.6 GB/s each: 97 % of the 47 GB/s of 400 Gbit/s.
TEST_CASE("links carry the measured bytes at least, and not much more", "[network]") {
  const Imported imported = reached(4, 365e9);
  const ImportedCluster& measured = *imported.cluster;
  CHECK(measured.cluster.intra.bandwidth.value == Approx(365e9).epsilon(0.01));
  CHECK_THAT(measured.sources.at("intra_bandwidth"),
             Contains("derived: the least that carries the measured times"));
  REQUIRE(measured.cluster.nics_per_node == 8);
  CHECK(measured.cluster.nic.bandwidth.value == 47e9);
  CHECK(measured.cluster.nic_share > 0.96);
}

TEST_CASE("where links inside nodes bind, a NIC reaches the least that carries the times",
          "[network]") {
  // 239 of the 240 GB/s that NCCL counts inside: eight NICs carry 29.9 GB/s each at least.
  const Imported imported = reached(4, 239e9);
  const ImportedCluster& measured = *imported.cluster;
  CHECK(measured.cluster.intra.bandwidth.value == Approx(240e9));
  const double nics = measured.cluster.nics_per_node;
  const double reached_of_nic = measured.cluster.nic_share * measured.cluster.nic.bandwidth.value;
  CHECK(reached_of_nic * nics > 238e9);
  CHECK(reached_of_nic * nics < 1.5 * 239e9);
  CHECK_THAT(measured.sources.at("nic_share"), Contains("as another link binds them"));
}

// Two nodes of four L40S by one NIC: 11.25 GB/s pass each GPU. That may be all of PCIe, or of a NIC
// of 100 Gb/s. PCIe is given 1.5 times as much, with a deviation. A tree of two nodes sends each
// byte once: 11.25 / (2 x 7/8) = 6.43 GB/s leave a node. Trees reach 92 %, and 7 is 58 % of the 12
// of 100 Gbit/s.
TEST_CASE("a NIC and PCIe that carry the same leave PCIe unknown above that", "[network]") {
  const double factor = 2 * 7. / 8;
  std::string log = "all_reduce_perf\n" + kBegin + ranks(2, 4, "NVIDIA L40S") + kHeader;
  for (const std::int64_t bytes : {std::int64_t{1} << 30, std::int64_t{1} << 31})
    log += nccl_row(bytes, static_cast<double>(bytes) * factor / 11.25e9 * 1e6, factor) + "\n";
  const Imported imported = network_of({log});
  const ImportedCluster& measured = *imported.cluster;
  CHECK(measured.cluster.intra.bandwidth.value == Approx(1.5 * 11.25e9).epsilon(0.01));
  REQUIRE(measured.cluster.deviations.size() == 1);
  CHECK(measured.cluster.deviations.front().property == "intra_bandwidth");
  CHECK(measured.cluster.nic.bandwidth.value == 12e9);
  CHECK(measured.cluster.nic_share == Approx(6.43 / .92 / 12).epsilon(0.02));
  CHECK_THAT(measured.sources.at("nic_share"), Contains("with it the model meets"));
}

// Two of a node's GPUs pass 90 GB/s to another node, and a matrix says that PCIe joins four. The
// model cannot be brought there by any NIC: 32000 Gb/s had been written.
TEST_CASE("a NIC's bandwidth that no time bounds is left as it was", "[network]") {
  std::string log = "all_reduce_perf\n" + kBegin + ranks(2, 2, "NVIDIA H100 80GB HBM3") + kHeader;
  for (const std::int64_t bytes : {std::int64_t{1} << 30, std::int64_t{1} << 31})
    log += nccl_row(bytes, static_cast<double>(bytes) * 1.5 / 90e9 * 1e6, 1.5) + "\n";
  const std::string matrix =
      "        GPU0    GPU1    GPU2    GPU3    NIC0    CPU Affinity    NUMA Affinity   GPU NUMA "
      "ID\n"
      "GPU0     X      NODE    SYS     SYS     NODE    0-15,32-47      0               N/A\n"
      "GPU1    NODE     X      SYS     SYS     PIX     0-15,32-47      0               N/A\n"
      "GPU2    SYS     SYS      X      NODE    SYS     16-31,48-63     1               N/A\n"
      "GPU3    SYS     SYS     NODE     X      SYS     16-31,48-63     1               N/A\n"
      "NIC0    NODE    PIX     SYS     SYS      X\n\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n"
      "  NIC0: mlx5_0\n";
  const Imported imported = network_of({log, matrix});
  CHECK(imported.cluster->cluster.nic.bandwidth.value < 100e9);
  CHECK_THAT(imported.cluster->sources.at("nic_bandwidth"), Contains("not measured"));
}

// 80 GB/s pass two NICs: 40 of the 47 that 400 Gbit/s carry.
TEST_CASE("a NIC that binds has a nominal rate and the share that the times show", "[network]") {
  const Imported imported = reached(4, 80e9);
  const Cluster& cluster = imported.cluster->cluster;
  CHECK(cluster.intra.bandwidth.value == Approx(240e9));
  CHECK(cluster.nics_per_node == 2);
  CHECK(cluster.nic.bandwidth.value == 47e9);
  CHECK(cluster.nic_share == Approx(40. / 47).epsilon(0.05));
  CHECK_THAT(imported.cluster->sources.at("nic_bandwidth"),
             Contains("the goodput of 400 Gbit/s, the nominal rate nearest"));
  CHECK_THAT(imported.cluster->sources.at("nic_share"), Contains("with it the model meets"));
  std::string notes;
  for (const std::string& note : imported.notes.inferred) notes += note + "\n";
  CHECK_THAT(notes, Contains("nic_share: derived") && Contains("on average (8"));
}

// Eight GPUs on eight NICs of 47 GB/s each: 376 GB/s. A share of 100 % would be one that nobody
// says, and a stack's would take its place.
TEST_CASE("a NIC that is all used has a share that is said", "[network]") {
  for (const double each : {46.9e9, 47e9, 47.4e9}) {
    const Imported imported = reached(8, 8 * each);
    CAPTURE(each);
    CHECK(imported.cluster->cluster.nic_share < 1);
    CHECK(imported.cluster->cluster.nic_share * imported.cluster->cluster.nic.bandwidth.value ==
          Approx(each).epsilon(0.05));
  }
}

// Sockets on 1 Gbit/s, which carry 118 MB/s of data.
TEST_CASE("slow Ethernet is not taken for a share of a faster one", "[network]") {
  std::string log = "all_reduce_perf\n" + kBegin + ranks(4, 1) +
                    "n:1:1 [0] NCCL INFO Using network Socket\n" + kHeader;
  for (const std::int64_t bytes : {std::int64_t{1} << 26, std::int64_t{1} << 27})
    log += nccl_row(bytes, static_cast<double>(bytes) * 1.5 / .111e9 * 1e6, 1.5) + "\n";
  const Cluster cluster = network_of({log}).cluster->cluster;
  CHECK(cluster.nic.bandwidth.value == .118e9);
  CHECK(cluster.nic_share == Approx(.111 / .118).epsilon(0.05));
}

// Two nodes of four A100 over two Slingshot NICs of 25 GB/s: 36 GB/s of bus bandwidth are a ring on
// 72 % of both, or a tree, which sends each byte once, on 41 %. NCCL sees 200 Gbit/s, and takes
// rings. Rings on eight nodes reach the same 36 GB/s: 2 x 31/32 GiB in 57.8 ms.
TEST_CASE("two nodes' times are not taken for a tree's on slower NICs", "[network]") {
  std::string log = "all_reduce_perf\n" + kBegin + ranks(2, 4) +
                    "n:1:1 [0] NCCL INFO NET/OFI Selected Provider is cxi (found 2 nics)\n" +
                    kHeader;
  for (const std::int64_t bytes : {std::int64_t{1} << 29, std::int64_t{1} << 30})
    log += nccl_row(bytes, static_cast<double>(bytes) * 1.75 / 36e9 * 1e6, 1.75) + "\n";
  Cluster cluster = network_of({log}).cluster->cluster;
  CHECK(cluster.nics_per_node == 2);
  CHECK(cluster.nic.bandwidth.value == 25e9);
  CHECK(cluster.nic_share == Approx(.72).epsilon(0.02));
  cluster.nodes = 8;
  cluster.lay_out_ranks();
  const Seconds time = modelled(cluster, kUsualNccl, nullptr, Outcome::AllReduced, {1 << 30}).time;
  CHECK(time.count() == Approx(57.8e-3).epsilon(0.03));
}

TEST_CASE("one node's times leave its NIC unknown, and that is said", "[network]") {
  const Imported imported = reached(1, 200e9);
  CHECK_THAT(imported.cluster->sources.at("nic_bandwidth"),
             Contains("not measured: one node crosses no NIC"));
  std::string notes;
  for (const std::string& note : imported.notes.unknown) notes += note + "\n";
  CHECK_THAT(notes, Contains("nic_bandwidth: not measured: one node crosses no NIC; 100 Gbit/s is "
                             "assumed for several") &&
                        Contains("nic_latency: not measured: one node crosses no NIC"));
}

namespace {

Cluster cluster_of_file(const char* name) {
  return load_cluster(
      read_text_file(std::filesystem::path(GRADCAST_SOURCE_DIR) / "platforms" / name));
}

/// The cluster file that an import writes.
TextFile written(const Imported& imported) {
  for (const TextFile& file : files_of(imported, "ours", shape_of(imported, {}), "my", {}).files)
    if (file.path == "my/platforms/ours.csv") return file;
  return {};
}

}  // namespace

// 21 GB/s pass each of a DGX H100's GPUs. A link that is measured has no deviation.
TEST_CASE("a named machine without peer-to-peer has the link that the times show", "[network]") {
  const std::string disabled =
      "node0:17:17 [0] NCCL INFO NCCL_P2P_LEVEL set by environment to LOC\n";
  const double factor = 2 * 7. / 8;
  std::string log = "all_reduce_perf\n" + kBegin + ranks(1, 8) + disabled + kHeader;
  for (const std::int64_t bytes : {std::int64_t{1} << 30, std::int64_t{1} << 31})
    log += nccl_row(bytes, static_cast<double>(bytes) * factor / 21e9 * 1e6, factor) + "\n";
  const Imported imported = network_of({log}, {}, cluster_of_file("dgx-h100.csv"));
  const ImportedCluster& measured = *imported.cluster;
  CHECK(measured.cluster.intra.bandwidth.value == Approx(21e9).epsilon(0.05));
  CHECK(measured.cluster.deviations.empty());
  CHECK_THAT(measured.sources.at("intra_bandwidth"), Contains("derived"));
  CHECK_THAT(measured.sources.at("intra_latency"), Contains("a ring step over PCIe"));
  CHECK(measured.cluster.nvlink_sharp == YesNo::No);
  CHECK_THAT(measured.sources.at("nvlink_sharp"), Contains("nccl_settings end peer-to-peer"));
  CHECK(measured.sources.at("nic_bandwidth") == "as dgx-h100");
  CHECK_THAT(written(imported).content, !Contains("source,deviation"));
}

// The file has the mean of many servers, 4.2 GB/s: here 6 were measured.
TEST_CASE("a machine whose file has no peer-to-peer has the measured link as well", "[network]") {
  const double factor = 2 * 7. / 8;
  std::string log = "all_reduce_perf\n" + kBegin + ranks(1, 8) + kHeader;
  for (const std::int64_t bytes : {std::int64_t{1} << 28, std::int64_t{1} << 30})
    log += nccl_row(bytes, static_cast<double>(bytes) * factor / 6e9 * 1e6, factor) + "\n";
  const Imported imported = network_of({log}, {}, cluster_of_file("rtx-4090-8gpu.csv"));
  const ImportedCluster& measured = *imported.cluster;
  CHECK(measured.cluster.intra.bandwidth.value == Approx(6e9).epsilon(0.05));
  CHECK(measured.cluster.deviations.empty());
  CHECK_THAT(measured.sources.at("intra_bandwidth"), Contains("derived"));
  CHECK(measured.sources.at("intra_latency") == "as rtx-4090-8gpu");
  // Peer-to-peer of a machine that has it is no guess.
  const Imported switched = network_of({log}, {}, cluster_of_file("dgx-h100.csv"));
  CHECK(switched.cluster->sources.at("intra_bandwidth") == "as dgx-h100");
}

// Times of 1 MB decide no bandwidth: the link stays the file's, with 83 % to either side.
TEST_CASE("a link that nobody measured keeps its deviation in the written file", "[network]") {
  const auto imported = [](const std::string& setting, const char* machine) {
    return network_of({"all_reduce_perf\n" + kBegin + ranks(1, 8) + setting + kHeader +
                       nccl_row(1'000'000, 300, 1.75) + "\n"},
                      {}, cluster_of_file(machine));
  };
  const auto deviation_of = [](const Imported& its) {
    const Cluster cluster = load_cluster(written(its));
    REQUIRE(cluster.deviations.size() == 1);
    CHECK(cluster.deviations[0].property == "intra_bandwidth");
    return cluster.deviations[0].share;
  };
  CHECK(deviation_of(imported("", "rtx-4090-8gpu.csv")) == Approx(0.83));
  const Imported disabled = imported(
      "node0:17:17 [0] NCCL INFO NCCL_P2P_LEVEL set by environment to LOC\n", "dgx-1-v100.csv");
  CHECK(deviation_of(disabled) == Approx(0.83));
  CHECK_THAT(disabled.cluster->sources.at("intra_bandwidth"),
             Contains("not measured: nccl_settings end peer-to-peer"));
}
