// Every collective on every engine: alone on equal links it takes its closed form.
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

void check_all(const std::vector<int>& ranks, const std::vector<std::int64_t>& payloads) {
  for (const Collective* collective : every_collective())
    for (const int count : ranks)
      for (const std::int64_t bytes : payloads) {
        const Cluster cluster = nodes_of_one(count);
        Plan plan;
        plan.rank_speeds.assign(static_cast<std::size_t>(count), 1.0);
        PlanStep step{StepKind::Collective, "it", {}, Seconds{0}, collective, {}};
        step.load.payload = Bytes{bytes};
        step.load.elements = std::max<std::int64_t>(1, bytes);  // 8 bytes each of one in 8
        plan.steps.push_back(step);
        const auto phases = collective->phases(layout_of(cluster), step.load);
        const double expected =
            collective_time(phases, make_topology(cluster), software_of(cluster)).count();
        for (const char* name : {"simgrid-exact", "simgrid-fluid"}) {
          const Engine& engine = *find_engine(name);
          if (!engine.built()) continue;
          const RunRecord record = engine.run(plan, cluster);
          CAPTURE(collective->name, count, bytes, name);
          // Where a payload is cut in unequal chunks, some have a byte more: up to two for each
          // rank on one link.
          const double remainders = 2.0 * count / cluster.nic.bandwidth.value;
          CHECK(summarize(plan, record).iteration.count() ==
                Approx(expected).epsilon(1e-3).margin(remainders));
        }
      }
}

}  // namespace

TEST_CASE("every collective alone takes its closed form on both SimGrid engines", "[engine]") {
  check_all({2, 3, 5, 8, 12}, {0, 1'000, 5'000'000});
}

TEST_CASE("the same for 2 to 64 ranks, from a byte to a gigabyte", "[engine][slow]") {
  check_all({2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64},
            {1, 4'096, 1'000'003, 1'000'000'000});
}
