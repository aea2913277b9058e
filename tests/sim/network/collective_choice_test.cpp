// The choice of a collective if none is named.
#include "sim/network/collective_choice.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

Cluster cluster(int nodes) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = 1;
  cluster.nic = {BytesPerSecond{1e9}, 50us};
  cluster.intra = {BytesPerSecond{1e9}, 0us};
  return cluster;
}

std::string chosen(const Cluster& on, Aggregation aggregation, std::int64_t bytes) {
  return std::string(
      CollectiveChoice(on).choose(aggregation, {.payload = Bytes{bytes}}).collective->name);
}

}  // namespace

// 64 ranks, 50 us a step: a ring has 126 steps, 6.3 ms, a tree 6 levels up and down, 0.6 ms. 100 MB
// take a ring 126 x 1.6 ms = 197 ms of bandwidth, a tree twice 100 MB, 200 ms.
TEST_CASE("a tree for the small, a ring for the large", "[collective]") {
  CHECK(chosen(cluster(64), Aggregation::AllReduce, 4'000) == "double-binary-tree");
  CHECK(chosen(cluster(64), Aggregation::AllReduce, 1'000'000'000) == "ring-all-reduce");
  CHECK(chosen(cluster(2), Aggregation::AllReduce, 1'000'000'000) == "ring-all-reduce");
  CHECK(chosen(cluster(64), Aggregation::AllGather, 4'000) == "ring-all-gather");
  CHECK(chosen(cluster(1), Aggregation::AllReduce, 4'000) == "ring-all-reduce");
}

// 8 nodes of 4 GPUs over 4 NICs. One ring crosses one NIC of each node, rail rings all four of
// them: a quarter of the time. A few bytes go up and down the tree over 8 nodes and 3 more of a
// chain, 12 messages, where one over 32 ranks has 5 levels between nodes, too, and rings have 62
// rounds.
TEST_CASE("where nodes have several NICs, rails are chosen for the large", "[collective]") {
  Cluster rails = cluster(8);
  rails.gpus_per_node = 4;
  rails.nics_per_node = 4;
  rails.intra.bandwidth = {100e9};
  CHECK(chosen(rails, Aggregation::AllReduce, 1'000'000'000) == "rail-ring-all-reduce");
  CHECK(chosen(rails, Aggregation::AllGather, 100'000'000) == "rail-ring-all-gather");
  CHECK(chosen(rails, Aggregation::AllReduce, 4'000) == "nccl-tree");
  rails.nics_per_node = 1;
  CHECK(chosen(rails, Aggregation::AllReduce, 1'000'000'000) == "ring-all-reduce");
  CHECK(chosen(rails, Aggregation::AllGather, 100'000'000) == "ring-all-gather");
  CHECK(chosen(rails, Aggregation::AllReduce, 4'000) == "double-binary-tree");
}

// The same by groups: in a node there is no rail, and what is 4 apart has one GPU in each node.
TEST_CASE("groups choose for themselves", "[collective]") {
  Cluster rails = cluster(8);
  rails.gpus_per_node = 4;
  rails.nics_per_node = 4;
  rails.intra.bandwidth = {100e9};
  const CollectiveChoice choice(rails);
  const CollectiveLoad large{.payload = Bytes{1'000'000'000}};
  CHECK(choice.choose(Aggregation::AllReduce, large, {1, 4}).collective->name == "ring-all-reduce");
  CHECK(choice.choose(Aggregation::AllReduce, large, {4, 8}).collective->name == "ring-all-reduce");
  CHECK(choice.choose(Aggregation::AllReduce, large, {1, 16}).collective->name ==
        "rail-ring-all-reduce");
  CHECK(choice.choose(Aggregation::AllReduce, large, {1, 1}).collective->name == "ring-all-reduce");
  // Eight ranks a node apart: 14 rounds of 50 us and 125 MB at 1 GB/s, on a NIC of their own.
  CHECK(choice.time(*find_collective("ring-all-reduce"), large, {4, 8}).count() ==
        Approx(14 * (50e-6 + 0.125)).epsilon(1e-9));
}

// As FSDP gathers parameters and scatters gradients. On 8 nodes of 4 GPUs, ranks 4 apart have one
// GPU in each node.
TEST_CASE("since NCCL 2.23 parts go by PAT where a group has one GPU a node", "[collective]") {
  Cluster fabric = cluster(8);
  fabric.nic = {BytesPerSecond{24e9}, 5us};
  const CollectiveLoad part{.payload = Bytes{128 << 10}}, whole{.payload = Bytes{1 << 20}};
  const auto names = [&](int minor, const RankGroups& groups = {}) {
    const CollectiveChoice choice(fabric, NcclVersion{2, minor, 0});
    return std::string(choice.gather(part, groups).collective->name) + ", " +
           std::string(choice.scatter(whole, groups).collective->name);
  };
  CHECK(names(27) == "pat-all-gather, pat-reduce-scatter");
  CHECK(names(22) == "ring-all-gather, ring-reduce-scatter");
  fabric.gpus_per_node = 4;
  CHECK(names(27) == "ring-all-gather, ring-reduce-scatter");
  CHECK(names(27, {4, 8}) == "pat-all-gather, pat-reduce-scatter");
}

// 32 B200 in a rack. The NVLink switch takes 25 us, once, and a ring's 31 steps would take them
// each. 1 MiB takes 25 us and a start, and all bytes pass each GPU's links at 74 % of 900 GB/s.
TEST_CASE("an NVLink switch gathers and scatters in one step", "[collective]") {
  Cluster rack = cluster(1);
  rack.gpus_per_node = 32;
  rack.gpu_generation = GpuGeneration::Blackwell;
  rack.nvlink_sharp = YesNo::Yes;
  rack.intra = {BytesPerSecond{900e9}, 3400ns};
  rack.lay_out_ranks();
  const CollectiveChoice choice(rack, NcclVersion{2, 27, 5});
  for (const bool gathers : {true, false}) {
    const auto time = [&](std::int64_t whole) {
      const CollectiveLoad load{.payload = Bytes{gathers ? whole / 32 : whole}};
      const CollectiveUse use = gathers ? choice.gather(load, {}) : choice.scatter(load, {});
      CHECK(use.collective->name == (gathers ? "nvls-all-gather" : "nvls-reduce-scatter"));
      CollectiveLoad walked = load;
      walked.protocol = use.protocol;
      return choice.time(*use.collective, walked).count();
    };
    CHECK(time(1 << 20) > 25e-6);
    CHECK(time(1 << 20) < 40e-6);
    CHECK(time(256 << 20) - time(1 << 20) == Approx((255 << 20) / (.74 * 900e9)).epsilon(0.02));
  }
}

TEST_CASE("a platform of SimGrid's has no costs here, and says what to name instead",
          "[collective]") {
  Cluster platform = cluster(4);
  platform.platform_file = "p.xml";
  CHECK_THROWS_WITH(chosen(platform, Aggregation::AllReduce, 4'000),
                    Catch::Contains("'p.xml'") && Catch::Contains("name the collective"));
}
