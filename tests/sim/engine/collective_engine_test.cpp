// Collectives on every engine: alone on equal links each takes its closed form.
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/engine/iteration_result.hpp"
#include "sim/network/collective_time.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

/// The parts that are carried out around the encoding, too.
std::vector<const Collective*> every_collective() {
  std::vector<const Collective*> all;
  for (const Collective* collective : all_collectives())
    for (const Collective* each : {collective->before, collective, collective->after})
      if (each != nullptr) all.push_back(each);
  return all;
}

Cluster nodes_of_one(int count) {
  Cluster cluster;
  cluster.nodes = count;
  cluster.nic = {BytesPerSecond{1.25e9}, 25us};
  cluster.intra = {BytesPerSecond{10e9}, 5us};
  return cluster;
}

void check_all(const std::vector<int>& ranks, const std::vector<std::int64_t>& payloads,
               const RankGroups& groups = {}) {
  for (const Collective* collective : every_collective())
    for (const int count : ranks)
      for (const std::int64_t bytes : payloads) {
        const Cluster cluster = nodes_of_one(count);
        Plan plan;
        plan.rank_speeds.assign(static_cast<std::size_t>(count), 1.0);
        PlanStep step{StepKind::Collective, "it", {}, Seconds{0}, collective, {}};
        step.load.payload = Bytes{bytes};
        step.load.elements = std::max<std::int64_t>(1, bytes);  // 8 bytes each of one in 8
        step.groups = groups;
        plan.steps.push_back(step);
        const auto phases = phases_in(groups, *collective, layout_of(cluster), step.load);
        const double expected =
            collective_time(phases, make_topology(cluster), software_of(cluster)).count();
        for (const char* name : {"flow-exact", "flow-fluid", "simgrid-exact", "simgrid-fluid"}) {
          const Engine& engine = *find_engine(name);
          if (!engine.built()) continue;
          const RunRecord record = engine.run(plan, cluster);
          CAPTURE(collective->name, count, bytes, name, groups.stride, groups.length);
          // If a payload is cut in unequal chunks, some have a byte more: up to two for each rank
          // on one link.
          const double remainders = 2.0 * count / cluster.nic.bandwidth.value;
          CHECK(summarize(plan, record).iteration.count() ==
                Approx(expected).epsilon(1e-3).margin(remainders));
        }
      }
}

}  // namespace

TEST_CASE("every collective alone takes its closed form on every engine that simulates",
          "[engine]") {
  check_all({2, 3, 5, 8, 12}, {0, 1'000, 5'000'000});
}

TEST_CASE("so does every collective in groups of ranks", "[engine]") {
  for (const RankGroups& groups :
       {RankGroups{1, 4}, {2, 4}, {3, 4}, {4, 3}, {8, 3}, {1, 12}, {12, 2}})
    check_all({24}, {0, 1'000, 5'000'000}, groups);
}

TEST_CASE("the same for 2 to 64 ranks, from a byte to a gigabyte", "[engine][slow]") {
  check_all({2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64},
            {1, 4'096, 1'000'003, 1'000'000'000});
}

// Three ranks, two rounds of 2 us. With contributions of 10 kB (1 us at 10 GB/s), 0 and 0: in the
// first round rank 0 has sent after 1 and rank 1 has it at 3; 1 -> 2 and 2 -> 0 are there at 2. In
// the second, rank 0 sends nothing at 2 (at rank 1 at 4), rank 2 nothing at 2 (at rank 0 at 4), and
// rank 1 the 10 kB at 3: sent at 4, at rank 2 at 6.
TEST_CASE("messages of no bytes take their latency", "[engine]") {
  Plan plan;
  plan.rank_speeds.assign(3, 1);
  CollectiveLoad load{Bytes{0}};
  plan.steps.push_back(
      {StepKind::Collective, "it", {}, 0s, find_collective("ring-all-gather"), load});
  Cluster cluster;
  cluster.nodes = 3;
  cluster.nic = {BytesPerSecond{10e9}, 2us};
  cluster.intra = {BytesPerSecond{100e9}, 1us};
  for (const Engine& engine : all_engines()) {
    if (!engine.built()) continue;
    CAPTURE(engine.name);
    CHECK(engine.run(plan, cluster).of_rank(0)[0].end.count() == Approx(4e-6).epsilon(1e-9));
  }
  const Engine* exact = find_engine("flow-exact");
  plan.steps[0].load = {.payload = Bytes{10'000},
                        .contributions = {Bytes{10'000}, Bytes{0}, Bytes{0}}};
  const RunRecord record = exact->run(plan, cluster);
  CHECK(record.of_rank(0)[0].end.count() == Approx(4e-6).epsilon(1e-9));
  CHECK(record.of_rank(2)[0].end.count() == Approx(6e-6).epsilon(1e-9));
}
