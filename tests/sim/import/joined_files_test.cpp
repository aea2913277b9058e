// Files of measurements that contradict each other.
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "tests/sim/import/nccl_tests_logs.hpp"
#include "tests/sim/import/network_imports.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// Two nodes of four GPUs on the network that NCCL's lines name. 64 MiB in `milliseconds`.
std::string nccl(const std::string& lines, double milliseconds) {
  return "all_reduce_perf\n" + kBegin + ranks(2, 4) + lines + kHeader +
         nccl_row(67'108'864, 1000 * milliseconds, 1.75) + "\n";
}

const std::string kInfiniBand =
    "n:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>\n"
    "n:1:1 [0] NCCL INFO Using network IB\n";
const std::string kSockets = "n:1:1 [0] NCCL INFO Using network Socket\n";

std::string iperf3(const char* rate) {
  return R"({"start":{"version":"iperf 3.16","test_start":{"protocol":"TCP","num_streams":1}},
             "end":{"streams":[{"sender":{"min_rtt":400}}],"sum_received":{"bits_per_second":)" +
         std::string(rate) + "}}}";
}

}  // namespace

TEST_CASE("NCCL's word for its network holds against iperf3's, in any order", "[network]") {
  // Two nodes send each other the 64 MiB in 10 ms, 6.71 GB/s; the management network has 1.25.
  const std::string log = nccl(kInfiniBand, 10), management = iperf3("1e10");
  for (const auto& files : {std::vector{log, management}, std::vector{management, log}}) {
    const Imported imported = network_of(files);
    const ImportedCluster& measured = *imported.cluster;
    CHECK(measured.cluster.network_kind == NetworkKind::InfiniBand);
    CHECK(measured.cluster.nic.bandwidth.value > 6e9);
    CHECK_THAT(measured.sources.at("nic_share"), Contains("derived"));
    const Cluster& cluster = measured.cluster;
    CHECK(cluster.nic_share * cluster.nic.bandwidth.value == Approx(53.68e9 / 8).epsilon(0.1));
    CHECK(measured.cluster.nic.latency.count() < 50e-6);  // not half of 400 us
    CHECK_THAT(join(imported.notes.unknown),
               Contains("why iperf3 reached 10Gbps where a NIC sends 53.68Gbps in collectives"));
    CHECK_THAT(join(imported.notes.inferred),
               Contains("network_kind: infiniband, as NCCL says; iperf3 measured TCP"));
  }
}

// Two nodes send each other the 64 MiB in 10 ms, 53.7 Gb/s, five times what iperf3 reached.
TEST_CASE("iperf3 over a slow network says neither the latency nor the kind of the fast one",
          "[network]") {
  const std::string small = "all_reduce_perf\n" + kBegin + ranks(2, 4) + kHeader +
                            nccl_row(8, 40, 1.75) + "\n" + nccl_row(67'108'864, 10'000, 1.75) +
                            "\n";
  const Cluster alone = network_of({small}).cluster->cluster;
  const Imported imported = network_of({small, iperf3("1e10")});
  const Cluster& cluster = imported.cluster->cluster;
  CHECK(cluster.network_kind == alone.network_kind);
  CHECK(cluster.network_kind != NetworkKind::Tcp);
  CHECK(cluster.nic.latency.count() == alone.nic.latency.count());  // not half of 400 us
  CHECK(cluster.nic.bandwidth.value == alone.nic.bandwidth.value);
  CHECK_THAT(imported.cluster->sources.at("network_kind"), !Contains("said"));
  CHECK_THAT(join(imported.notes.unknown),
             Contains("why iperf3 reached 10Gbps where a NIC sends 53.68Gbps in collectives: those "
                      "decide nic_bandwidth, and iperf3's round trip and its TCP are left out; is "
                      "it another network?"));
  // A tenth more is the same network: 53.7 and 48 Gb/s.
  const Imported near = network_of({small, iperf3("4.8e10")});
  CHECK(near.cluster->cluster.network_kind == NetworkKind::Tcp);
  CHECK(near.cluster->cluster.nic.latency.count() == Approx(200e-6));
  CHECK_THAT(join(near.notes.unknown), Contains("in collectives: those decide nic_bandwidth; is "));
}

// 64 MiB in 60 ms are 1.12 GB/s, far below 11.7. A ring of all 8 GPUs would send 7/4 of it.
TEST_CASE("large collectives decide a NIC's bandwidth where iperf3 is faster", "[network]") {
  const Imported imported = network_of({iperf3("9.392e10"), nccl(kSockets, 60)});
  const Cluster& cluster = imported.cluster->cluster;
  CHECK(cluster.network_kind == NetworkKind::Tcp);
  CHECK(cluster.nic.bandwidth.value > 1.1e9);
  CHECK(cluster.nic.bandwidth.value < 2.5e9);
  CHECK(cluster.nic.latency.count() == Approx(200e-6));
  CHECK_THAT(imported.cluster->sources.at("nic_bandwidth"), Contains("10 Gbit/s"));
  CHECK_THAT(imported.cluster->sources.at("nic_share"), Contains("derived"));
  CHECK_THAT(join(imported.notes.inferred),
             Contains("by collectives, in which a NIC sends at least 8.96Gbps; iperf3 reached "
                      "93.92Gbps"));
  // Without NCCL's lines iperf3's network is the only one that is named.
  CHECK(network_of({iperf3("1e10"), nccl("", 60)}).cluster->cluster.network_kind ==
        NetworkKind::Tcp);
}

TEST_CASE("iperf3's rate stays where no large collective was measured", "[network]") {
  const std::string small = "all_reduce_perf\n" + kBegin + ranks(2, 4) + kSockets + kHeader +
                            nccl_row(65'536, 100, 1.75) + "\n";
  const Imported imported = network_of({iperf3("1e10"), small});
  CHECK(imported.cluster->cluster.nic.bandwidth.value == Approx(1.25e9));
  CHECK_FALSE(imported.cluster->sources.contains("nic_share"));
}

TEST_CASE("a size that takes longer than a larger one is to be measured again", "[network]") {
  const auto log = [](double microseconds) {
    return "all_reduce_perf\n" + kBegin + ranks(2, 4) + kHeader +
           nccl_row(4'194'304, microseconds, 1.75) + "\n" + nccl_row(8'388'608, 1000, 1.75) + "\n" +
           nccl_row(16'777'216, 1900, 1.75) + "\n";
  };
  CHECK_THAT(join(network_of({log(3000)}).notes.unknown),
             Contains("why all-reduce of 4MiB on 2 x 4 GPUs took 3 times as long as of 8MiB") &&
                 Contains("measure it again"));
  CHECK_THAT(join(network_of({log(1400)}).notes.unknown), !Contains("measure it again"));
}

TEST_CASE("the faster one of two measured links is taken", "[network]") {
  const std::string osu =
      "# OSU MPI Bandwidth Test v7.2\n# Size  Bandwidth (MB/s)\n4194304  12000\n";
  const Imported imported = network_of({osu, iperf3("1e10")});
  CHECK(imported.cluster->cluster.nic.bandwidth.value == Approx(12e9));
  CHECK(imported.cluster->cluster.network_kind == NetworkKind::Unknown);  // sockets do not reach it
  CHECK_THAT(join(imported.notes.unknown),
             Contains("why iperf3 reached 10Gbps: the 96Gbps of another file are taken"));
}

TEST_CASE("logs of two kinds of GPU are not those of one cluster", "[network]") {
  const auto log = [](const char* device) {
    return "all_reduce_perf\n" + kBegin + ranks(2, 4, device) + kHeader +
           nccl_row(67'108'864, 10'000, 1.75) + "\n";
  };
  const std::string h100 = log("NVIDIA H100 80GB HBM3");
  CHECK_THROWS_AS(network_of({h100, log("NVIDIA A10")}), UsageError);
  CHECK_THROWS_WITH(network_of({log("AMD Instinct MI250X"), iperf3("1e10"), h100}),
                    Contains("0.log is of AMD Instinct MI250X, ") &&
                        Contains("2.log of NVIDIA H100 80GB HBM3: a cluster has GPUs of one kind; "
                                 "import each by itself"));
  CHECK_THROWS_AS(network_of({h100, log("NVIDIA H100 PCIe")}), UsageError);
  // Memory and the module are left out by many, and a cluster may have nodes of both.
  const std::string a100 = log("NVIDIA A100-SXM4-40GB");
  CHECK_NOTHROW(network_of({a100, log("NVIDIA A100-SXM4-80GB")}));
  CHECK_NOTHROW(network_of({a100, log("A100")}));
  CHECK_THROWS_AS(network_of({log("NVIDIA GeForce RTX 3080"), log("NVIDIA GeForce RTX 3080 Ti")}),
                  UsageError);
  // A name may say less, and drivers put NVIDIA before it or not.
  CHECK(network_of({log("H100"), h100}).device == "NVIDIA H100 80GB HBM3");
  CHECK(network_of({h100, log("H100 80GB HBM3")}).device == "NVIDIA H100 80GB HBM3");
}

TEST_CASE("files that seem to be of two clusters are mixed, and that is said", "[network]") {
  const Imported networks = network_of({nccl(kInfiniBand, 10), nccl(kSockets, 10)});
  REQUIRE(networks.mixed.size() == 1);
  CHECK(networks.mixed[0] ==
        "the files name two networks, infiniband and tcp: the last one is taken; are all files of "
        "one cluster?");
  CHECK_THAT(join(networks.notes.unknown), Contains("why " + networks.mixed[0]));
  const Imported times = network_of({nccl(kInfiniBand, 10), nccl(kInfiniBand, 30)});
  REQUIRE(times.mixed.size() == 1);
  CHECK_THAT(times.mixed[0], Contains("times of one case differ by up to a factor of 3"));
  CHECK(network_of({nccl(kInfiniBand, 10), nccl(kInfiniBand, 11)}).mixed.empty());
}
