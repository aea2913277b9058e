// NCCL's own tables: their choices, and their times.
#include "sim/network/nccl_rule.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/network/nccl_of_torch.hpp"

using namespace gradcast;

namespace {

/// The cluster of NVIDIA/nccl#1453: 3 nodes of 8 H100 and 8 NICs, 24 GB/s a channel.
NcclMachine of_the_log() {
  NcclMachine machine;
  machine.version = {2, 22, 3};
  machine.gpu = GpuGeneration::Hopper;
  machine.nodes = 3;
  machine.gpus_per_node = 8;
  machine.channels = 8;
  machine.inside = machine.between = {24e9};
  machine.nvls = true;
  machine.plain_trees = true;
  return machine;
}

struct Line {  // a line of that log
  std::int64_t bytes;
  NcclAlgorithm algorithm;
  NcclProtocol protocol;
  double microseconds;
};
constexpr Line kLog[] = {
    {64 << 10, NcclAlgorithm::Tree, NcclProtocol::LL, 37.798233},
    {128 << 10, NcclAlgorithm::Tree, NcclProtocol::LL128, 51.603912},
    {256 << 10, NcclAlgorithm::Tree, NcclProtocol::LL128, 54.707825},
    {512 << 10, NcclAlgorithm::NvlsTree, NcclProtocol::Simple, 59.553600},
    {std::int64_t{8} << 30, NcclAlgorithm::Ring, NcclProtocol::Simple, 86069.968750},
};

Cluster ethernet() {
  Cluster cluster;
  cluster.nodes = 4;
  cluster.gpus_per_node = 4;
  cluster.nic = {BytesPerSecond{9.43e9 / 8}, Seconds{26.6e-6}};
  cluster.intra = {BytesPerSecond{10.16e9}, Seconds{5.7e-6}};
  return cluster;
}

}  // namespace

TEST_CASE("a live log's choices and estimates come out to five digits", "[nccl]") {
  for (const Line& line : kLog) {
    const NcclEstimate best =
        nccl_estimates(of_the_log(), Outcome::AllReduced, Bytes{line.bytes}).front();
    CAPTURE(line.bytes);
    CHECK(best.algorithm == line.algorithm);
    CHECK(best.protocol == line.protocol);
    CHECK(best.time.count() * 1e6 == Approx(line.microseconds).epsilon(1e-5));
  }
}

// 10GbE is 1.25 GB/s, the list has 1.2; 100 Gb/s 12, 200 Gb/s 24, 400 Gb/s 48. One flow reaches
// some 6 % less than the nominal rate.
TEST_CASE("a channel has the next speed of NCCL's list below the NIC's nominal rate", "[nccl]") {
  const auto speed = [](double reached) {
    return nccl_channel_speed({reached}, NetworkKind::InfiniBand, GpuGeneration::Hopper).value /
           1e9;
  };
  CHECK(speed(9.43e9 / 8) == Approx(1.2));
  CHECK(speed(23.54e9 / 8) == Approx(3));
  const auto ethernet = [](double gigabits) {
    return nccl_channel_speed({gigabits * 1e9 / 8}, NetworkKind::Tcp, GpuGeneration::Volta).value;
  };
  CHECK(ethernet(23.54) == Approx(3e9));
  // A driver says 10 Gb/s, 1.25 GB/s, whether flows reach 8.1 or 9.4 of them; 7 is nobody's.
  for (const double reached : {8.1, 8.95, 9.43, 10.0}) CHECK(ethernet(reached) == Approx(1.2e9));
  CHECK(ethernet(7) == Approx(0.24e9));
  CHECK(speed(94.15e9 / 8) == Approx(12));
  CHECK(speed(24e9) == Approx(24));
  CHECK(speed(47e9) == Approx(48));
}

// 6 channels of 40 GB/s in a node of A100 become 12 of 20, so that LL128, 20 GB/s a channel at
// most, reaches .92 of 240 GB/s, not 120. Two of the ring's four GPUs' steps send: 4 / 6 of that.
// On B200 16 channels reach 40 GB/s each: "predicts 640 GB/s for the 2-rank case"
// (NVIDIA/nccl#2343). Channels of 400 Gb/s are laid once where there are more than 4, from Hopper
// on.
TEST_CASE("channels of fast links are laid twice, and pass on twice as much", "[nccl]") {
  const auto machine = [](GpuGeneration gpu, double inside, int nodes, int gpus) {
    Cluster cluster;
    cluster.gpu_generation = gpu;
    cluster.gpus_per_node = cluster.nics_per_node = gpus;
    cluster.intra.bandwidth = {inside};
    cluster.nic.bandwidth = {48e9};
    return nccl_machine(cluster, kUsualNccl, nodes, gpus);
  };
  const auto ll128 = [](const NcclMachine& machine) {
    for (const NcclEstimate& each : nccl_estimates(machine, Outcome::AllReduced, Bytes{4 << 20}))
      if (each.algorithm == NcclAlgorithm::Ring && each.protocol == NcclProtocol::LL128)
        return each.bandwidth.value / 1e9;
    return 0.;
  };
  const NcclMachine a100 = machine(GpuGeneration::Ampere, 231e9, 1, 4);
  CHECK(a100.channels == 6);
  CHECK(a100.channels_laid() == 12);
  CHECK(ll128(a100) == Approx(.92 * 240 * 4 / 6));
  CHECK(ll128(machine(GpuGeneration::Blackwell, 720e9, 1, 2)) == Approx(640));
  CHECK(machine(GpuGeneration::Hopper, 370e9, 2, 8).channels_laid() == 8);
  CHECK(machine(GpuGeneration::Hopper, 370e9, 2, 4).channels_laid() == 8);
}

// On 4 nodes of 4 V100 with a 10GbE NIC each: LL, with a flag for every word, up to 128 KiB. No
// tree: LL128 does not go through a host, and a tree's Simple protocol begins later.
TEST_CASE("over sockets NCCL takes rings, LL for the small and Simple for the large", "[nccl]") {
  const NcclMachine machine = nccl_machine(ethernet(), kUsualNccl, 4, 4);
  CHECK(machine.channels == 1);
  CHECK_FALSE(machine.ll128);
  const auto choice = [&](std::int64_t bytes) {
    return nccl_estimates(machine, Outcome::AllReduced, Bytes{bytes}).front();
  };
  CHECK(choice(128 << 10).protocol == NcclProtocol::LL);
  CHECK(choice(1 << 20).protocol == NcclProtocol::Simple);
  CHECK(choice(1 << 20).algorithm == NcclAlgorithm::Ring);
  CHECK(choice(25 << 20).algorithm == NcclAlgorithm::Ring);
}

// Trees of two nodes count on the speed inside nodes. The search begins at the one between them and
// ends at twice that or more: on 1 Gb/s .12 and .24, on 2.5 Gb/s .24 and 1.2, the next of the list,
// on 100 Gb/s 12 to 24. 12 GB/s of PCIe may end it before. Hopper's list has 40 after 30.
TEST_CASE("trees of two nodes count on about twice the network's speed", "[nccl]") {
  const auto in_trees = [](double nic, double inside, GpuGeneration gpu) {
    Cluster cluster;
    cluster.gpu_generation = gpu;
    cluster.gpus_per_node = 4;
    cluster.nic.bandwidth = {nic};
    cluster.intra.bandwidth = {inside};
    return nccl_machine(cluster, kUsualNccl, 2, 4).in_trees.value / 1e9;
  };
  CHECK(in_trees(.1177e9, 6.7e9, GpuGeneration::Ampere) == Approx(.24));
  CHECK(in_trees(94.15e9 / 8, 230e9, GpuGeneration::Ampere) == Approx(24));
  CHECK(in_trees(94.15e9 / 8, 230e9, GpuGeneration::Hopper) == Approx(24));
  CHECK(in_trees(94.15e9 / 8, 12e9, GpuGeneration::Ampere) == Approx(12));
  CHECK(in_trees(2.35e9 / 8, 6.7e9, GpuGeneration::Ampere) == Approx(1.2));
  CHECK(in_trees(17e9, 370e9, GpuGeneration::Hopper) == Approx(40));
}

// RTX A6000 on PCIe, two hosts by 1 Gb/s, NCCL 2.22.3 (WangJunWJJ/lowbit_comm): 125.8 MB in buckets
// of 16 to 34 MB took 1.619 s on 2 x 2 GPUs, a ring's 1.5 times their bytes, and 1.084 on 2 x 4, a
// tree's.
TEST_CASE("on two hosts with slow NICs a ring carries four ranks, and a tree eight", "[nccl]") {
  Cluster cluster = ethernet();
  cluster.gpu_generation = GpuGeneration::Ampere;
  cluster.nic.bandwidth = {.1177e9};
  cluster.intra.bandwidth = {6.7e9};
  const auto choice = [&](int gpus) {
    return nccl_estimates(nccl_machine(cluster, {2, 22, 3}, 2, gpus), Outcome::AllReduced,
                          Bytes{32 << 20})
        .front();
  };
  CHECK(choice(2).algorithm == NcclAlgorithm::Ring);
  CHECK(choice(4).algorithm == NcclAlgorithm::Tree);
  // Bytes take what the links carry all the same.
  CHECK(choice(4).of_links.value > choice(4).bandwidth.value);
}

TEST_CASE("all-gathers and reduce-scatters of several GPUs a node have rings alone", "[nccl]") {
  for (const int minor : {22, 27})
    for (const Outcome outcome : {Outcome::AllGathered, Outcome::Scattered}) {
      NcclMachine machine = of_the_log();
      machine.version = {2, minor, 0};
      for (const NcclEstimate& each : nccl_estimates(machine, outcome, Bytes{1 << 20}))
        CHECK(each.algorithm == NcclAlgorithm::Ring);
    }
}

// 32 nodes of one H100, 48 GB/s: PAT begins after 8 us, takes 5 levels of (14 + 2 x 35) / 3.5 us =
// 24 us, 2.8 us for each of the 32 parts, and 1 MiB at 36 GB/s takes 29.13 us. By 2.23's table it
// reached 40.8 GB/s: 25.70 us. With two GPUs a node, or before 2.23, there is no PAT.
TEST_CASE("since 2.23 PAT carries the parts of nodes with one GPU", "[nccl]") {
  NcclMachine machine = of_the_log();
  machine.nodes = 32;
  machine.gpus_per_node = 1;
  machine.channels = 1;
  machine.inside = machine.between = {48e9};
  machine.plugin_latency = Seconds{35e-6};
  const auto best = [&](int minor, Outcome outcome, std::int64_t bytes = 1 << 20) {
    machine.version = {2, minor, 0};
    return nccl_estimates(machine, outcome, Bytes{bytes}).front();
  };
  for (const Outcome outcome : {Outcome::AllGathered, Outcome::Scattered}) {
    CHECK(best(22, outcome).algorithm == NcclAlgorithm::Ring);
    CHECK(best(23, outcome).algorithm == NcclAlgorithm::Pat);
    CHECK(best(27, outcome).algorithm == NcclAlgorithm::Pat);
    CHECK(best(27, outcome).protocol == NcclProtocol::Simple);
    CHECK(best(23, outcome).time.count() * 1e6 == Approx(8 + 120 + 89.6 + 25.70).epsilon(1e-4));
    CHECK(best(27, outcome).time.count() * 1e6 == Approx(8 + 120 + 89.6 + 29.13).epsilon(1e-4));
    // A ring's bandwidth is 49.5 GB/s: it carries what is large.
    CHECK(best(27, outcome, std::int64_t{8} << 30).algorithm == NcclAlgorithm::Ring);
  }
  CHECK(best(27, Outcome::AllReduced).algorithm != NcclAlgorithm::Pat);
}

// 24 ranks on 3 nodes, 8 channels of 24 GB/s: NCCL counts a step for every rank, of 28 us with
// Simple in that version, after 8.4. 1 GiB at 192 GB/s takes 5592.4 us.
TEST_CASE("a broadcast is a ring of as many steps as ranks", "[nccl]") {
  const std::vector<NcclEstimate> all =
      nccl_estimates(of_the_log(), Outcome::Broadcast, Bytes{1 << 30});
  CHECK(all.size() == 3);
  for (const NcclEstimate& each : all) {
    CHECK(each.algorithm == NcclAlgorithm::Ring);
    if (each.protocol == NcclProtocol::Simple)
      CHECK(each.time.count() * 1e6 == Approx(8.4 + 24 * 28 + 5592.4).epsilon(1e-5));
  }
}

// NCCL_P2P_LL_THRESHOLD: 16 KiB.
TEST_CASE("a send-receive goes by the size alone", "[nccl]") {
  for (const auto& [bytes, protocol] :
       {std::pair{16'384, NcclProtocol::LL}, {16'385, NcclProtocol::Simple}}) {
    const std::vector<NcclEstimate> all =
        nccl_estimates(of_the_log(), Outcome::Passed, Bytes{bytes});
    REQUIRE(all.size() == 1);
    CHECK(all.front().algorithm == NcclAlgorithm::P2p);
    CHECK(all.front().protocol == protocol);
  }
}

TEST_CASE("NCCL until 2.3 has rings alone, and from 2.1 on LL below 16 KiB", "[nccl]") {
  NcclMachine machine = of_the_log();
  machine.version = {2, 2, 12};
  for (const auto& [bytes, protocol] : {std::pair{(16 << 10) - 1, NcclProtocol::LL},
                                        {16 << 10, NcclProtocol::Simple},
                                        {64 << 20, NcclProtocol::Simple}}) {
    const std::vector<NcclEstimate> all =
        nccl_estimates(machine, Outcome::AllReduced, Bytes{bytes});
    CHECK(all.size() == 2);
    CHECK(all.front().algorithm == NcclAlgorithm::Ring);
    CHECK(all.front().protocol == protocol);
  }
  machine.version = {2, 0, 5};
  CHECK(nccl_estimates(machine, Outcome::AllReduced, Bytes{1024}).size() == 1);
  CHECK_THROWS_WITH(nccl_estimates(machine, Outcome::Passed, Bytes{1024}),
                    "NCCL 2.0.5 has no send-receive: name a version (nccl) from 2.7 on");
}

TEST_CASE("a version of NCCL is two or three numbers, until 2.3 or from 2.7 on", "[nccl]") {
  CHECK(parse_nccl_version("2.0.5") == NcclVersion{2, 0, 5});
  CHECK(parse_nccl_version("2.3.7") == NcclVersion{2, 3, 7});
  CHECK(parse_nccl_version("2.18") == NcclVersion{2, 18, 0});
  CHECK(to_text(parse_nccl_version("2.27.5")) == "2.27.5");
  CHECK(to_text(parse_nccl_version("2.18.0")) == "2.18");
  for (const char* wrong : {"", "2", "2.4", "2.6", "3.1", "2.x", "2.27.5.1", "-2.18"})
    CHECK_THROWS_AS(parse_nccl_version(wrong), ValueError);
}

// `pip` installs nvidia-nccl-cu12 2.21.5 with torch 2.5.1. The libtorch_cuda.so of 1.10.2 has the
// words "NCCL version 2.10.3+cuda10.2" in it.
TEST_CASE("a PyTorch brings a version of NCCL", "[nccl]") {
  CHECK(parse_nccl_version("torch-2.5") == NcclVersion{2, 21, 5});
  CHECK(parse_nccl_version("torch-2.5.1") == NcclVersion{2, 21, 5});
  CHECK(parse_nccl_version("torch-2.10") == kUsualNccl);
  CHECK(parse_nccl_version("torch-2.12.0-cu13") == NcclVersion{2, 29, 7});
  CHECK(parse_nccl_version("torch-1.13.1") == NcclVersion{2, 14, 3});
  CHECK(parse_nccl_version("torch-1.10") == NcclVersion{2, 10, 3});
  for (const char* wrong : {"torch-", "torch-1", "torch-2", "torch-2.5.x", "torch-2.99"})
    CHECK_THROWS_WITH(parse_nccl_version(wrong), Catch::Contains("1.13, 2.0, 2.1, 2.2"));
  for (const char* old : {"torch-1.4", "torch-1.6.0", "torch-0.4.1"})
    CHECK_THROWS_WITH(parse_nccl_version(old), Catch::Contains("is older than 1.7, the first"));
}

TEST_CASE("every row of PyTorch's NCCL has a source, and none goes back", "[nccl]") {
  NcclVersion before{2, 7, 0};
  for (const TorchsNccl& each : nccl_of_torches()) {
    CAPTURE(each.torch);
    CHECK_FALSE(each.source.empty());
    CHECK(nccl_of_torch(each.torch) == each.nccl);
    if (each.torch.find('-') != each.torch.npos) continue;
    CHECK(each.nccl >= before);
    before = each.nccl;
  }
}

// The plugin's latency makes ring/Simple dear: two of it a crossing, and a ring of N nodes crosses
// 2 (N - 1) times. At 32 MiB on 8 nodes a tree is chosen with 75 us, and an NVLS tree without.
TEST_CASE("the plugin's latency moves the choice", "[nccl]") {
  NcclMachine machine = of_the_log();
  machine.plain_trees = false;
  machine.nodes = 8;
  machine.version = kUsualNccl;
  machine.inside = machine.between = {48e9};
  const auto choice = [&] {
    return nccl_estimates(machine, Outcome::AllReduced, Bytes{32 << 20}).front().algorithm;
  };
  CHECK(choice() == NcclAlgorithm::NvlsTree);
  machine.plugin_latency = Seconds{75e-6};
  CHECK(choice() == NcclAlgorithm::Tree);
  // NCCL asks for it since 2.12. Three steps up the tree and three down, with LL 75 us each; until
  // 2.17 in place of the table's 5 us, and since beside them.
  const auto tree = [&](NcclVersion version, double latency) {
    machine.version = version;
    machine.plugin_latency = Seconds{latency};
    for (const NcclEstimate& each : nccl_estimates(machine, Outcome::AllReduced, Bytes{1024}))
      if (each.algorithm == NcclAlgorithm::Tree && each.protocol == NcclProtocol::LL)
        return each.latency.count();
    return 0.;
  };
  CHECK(tree({2, 18, 0}, 75e-6) == Approx(tree({2, 18, 0}, 0) + 6 * 75e-6));
  CHECK(tree({2, 17, 0}, 75e-6) == Approx(tree({2, 17, 0}, 0) + 6 * (75e-6 - 5e-6)));
  CHECK(tree({2, 11, 0}, 75e-6) == tree({2, 11, 0}, 0));
}

// Rings of 8 channels of 24 GB/s over 3 x 8 GPUs. LL gets a quarter of 192 GB/s, and from 2.8 on no
// more than the 20.4 of an Intel host. An all-gather's bytes pass 23 of 24 times.
TEST_CASE("LL's limit holds for rings from 2.8 on", "[nccl]") {
  NcclMachine machine = of_the_log();
  const auto bandwidth = [&](NcclVersion version) {
    machine.version = version;
    for (const NcclEstimate& each : nccl_estimates(machine, Outcome::AllGathered, Bytes{1 << 20}))
      if (each.protocol == NcclProtocol::LL) return each.bandwidth.value;
    return 0.;
  };
  CHECK(bandwidth({2, 7, 0}) == Approx(192e9 / 4 * 24 / 23));
  CHECK(bandwidth({2, 8, 0}) == Approx(20.4e9 * 24 / 23));
  CHECK(bandwidth({2, 20, 0}) == Approx(20.4e9 * 24 / 23));
}

// 4 x 4 ranks: until 2.17 from 16/16 x 64 KiB on a ring's latency by Simple is 1.9 times as long,
// 1.5 times on Hopper. Its 8 crossings take 9.6 us each, and the other 22 steps 3.4: 8.4 + 22 x 3.4
// + 8 x 9.6 = 160 us.
TEST_CASE("until 2.17 a ring's plateau begins at 4 KiB a rank", "[nccl]") {
  NcclMachine machine = of_the_log();
  machine.nodes = machine.gpus_per_node = 4;
  machine.version = {2, 14, 0};
  const auto ring = [&](Bytes bytes) {
    for (const NcclEstimate& each : nccl_estimates(machine, Outcome::AllReduced, bytes))
      if (each.algorithm == NcclAlgorithm::Ring && each.protocol == NcclProtocol::Simple)
        return each.latency.count() * 1e6;
    return 0.;
  };
  machine.gpu = GpuGeneration::Ampere;
  CHECK(ring({65'535}) == Approx(160));
  CHECK(ring({65'536}) == Approx(160 * 1.9));
  machine.gpu = GpuGeneration::Hopper;
  CHECK(ring({65'536}) == Approx(160 * 1.5));
}

TEST_CASE("a slow host delays NCCL's estimate of a ring, and not the ring's steps over NVLink",
          "[nccl]") {
  // All-gather by LL over 3 x 8 GPUs: 23 steps, 2 of them between nodes at 2.7 us. The other 21
  // take 0.6 us each; an AMD host that posts for 2 us makes them 2 us in the estimate.
  NcclMachine machine = of_the_log();
  const auto ring = [&] {
    for (const NcclEstimate& each : nccl_estimates(machine, Outcome::AllGathered, Bytes{1024}))
      if (each.protocol == NcclProtocol::LL) return each.latency;
    return Seconds{0};
  };
  machine.cpu = HostCpu::Amd;
  CHECK(ring().count() == Approx(1e-6 * (6.6 + 21 * 2 + 2 * 2.7)));
  CHECK(nccl_step(machine, NcclAlgorithm::Ring, NcclProtocol::LL).inside.count() == Approx(.6e-6));
}

TEST_CASE("NCCL_ALGO and NCCL_PROTO leave NCCL what they name", "[nccl]") {
  NcclMachine machine = of_the_log();
  const auto choices = [&](const char* settings, Outcome outcome) {
    machine.settings = parse_nccl_settings(settings);
    std::string all;
    for (const NcclEstimate& each : nccl_estimates(machine, outcome, Bytes{1 << 20}))
      all += std::string(to_text(each.algorithm)) + "/" + std::string(to_text(each.protocol)) + " ";
    return all;
  };
  CHECK(choices("NCCL_ALGO=Ring NCCL_PROTO=Simple", Outcome::AllReduced) == "ring/Simple ");
  CHECK(choices("NCCL_ALGO=nvlstree", Outcome::AllReduced) == "nvls-tree/Simple ");
  CHECK(choices("NCCL_PROTO=^LL,LL128 NCCL_ALGO=^tree,nvls", Outcome::AllReduced) ==
        choices("NCCL_PROTO=Simple NCCL_ALGO=NVLSTree,Ring", Outcome::AllReduced));
  // A program that also gathers runs with NCCL_ALGO=Tree: there the ring stays.
  CHECK(choices("NCCL_ALGO=Tree NCCL_PROTO=LL", Outcome::AllGathered) == "ring/LL ");
  CHECK_THROWS_AS(choices("NCCL_ALGO=PAT", Outcome::AllReduced), ValueError);
}

TEST_CASE("the environment switches the NVLink switch's sums off", "[nccl]") {
  Cluster cluster = ethernet();
  cluster.gpu_generation = GpuGeneration::Hopper;
  cluster.nvlink_sharp = YesNo::Yes;
  CHECK(nccl_machine(cluster, kUsualNccl, 4, 4).nvls);
  cluster.nccl_settings = parse_nccl_settings("NCCL_NVLS_ENABLE=0");
  CHECK_FALSE(nccl_machine(cluster, kUsualNccl, 4, 4).nvls);
}

// The switch's heads are 32 at most: all-gathers of more GPUs go by rings (src/enqueue.cc), and
// all-reduces do not.
TEST_CASE("a rack's NVLink switch adds up, and gathers for 32 GPUs at most", "[nccl]") {
  Cluster cluster = ethernet();
  cluster.gpu_generation = GpuGeneration::Blackwell;
  cluster.nvlink_sharp = YesNo::Yes;
  cluster.intra.bandwidth = {721.8e9};
  cluster.nccl_settings = parse_nccl_settings("NCCL_ALGO=NVLS,Ring");
  const auto has_nvls = [&](int gpus, Outcome outcome) {
    const auto all =
        nccl_estimates(nccl_machine(cluster, {2, 27, 5}, 1, gpus), outcome, Bytes{1 << 30});
    return std::any_of(all.begin(), all.end(), [](const NcclEstimate& each) {
      return each.algorithm == NcclAlgorithm::Nvls;
    });
  };
  CHECK(has_nvls(32, Outcome::AllGathered));
  CHECK_FALSE(has_nvls(72, Outcome::AllGathered));
  CHECK(has_nvls(72, Outcome::AllReduced));
}

// 721.8 GB/s of NVLink, nominally 767, are 15 channels of 48 GB/s, whose NICs are 72.
TEST_CASE("a rack has no more channels than its GPUs' links fill", "[nccl]") {
  Cluster cluster = ethernet();
  cluster.gpu_generation = GpuGeneration::Blackwell;
  cluster.gpus_per_node = cluster.nics_per_node = 72;
  cluster.nic.bandwidth = {47e9};
  cluster.intra.bandwidth = {721.8e9};
  CHECK(nccl_machine(cluster, kUsualNccl, 2, 72).channels == 15);
  CHECK(nccl_machine(cluster, kUsualNccl, 2, 8).channels == 8);
}

// 4 nodes of 8 H100 with an NVSwitch, 8 channels of 40 GB/s inside and 24 between. Direct: 2 steps
// of 3.7 us inside, 2 x 7 x 0.4 us for one GPU after the other, 31 us to the network; of 320 GB/s
// its buffer passes twice, at 0.85 on Hopper: 136. Chain: 2 x 7 steps of 2.8 us and 30 us; 160
// GB/s. NVLS: 25 and 18 us; 8 x 24 GB/s x 5/6 = 160. By 2.17 Direct: 2 x 8, 2 x 7 x 0.5 and 10.7
// us, 160 GB/s; Chain: 14 x 8 us and no step to the network, 0.75 x 160 GB/s. By 2.18 Direct is
// rated as today, and Chain has 14 x 4.75 + 14 us.
TEST_CASE("NCCL estimates CollNet by what GPUs reach inside their nodes", "[nccl]") {
  NcclMachine machine = of_the_log();
  machine.nodes = 4;
  machine.inside = {40e9};
  machine.collnet = machine.nvswitch = true;
  const auto check = [&](NcclAlgorithm algorithm, NcclVersion version, double us, double rate) {
    machine.version = version;
    int found = 0;
    for (const NcclEstimate& each : nccl_estimates(machine, Outcome::AllReduced, Bytes{1 << 20})) {
      if (each.algorithm != algorithm) continue;
      ++found;
      CAPTURE(to_text(algorithm), to_text(version));
      CHECK(each.protocol == NcclProtocol::Simple);
      CHECK(each.latency.count() * 1e6 == Approx(us));
      CHECK(each.bandwidth.value / 1e9 == Approx(rate));
    }
    CHECK(found == 1);
  };
  check(NcclAlgorithm::CollNetDirect, {2, 27, 5}, 2 * 3.7 + 14 * .4 + 31, 136);
  check(NcclAlgorithm::CollNetChain, {2, 27, 5}, 14 * 2.8 + 30, 160);
  check(NcclAlgorithm::Nvls, {2, 27, 5}, 25 + 18, 160);
  check(NcclAlgorithm::CollNetDirect, {2, 18, 0}, 2 * 8 + 14 * .5 + 10.7, 136);
  check(NcclAlgorithm::CollNetChain, {2, 18, 0}, 14 * 4.75 + 14, 160);
  check(NcclAlgorithm::CollNetDirect, {2, 17, 0}, 2 * 8 + 14 * .5 + 10.7, 160);
  check(NcclAlgorithm::CollNetChain, {2, 17, 0}, 14 * 8, 120);
  // Half as many NICs as GPUs: 4 channels of 40 GB/s, and 1 / 1.5 of them.
  machine.channels = 4;
  check(NcclAlgorithm::CollNetDirect, {2, 27, 5}, 2 * 3.7 + 14 * .4 + 31, 136. / 2 / 1.5);
  // Both are one step where a node has one GPU, since 2.23 that of a tree.
  machine.channels = machine.gpus_per_node = 1;
  check(NcclAlgorithm::CollNetDirect, {2, 27, 5}, 14, .85 * 20);
  check(NcclAlgorithm::CollNetChain, {2, 27, 5}, 14, 20);
  check(NcclAlgorithm::CollNetChain, {2, 22, 0}, 30, 20);
}

// The same nodes: latencies as of an all-reduce. Since 2.26 8 x 0.9 of the 24 GB/s between nodes.
// Before 0.85 of the 8 x 40 inside, of 4 GPUs 3/7 of the way from 0.95 to 0.85, and of one 0.95.
TEST_CASE("NCCL estimates CollNet's all-gathers and reduce-scatters by GPUs and NICs", "[nccl]") {
  struct Row {
    int minor, gpus;
    double rate, microseconds;
  };
  NcclMachine machine = of_the_log();
  machine.nodes = 4;
  machine.inside = {40e9};
  machine.collnet = machine.nvswitch = true;
  for (const Outcome outcome : {Outcome::AllGathered, Outcome::Scattered})
    for (const Row& row : {Row{26, 8, 8 * .9 * 24, 7.4 + 5.6 + 31},
                           {25, 8, 8 * .85 * 40, 7.4 + 5.6 + 31},
                           {25, 4, 4 * (.95 - .1 * 3 / 7) * 40, 7.4 + 2.4 + 31},
                           {25, 1, .95 * 40, 14}}) {
      machine.version = {2, row.minor, 0};
      machine.gpus_per_node = machine.channels = row.gpus;
      int found = 0;
      for (const NcclEstimate& each : nccl_estimates(machine, outcome, Bytes{1 << 20})) {
        if (each.algorithm != NcclAlgorithm::CollNetDirect) continue;
        ++found;
        CAPTURE(row.minor, row.gpus);
        CHECK(each.bandwidth.value / 1e9 == Approx(row.rate));
        CHECK(each.latency.count() * 1e6 == Approx(row.microseconds));
      }
      CHECK(found == 1);
    }
}

TEST_CASE("CollNet needs a network that adds up, and NCCL's environment may refuse it", "[nccl]") {
  Cluster cluster = ethernet();
  cluster.gpu_generation = GpuGeneration::Ampere;
  cluster.gpus_per_node = cluster.nics_per_node = 8;
  cluster.intra.bandwidth = {232e9};
  const auto has = [&](NcclAlgorithm algorithm, Outcome outcome = Outcome::AllReduced,
                       NcclVersion version = kUsualNccl) {
    const NcclMachine machine =
        nccl_machine(cluster, version, cluster.nodes, cluster.gpus_per_node);
    for (const NcclEstimate& each : nccl_estimates(machine, outcome, Bytes{1 << 20}))
      if (each.algorithm == algorithm) return true;
    return false;
  };
  CHECK_FALSE(has(NcclAlgorithm::CollNetDirect));
  CHECK_FALSE(has(NcclAlgorithm::CollNetChain));
  cluster.network_sharp = YesNo::Yes;
  CHECK(has(NcclAlgorithm::CollNetDirect));
  CHECK(has(NcclAlgorithm::CollNetChain));
  CHECK_FALSE(has(NcclAlgorithm::CollNetChain, Outcome::AllReduced, {2, 12, 0}));
  CHECK_FALSE(has(NcclAlgorithm::CollNetDirect, Outcome::Broadcast));
  for (const Outcome outcome : {Outcome::AllGathered, Outcome::Scattered}) {
    CHECK_FALSE(has(NcclAlgorithm::CollNetChain, outcome));
    // Since 2.20, where each GPU has a NIC.
    CHECK(has(NcclAlgorithm::CollNetDirect, outcome));
    CHECK_FALSE(has(NcclAlgorithm::CollNetDirect, outcome, {2, 19, 3}));
    cluster.nics_per_node = 4;
    CHECK_FALSE(has(NcclAlgorithm::CollNetDirect, outcome));
    cluster.nics_per_node = 8;
  }
  // NVLS over several nodes: since 2.18, where both kinds of switches add up.
  CHECK_FALSE(has(NcclAlgorithm::Nvls));
  cluster.gpu_generation = GpuGeneration::Hopper;
  cluster.nvlink_sharp = YesNo::Yes;
  CHECK(has(NcclAlgorithm::Nvls));
  CHECK_FALSE(has(NcclAlgorithm::Nvls, Outcome::AllReduced, {2, 17, 0}));
  CHECK_FALSE(has(NcclAlgorithm::Nvls, Outcome::AllGathered));
  for (const char* refused : {"NCCL_COLLNET_ENABLE=0", "NCCL_COLLNET_NODE_THRESHOLD=5"}) {
    cluster.nccl_settings = parse_nccl_settings(refused);
    CHECK_FALSE(has(NcclAlgorithm::CollNetChain));
    CHECK_FALSE(has(NcclAlgorithm::Nvls));
  }
  cluster.nccl_settings = {};
  // Direct needs a switch between all GPUs of a node, and four A100 are wired to each other.
  cluster.gpu_generation = GpuGeneration::Ampere;
  cluster.nvlink_sharp = YesNo::No;
  cluster.gpus_per_node = 4;
  CHECK_FALSE(has(NcclAlgorithm::CollNetDirect));
  CHECK(has(NcclAlgorithm::CollNetChain));
  cluster.gpus_per_node = 16;
  CHECK_FALSE(has(NcclAlgorithm::CollNetChain));
  cluster.gpus_per_node = 8;
  cluster.nodes = 1;
  CHECK_FALSE(has(NcclAlgorithm::CollNetDirect));
}

TEST_CASE("a setting is one of fourteen variables, with a value that NCCL reads", "[nccl]") {
  CHECK(parse_nccl_settings("none") == NcclSettings{});
  CHECK(parse_nccl_settings("NCCL_BUFFSIZE=8388608").buffer == Bytes{8 << 20});
  CHECK_FALSE(parse_nccl_settings("NCCL_COLLNET_ENABLE=0").collnet);
  CHECK(parse_nccl_settings("NCCL_COLLNET_NODE_THRESHOLD=4").collnet_nodes == 4);
  CHECK(parse_nccl_settings("NCCL_MIN_NCHANNELS=32").least_channels == 32);
  CHECK(parse_nccl_settings("NCCL_MIN_CTAS=32").least_channels == 32);
  CHECK(parse_nccl_settings("NCCL_MIN_NCHANNELS=1000").least_channels == 64);
  CHECK(parse_nccl_settings("  NCCL_SOCKET_NTHREADS=2 ").socket_threads == 2);
  CHECK(parse_nccl_settings("NCCL_NVLS_CHUNKSIZE=524288").nvls_chunk == Bytes{512 << 10});
  CHECK(parse_nccl_settings("NCCL_NVLSTREE_MAX_CHUNKSIZE=65536").nvls_tree_chunk ==
        Bytes{64 << 10});
  for (const char* wrong :
       {"NCCL_P2P_LEVEL=SYS", "NCCL_P2P_LEVEL=1", "NCCL_ALG=Ring", "NCCL_ALGO",
        "NCCL_ALGO=", "NCCL_ALGO=Ringo", "NCCL_PROTO=^ll,ll128,simple", "NCCL_BUFFSIZE=8MiB",
        "NCCL_BUFFSIZE=0", "NCCL_DYNAMIC_CHUNK_SIZE=-1", "Ring", "NCCL_NVLS_CHUNKSIZE=512KiB",
        "NCCL_NVLSTREE_MAX_CHUNKSIZE=1024"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_nccl_settings(wrong), ValueError);
  }
}

// NCCL's ncclGetLevel (src/graph/paths.cc): NCCL_P2P_DISABLE=1 decides before the level, whose old
// number 0 is LOC; 1 to 5 are PIX to SYS. Of a variable that is set twice the last value counts.
TEST_CASE("two variables end peer-to-peer, over all links or over PCIe alone", "[nccl]") {
  const auto left = [](const char* text) {
    const NcclSettings settings = parse_nccl_settings(text);
    return std::pair(settings.p2p(), settings.p2p_by_pcie());
  };
  const std::pair all(true, true), nvlink(true, false), none(false, false);
  CHECK(left("NCCL_P2P_DISABLE=0") == all);
  CHECK(left("NCCL_P2P_DISABLE=2") == all);
  CHECK(left("NCCL_P2P_DISABLE=1") == none);
  CHECK(left("NCCL_P2P_LEVEL=LOC") == none);
  CHECK(left("NCCL_P2P_LEVEL=0") == none);
  CHECK(left("NCCL_P2P_LEVEL=NVL") == nvlink);
  CHECK(left("NCCL_P2P_DISABLE=1 NCCL_P2P_LEVEL=NVL") == none);
  CHECK(left("NCCL_P2P_DISABLE=1 NCCL_P2P_DISABLE=0") == all);
  CHECK(left("NCCL_P2P_DISABLE=1 NCCL_P2P_LEVEL=NVL NCCL_P2P_DISABLE=0") == nvlink);
  CHECK(left("NCCL_P2P_LEVEL=LOC NCCL_P2P_LEVEL=NVL") == nvlink);
}

TEST_CASE("a value that is no number is named with its variable", "[nccl]") {
  for (const char* name : {"NCCL_P2P_DISABLE", "NCCL_NVLS_ENABLE", "NCCL_BUFFSIZE"}) {
    const std::string text = std::string(name) + "=yes";
    CHECK_THROWS_WITH(parse_nccl_settings(text),
                      Catch::Contains(text + ": 'yes' is not a whole number"));
  }
}

TEST_CASE("LL128 goes between nodes where NICs are near to GPUs", "[nccl]") {
  const auto has = [](NetworkKind kind, GpuGeneration gpu, const char* version, int nodes = 2) {
    Cluster cluster;
    cluster.nodes = nodes;
    cluster.gpus_per_node = 4;
    cluster.gpu_generation = gpu;
    cluster.network_kind = kind;
    cluster.intra.bandwidth = BytesPerSecond{240e9};
    return nccl_machine(cluster, parse_nccl_version(version), nodes, 4).ll128;
  };
  using enum GpuGeneration;
  for (const NetworkKind kind : {NetworkKind::InfiniBand, NetworkKind::Roce, NetworkKind::Efa})
    CHECK(has(kind, Ampere, "2.21.5"));
  CHECK_FALSE(has(NetworkKind::Tcp, Ampere, "2.21.5"));
  CHECK_FALSE(has(NetworkKind::Slingshot, Ampere, "2.27.5"));
  CHECK(has(NetworkKind::Slingshot, Ampere, "2.21.5", 1));
  CHECK_FALSE(has(NetworkKind::Slingshot, Hopper, "2.26.2"));
  CHECK(has(NetworkKind::Slingshot, Hopper, "2.27.3"));
}

// LL128 needs NVLink. A slot of PCIe 4.0 carries up to 32 GB/s, the bridge of two RTX 3090 48.
TEST_CASE("links of 20 GB/s are NVLink, but for GeForce cards and without peer-to-peer", "[nccl]") {
  Cluster cluster;
  cluster.gpus_per_node = 4;
  const auto nvlink = [&](const char* gpu, double gigabytes, const char* settings = "none") {
    cluster.gpu = gpu;
    cluster.intra.bandwidth = BytesPerSecond{gigabytes * 1e9};
    cluster.nccl_settings = parse_nccl_settings(settings);
    const NcclMachine machine = nccl_machine(cluster, kUsualNccl, 1, 4);
    CHECK(machine.ll128 == machine.nvlink);
    return machine.nvlink;
  };
  CHECK(nvlink("v100", 24));
  CHECK_FALSE(nvlink("v100", 12));
  CHECK_FALSE(nvlink("v100", 24, "NCCL_P2P_LEVEL=LOC"));
  CHECK(nvlink("v100", 24, "NCCL_P2P_LEVEL=NVL"));
  CHECK_FALSE(nvlink("rtx-4090", 24));
  CHECK_FALSE(nvlink("rtx-4090", 48));
  CHECK_FALSE(nvlink("rtx-3090", 24));
  CHECK(nvlink("rtx-3090", 48));
}
