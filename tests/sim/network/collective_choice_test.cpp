// Which collective is taken where none is named.
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
  return std::string(CollectiveChoice(on).choose(aggregation, {.payload = Bytes{bytes}}).name);
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

TEST_CASE("a platform of SimGrid's has no costs here, and says what to name instead",
          "[collective]") {
  Cluster platform = cluster(4);
  platform.platform_file = "p.xml";
  CHECK_THROWS_WITH(chosen(platform, Aggregation::AllReduce, 4'000),
                    Catch::Contains("'p.xml'") && Catch::Contains("name the collective"));
}
