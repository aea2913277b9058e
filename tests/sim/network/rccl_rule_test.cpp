// RCCL's own tables: their choices, and their times. Whoever checks a figure needs the tables of
// ROCm/rccl, src/graph/tuning.cc@9e22c79, and the arithmetic above each case.
#include <catch2/catch.hpp>
#include <string>

#include "sim/network/nccl.hpp"
#include "sim/network/rccl_tables.hpp"

using namespace gradcast;

namespace {

/// Nodes of 8 GPUs, with so many NICs.
Cluster of(GpuGeneration gpu, int nodes, int nics, int gpus = 8) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = gpus;
  cluster.nics_per_node = nics;
  cluster.gpu_generation = gpu;
  cluster.host_cpu = HostCpu::Amd;
  cluster.network_kind = NetworkKind::Roce;
  cluster.nic = {BytesPerSecond{47e9}, Seconds{9.6e-6}};
  cluster.intra = {BytesPerSecond{320e9}, Seconds{2.1e-6}};
  return cluster;
}

NcclMachine machine(const Cluster& cluster) {
  return nccl_machine(cluster, kUsualNccl, cluster.nodes, cluster.gpus_per_node);
}

std::string choice(const Cluster& cluster, Outcome outcome, std::int64_t bytes) {
  const NcclEstimate best = nccl_estimates(machine(cluster), outcome, Bytes{bytes}).front();
  return std::string(to_text(best.algorithm)) + "/" + std::string(to_text(best.protocol));
}

/// Microseconds of an estimate; 0 where there is none.
double estimated(const Cluster& cluster, Outcome outcome, std::int64_t bytes,
                 NcclAlgorithm algorithm, NcclProtocol protocol) {
  for (const NcclEstimate& each : nccl_estimates(machine(cluster), outcome, Bytes{bytes}))
    if (each.algorithm == algorithm && each.protocol == protocol) return each.time.count() * 1e6;
  return 0;
}

constexpr std::int64_t kMiB = 1 << 20;

}  // namespace

// On 32 nodes RCCL takes the tree, and by a table of sizes a protocol that it thinks slower: rings
// are near to that time, and not to the tree's own.
TEST_CASE("a protocol that RCCL takes by a table of sizes brings no other algorithm near",
          "[rccl]") {
  Cluster cluster = of(GpuGeneration::Cdna3, 32, 8);
  cluster.lay_out_ranks();
  const auto chosen = [&] {
    return nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllReduced, Bytes{25 * kMiB})
        .estimate.algorithm;
  };
  const std::vector<NcclEstimate> all =
      nccl_estimates(machine(cluster), Outcome::AllReduced, Bytes{25 * kMiB});
  REQUIRE(std::ranges::any_of(
      all, [&](const NcclEstimate& each) { return each.time < all.front().time; }));
  const NcclAlgorithm first = chosen();
  cluster.nearly_chosen = 1.25;
  CHECK(chosen() == first);
}

// Table 5. Seven links of 48 GB/s: 336. A ring of 8 passes 14/8 of the buffer in 14 steps.
// Simple: 17 + 14 x 2.1 us, and 336 x 8/14 = 192 GB/s. LL: 12 + 14 x .8 us, of .08 x 192 = 15.36
// GB/s. A tree has 2 x 7 steps of .9 us, and of 336 / 2 x .06 in LL so much: at 256 KiB, the 12th
// power of two from 64 bytes on, all; at 64 KiB, the 10th, all; at 128 KiB, the 11th, .6.
TEST_CASE("RCCL's estimates for eight MI300X come out by hand", "[rccl]") {
  const Cluster node = of(GpuGeneration::Cdna3, 1, 8);
  const auto ring = [&](std::int64_t bytes, NcclProtocol protocol) {
    return estimated(node, Outcome::AllReduced, bytes, NcclAlgorithm::Ring, protocol);
  };
  const auto tree = [&](std::int64_t bytes, NcclProtocol protocol) {
    return estimated(node, Outcome::AllReduced, bytes, NcclAlgorithm::Tree, protocol);
  };
  CHECK(ring(kMiB, NcclProtocol::Simple) == Approx(17 + 14 * 2.1 + kMiB / 192e3));
  CHECK(ring(kMiB, NcclProtocol::LL) == Approx(12 + 14 * .8 + kMiB / 15.36e3));
  CHECK(tree(256 << 10, NcclProtocol::LL) == Approx(12 + 14 * .9 + (256 << 10) / 10.08e3));
  CHECK(tree(128 << 10, NcclProtocol::LL) == Approx(12 + 14 * .9 + (128 << 10) / (.6 * 10.08e3)));
  CHECK(choice(node, Outcome::AllReduced, 256 << 10) == "ring/LL");
  CHECK(choice(node, Outcome::AllReduced, kMiB) == "ring/Simple");
  // One node's communicator sees no NICs, and RCCL has LL128 for nodes with a NIC beside each GPU.
  CHECK(ring(kMiB, NcclProtocol::LL128) == 0);
  CHECK(tree(kMiB, NcclProtocol::Simple) == 0);
}

// Table 3 counts on 252 GB/s: seven links of 36. On two nodes a tree begins after 17 us, takes
// 2 x (7 x 2.5 + 22.4) us, and all of 252 / 2 x 1.75 at 16 MiB. A ring has 28 steps of the 3 x 2 us
// in which an AMD host posts to the network, and two between nodes, of 19.8; .4 of 252 x 16/30.
// One node has table 0: 17 + 14 x 3.6 us, and 252 x 8/14.
TEST_CASE("RCCL's estimates for MI250X come out by hand, inside a node and between", "[rccl]") {
  const std::int64_t bytes = 16 * kMiB;
  const Cluster two = of(GpuGeneration::Cdna2, 2, 4);
  CHECK(estimated(two, Outcome::AllReduced, bytes, NcclAlgorithm::Tree, NcclProtocol::Simple) ==
        Approx(17 + 2 * (7 * 2.5 + 22.4) + bytes / (252e3 / 2 * 1.75)));
  CHECK(estimated(two, Outcome::AllReduced, bytes, NcclAlgorithm::Ring, NcclProtocol::Simple) ==
        Approx(17 + 28 * 6 + 2 * 19.8 + bytes / (.4 * 252e3 * 16 / 30)));
  CHECK(choice(two, Outcome::AllReduced, bytes) == "tree/Simple");
  CHECK(choice(two, Outcome::AllReduced, 1 << 10) == "tree/LL");
  const Cluster one = of(GpuGeneration::Cdna2, 1, 4);
  CHECK(estimated(one, Outcome::AllReduced, bytes, NcclAlgorithm::Ring, NcclProtocol::Simple) ==
        Approx(17 + 14 * 3.6 + bytes / (252e3 * 8 / 14)));
  for (const Cluster& cluster : {one, two})
    for (const NcclEstimate& each :
         nccl_estimates(machine(cluster), Outcome::AllReduced, Bytes{bytes}))
      CHECK(each.protocol != NcclProtocol::LL128);
}

// Sizes of src/rccl_wrap.cc and of table 5: an all-reduce's buffer, a rank's part of the others. An
// all-reduce goes in LL128 up to 9 MiB on two nodes and 3.8 times as much on more. A part of 131072
// bytes is scattered in LL, and one byte more in LL128, although LL reaches to 655360.
TEST_CASE("on several nodes of MI300X the size alone makes the protocol", "[rccl]") {
  const Cluster two = of(GpuGeneration::Cdna3, 2, 8);
  const Cluster four = of(GpuGeneration::Cdna3, 4, 8);
  const auto protocol = [](const Cluster& cluster, Outcome outcome, std::int64_t of_rank) {
    const std::int64_t parts = outcome == Outcome::AllReduced ? 1 : cluster.ranks();
    const std::string all = choice(cluster, outcome, of_rank * parts);
    return all.substr(all.find('/') + 1);
  };
  CHECK(protocol(two, Outcome::AllReduced, kMiB) == "LL");
  CHECK(protocol(two, Outcome::AllReduced, kMiB + 1) == "LL128");
  CHECK(protocol(two, Outcome::AllReduced, 9 * kMiB) == "LL128");
  CHECK(protocol(two, Outcome::AllReduced, 9 * kMiB + 1) == "Simple");
  CHECK(protocol(four, Outcome::AllReduced, 9 * kMiB + 1) == "LL128");
  CHECK(protocol(four, Outcome::AllReduced, 35861299) == "LL128");
  CHECK(protocol(four, Outcome::AllReduced, 35861300) == "Simple");
  CHECK(protocol(four, Outcome::AllGathered, 98304) == "LL");
  CHECK(protocol(four, Outcome::AllGathered, 98305) == "LL128");
  CHECK(protocol(four, Outcome::AllGathered, 5046273) == "Simple");
  CHECK(protocol(four, Outcome::Scattered, 131072) == "LL");
  CHECK(protocol(four, Outcome::Scattered, 131073) == "LL128");
  CHECK(protocol(four, Outcome::Scattered, 3211265) == "Simple");
  // MI350X has sizes of its own, and of broadcasts too.
  const Cluster newer = of(GpuGeneration::Cdna4, 2, 8);
  CHECK(protocol(newer, Outcome::AllReduced, 131071) == "LL");
  CHECK(protocol(newer, Outcome::AllReduced, 131072) == "LL128");
  CHECK(protocol(newer, Outcome::Broadcast, 2048) == "LL");
  CHECK(protocol(newer, Outcome::Broadcast, 2049) == "LL128");
  CHECK(protocol(newer, Outcome::Broadcast, 16777217) == "Simple");
}

// RCCL's estimates are least for a tree with Simple at 4 MiB, and for a ring if LL alone is left.
TEST_CASE("a protocol by size keeps the algorithm, and the environment's comes first", "[rccl]") {
  Cluster two = of(GpuGeneration::Cdna3, 2, 8);
  CHECK(choice(two, Outcome::AllReduced, 4 * kMiB) == "tree/LL128");
  two.nccl_settings = parse_nccl_settings("NCCL_PROTO=LL");
  CHECK(choice(two, Outcome::AllReduced, 4 * kMiB) == "ring/LL");
  // LL128 needs a NIC beside each GPU. Without one the sizes between are Simple.
  CHECK(choice(of(GpuGeneration::Cdna3, 2, 16), Outcome::AllReduced, 4 * kMiB) == "tree/Simple");
  // RCCL knows nodes with four NICs, and gives them table 0, which has no sizes.
  CHECK(machine(of(GpuGeneration::Cdna3, 2, 4)).rccl == &rccl_default_table());
  CHECK(choice(of(GpuGeneration::Cdna3, 2, 4), Outcome::AllReduced, 4 * kMiB) == "tree/Simple");
}

// Five rings of 60 GB/s use most of 340 GB/s nominal: as many as NCCL would lay for Hopper.
TEST_CASE("nodes that RCCL does not recognise have its first table, and NCCL's search", "[rccl]") {
  const NcclMachine four = machine(of(GpuGeneration::Cdna3, 1, 4, 4));
  CHECK(four.rccl == &rccl_default_table());
  CHECK_FALSE(four.ll128);
  CHECK_FALSE(four.same_channels);
  CHECK(four.inside.value * four.channels == Approx(330e9));
  const NcclMachine alone = machine(of(GpuGeneration::Cdna3, 8, 1, 1));
  CHECK(alone.channels == 1);
  CHECK(alone.between.value == Approx(48e9));
}

TEST_CASE("RCCL has no NVLS, CollNet and PAT, whatever a cluster says", "[rccl]") {
  for (const int gpus : {1, 8}) {
    Cluster cluster = of(GpuGeneration::Cdna3, 4, gpus, gpus);
    cluster.nvlink_sharp = cluster.network_sharp = YesNo::Yes;
    for (const Outcome outcome :
         {Outcome::AllReduced, Outcome::AllGathered, Outcome::Scattered, Outcome::Broadcast})
      for (const NcclEstimate& each : nccl_estimates(machine(cluster), outcome, Bytes{kMiB}))
        CHECK((each.algorithm == NcclAlgorithm::Ring ||
               (each.algorithm == NcclAlgorithm::Tree && outcome == Outcome::AllReduced)));
  }
}

TEST_CASE("every table of RCCL chooses for all sizes", "[rccl]") {
  for (const GpuGeneration gpu : {GpuGeneration::Cdna2, GpuGeneration::Cdna3, GpuGeneration::Cdna4})
    for (const int nodes : {1, 2, 3, 64})
      for (const int nics : {1, 4, 8, 16})
        for (const Outcome outcome : {Outcome::AllReduced, Outcome::AllGathered, Outcome::Scattered,
                                      Outcome::Broadcast, Outcome::Passed})
          for (std::int64_t bytes = 1; bytes <= std::int64_t{1} << 36; bytes *= 2) {
            const Cluster cluster = of(gpu, nodes, nics);
            const NcclWay way =
                nccl_way(cluster, kUsualNccl, even_layout(nodes, 8), outcome, Bytes{bytes});
            CAPTURE(nodes, nics, bytes);
            REQUIRE(way.collective != nullptr);
            CHECK(way.collective->outcome == outcome);
            CHECK((outcome == Outcome::Passed || way.estimate.bandwidth.value > 0));
          }
}

// On one node 10 us come before LL's first step and 17 before Simple's; steps take .25 and .8 us,
// and flags double LL's bytes. On several, a launch of 6 us comes before RCCL's base of 17, and
// steps inside nodes are RCCL's 2.1. Its 320 us for a ring's step between nodes stand in its
// estimate alone: on links it takes NCCL's 14. Sixteen ranks pass 30 times, and every eighth pass
// crosses from node to node. Those bytes do not pass xGMI: 6/7 of 7 parts and 1 for the NIC are 7
// of 8.
TEST_CASE("RCCL's choice takes its base and its flags, and the links' bandwidth", "[rccl]") {
  const Cluster node = of(GpuGeneration::Cdna3, 1, 8);
  const auto way = [](const Cluster& cluster, std::int64_t bytes) {
    return nccl_way(cluster, kUsualNccl, even_layout(cluster.nodes, 8), Outcome::AllReduced,
                    Bytes{bytes});
  };
  const Protocol small = way(node, 1 << 10).protocol;
  CHECK(small.name == "LL");
  CHECK(small.begin.count() * 1e6 == Approx(10));
  CHECK((node.intra.latency + small.inside).count() * 1e6 == Approx(.25));
  CHECK(small.link_time == 2);
  const Protocol large = way(node, std::int64_t{1} << 30).protocol;
  CHECK(large.name == "Simple");
  CHECK(large.begin.count() * 1e6 == Approx(17));
  CHECK((node.intra.latency + large.inside).count() * 1e6 == Approx(.8));
  CHECK(large.link_time == 1);
  const Cluster two = of(GpuGeneration::Cdna3, 2, 8);
  const Protocol between = way(two, std::int64_t{1} << 30).protocol;
  CHECK(between.begin.count() * 1e6 == Approx(6 + 17 + 30 * 7. / 8 * 2.1 + 30 / 8. * 14));
  CHECK(between.link_time_of(true) == Approx(6. / 7));
  // A larger latency than NCCL's steps hold adds its excess over 5.7 us.
  Cluster slow = node;
  slow.intra.latency = Seconds{20.7e-6};
  CHECK((slow.intra.latency + way(slow, 1 << 10).protocol.inside).count() * 1e6 == Approx(15.25));
}
