// Many ranks that are alike: one node stands for all of them, in what is kept and in SimGrid's
// network, and what is not alike is refused.
#include <catch2/catch.hpp>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

Cluster nodes_of(int nodes, int gpus, int nics, bool pcie = false) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = gpus;
  cluster.nics_per_node = nics;
  cluster.nic = {BytesPerSecond{12.5e9}, 10us};
  cluster.intra = {BytesPerSecond{100e9}, 3us};
  if (pcie) cluster.pcie_bandwidth = {60e9};
  return cluster;
}

/// A bucket's backward, and a collective after it.
void add(Plan& plan, const char* collective, std::int64_t bytes, RankGroups groups,
         int communicator) {
  plan.steps.push_back({StepKind::Backward, "backward", {}, 500us});
  PlanStep step{StepKind::Collective,        collective, {plan.steps.size() - 1}, 0s,
                find_collective(collective), {}};
  step.load.payload = Bytes{bytes};
  step.groups = groups;
  step.communicator = communicator;
  plan.steps.push_back(step);
}

/// Shards of two nodes gathered, and replicas of them summed beside that.
Plan shards_and_replicas(const Cluster& cluster, const char* gather, const char* sum) {
  const int shard = 2 * cluster.gpus_per_node;
  Plan plan;
  plan.rank_speeds.assign(static_cast<std::size_t>(cluster.ranks()), 1);
  for (int bucket = 0; bucket < 3; ++bucket) {
    add(plan, gather, 3'000'000 + bucket, {1, shard}, 1);
    add(plan, sum, 20'000'000 + bucket, {shard, cluster.ranks() / shard}, 2);
    add(plan, "two-level-all-reduce", 10'000'000, {}, 2);
  }
  return plan;
}

Seconds iteration(const char* engine, const Plan& plan, const Cluster& cluster,
                  const World& world = {}, const Observation& observation = {}) {
  return summarize(plan, find_engine(engine)->run(plan, cluster, world, observation)).iteration;
}

/// Whether two records have the same dates for all ranks, to the last bit.
bool same_dates(const RunRecord& a, const RunRecord& b, std::size_t ranks) {
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (std::size_t step = 0; step < a.of_rank(rank).size(); ++step)
      if (a.of_rank(rank)[step].start != b.of_rank(rank)[step].start ||
          a.of_rank(rank)[step].end != b.of_rank(rank)[step].end)
        return false;
  return true;
}

}  // namespace

// Whoever records what links carry sees the whole network, and it changes no time.
TEST_CASE("a network that is folded to one node takes as long as the whole one", "[many]") {
  for (const auto& [nodes, gpus] : {std::pair{4, 4}, {6, 2}, {8, 1}, {4, 8}})
    for (const int nics : {1, 2, 4})
      for (const bool pcie : {false, true})
        for (const char* gather : {"ring-all-gather", "rail-ring-all-gather", "bruck-all-gather"}) {
          if (gpus % nics != 0) continue;
          const Cluster cluster = nodes_of(nodes, gpus, nics, pcie);
          Plan plan = shards_and_replicas(cluster, gather, "ring-all-reduce");
          for (const int streams : {1, 2})
            for (const int jobs : {1, 2}) {
              CAPTURE(nodes, gpus, nics, pcie, gather, streams, jobs);
              plan.network_streams = streams;
              World world;
              world.concurrent_jobs = jobs;
              CHECK(iteration("flow-fluid", plan, cluster, world).count() ==
                    Approx(iteration("flow-fluid", plan, cluster, world, {.links = true}).count())
                        .epsilon(1e-6));
            }
        }
}

// Shards and replicas of 960,000 bytes, which 2 to 32 ranks divide. A run that records the loads of
// links plays every rank.
TEST_CASE("one node that stands for all has their dates to the last bit, message by message",
          "[many]") {
  const Engine& exact = *find_engine("flow-exact");
  for (const auto& [nodes, gpus] : {std::pair{4, 4}, {6, 2}, {8, 1}, {4, 8}})
    for (const int nics : {1, 2, 4})
      for (const bool pcie : {false, true})
        for (const char* reduce : {"ring-all-reduce", "rail-ring-all-reduce", "parameter-server"}) {
          if (gpus % nics != 0) continue;
          const Cluster cluster = nodes_of(nodes, gpus, nics, pcie);
          Plan plan;
          plan.rank_speeds.assign(static_cast<std::size_t>(cluster.ranks()), 1);
          for (std::size_t rank = 0; rank < plan.rank_speeds.size(); ++rank)
            if (gpus > 1 && rank % static_cast<std::size_t>(gpus) == 1)
              plan.rank_speeds[rank] = 0.5;
          add(plan, reduce, 960'000, {}, 0);
          add(plan, "ring-all-gather", 960'000, {1, gpus}, 1);
          for (const int jobs : {1, 2}) {
            CAPTURE(nodes, gpus, nics, pcie, reduce, jobs);
            World world;
            world.concurrent_jobs = jobs;
            const RunRecord folded = exact.run(plan, cluster, world);
            const RunRecord whole = exact.run(plan, cluster, world, {.links = true});
            CHECK(folded.steps.size() == static_cast<std::size_t>(gpus));
            CHECK(whole.steps.size() == static_cast<std::size_t>(cluster.ranks()));
            CHECK(folded.flows_simulated == whole.flows_simulated);
            CHECK(same_dates(folded, whole, static_cast<std::size_t>(cluster.ranks())));
          }
        }
}

// 1,000 bytes make chunks of 63 and 62 bytes on 16 ranks: nodes do not do the same.
TEST_CASE("ranks that something tells apart are all played, message by message", "[many]") {
  const Engine& exact = *find_engine("flow-exact");
  const Cluster cluster = nodes_of(4, 4, 1);
  Plan plan;
  plan.rank_speeds.assign(16, 1);
  add(plan, "ring-all-reduce", 1'000, {}, 0);
  CHECK(exact.run(plan, cluster).steps.size() == 16);
  plan.steps.clear();
  add(plan, "ring-all-reduce", 1'600, {}, 0);
  CHECK(exact.run(plan, cluster).steps.size() == 4);
  World world;
  world.ranks.push_back({3, {}, 0.5});
  CHECK(exact.run(plan, cluster, world).steps.size() == 16);
  plan.rank_speeds[7] = 0.5;
  CHECK(exact.run(plan, cluster).steps.size() == 16);
}

TEST_CASE("65,536 ranks that are alike are one class, on the quick engines", "[many]") {
  const Cluster cluster = nodes_of(8192, 8, 8);
  Plan plan;
  plan.rank_speeds.assign(static_cast<std::size_t>(cluster.ranks()), 1);
  add(plan, "rail-ring-all-reduce", 100'000'000, {}, 0);
  add(plan, "ring-all-gather", 1'000'000, {1, 8}, 0);
  const Seconds closed = iteration("analytic", plan, cluster);
  // 2^27 bytes are 2,048 for each of 65,536 ranks: one node stands for all, message by message.
  // Channels meet on the NICs, which the closed form does not see: within 1 %.
  Plan divisible;
  divisible.rank_speeds = plan.rank_speeds;
  add(divisible, "rail-ring-all-reduce", std::int64_t{1} << 27, {}, 0);
  CHECK(iteration("flow-exact", divisible, cluster).count() ==
        Approx(iteration("analytic", divisible, cluster).count()).epsilon(1e-2));
  for (const char* name : {"analytic", "flow-fluid", "flow", "simgrid-fluid", "simgrid"}) {
    const Engine& engine = *find_engine(name);
    if (!engine.built()) continue;
    CAPTURE(name);
    const RunRecord record = engine.run(plan, cluster);
    CHECK(record.steps.size() == 1);
    CHECK(summarize(plan, record).iteration.count() == Approx(closed.count()).epsilon(1e-6));
  }
}

TEST_CASE("beyond 16,384 ranks, what tells ranks apart is refused, and said", "[many]") {
  const Cluster cluster = nodes_of(8192, 8, 1);
  Plan plan;
  plan.rank_speeds.assign(static_cast<std::size_t>(cluster.ranks()), 1);
  add(plan, "ring-all-reduce", 1'000'000, {}, 0);
  const Engine& analytic = *find_engine("analytic");

  Plan slow = plan;
  slow.rank_speeds[7] = 0.5;
  CHECK_THROWS_WITH(analytic.run(slow, cluster),
                    "65536 ranks are too many where ranks compute at different speeds: the most is "
                    "16384, and 65536 where all are alike");
  World world;
  world.ranks.push_back({3, {}, 0.5});
  CHECK_THROWS_WITH(analytic.run(plan, cluster, world), Catch::Contains("events slow some"));
  Cluster uneven = cluster;
  uneven.add_override({"nic_bandwidth", 1, 1, "1Gbps"});
  CHECK_THROWS_WITH(analytic.run(plan, uneven), Catch::Contains("nodes differ"));

  World traffic;
  traffic.flows.push_back({0, 9, {}, {}});
  for (const std::string name : {"flow", "simgrid"}) {
    if (!find_engine(name)->built()) continue;
    CAPTURE(name);
    CHECK_THROWS_WITH(find_engine(name + "-exact")->run(plan, cluster),
                      Catch::Contains("up to 16384 of them, and here are 65536; use --engine " +
                                      name + "-fluid"));
    const Engine& fluid = *find_engine(name + "-fluid");
    CHECK_THROWS_WITH(fluid.run(plan, cluster, traffic), Catch::Contains("or others send on them"));
    CHECK_THROWS_WITH(fluid.run(plan, cluster, {}, {.links = true}),
                      Catch::Contains("is recorded of up to 16384 ranks"));
  }
  // A tree is not the same for all nodes: SimGrid would need a zone for each.
  add(plan, "double-binary-tree", 1'000'000, {}, 0);
  const Seconds closed = iteration("analytic", plan, cluster);
  CHECK(iteration("flow-fluid", plan, cluster).count() == Approx(closed.count()).epsilon(1e-6));
  if (!find_engine("simgrid")->built()) return;
  CHECK_THROWS_WITH(find_engine("simgrid-fluid")->run(plan, cluster),
                    Catch::Contains("use rings, or --engine analytic"));
  // SimGrid's module throws it, and this program knows what it is.
  CHECK_THROWS_AS(find_engine("simgrid-fluid")->run(plan, cluster), ValueError);
}
