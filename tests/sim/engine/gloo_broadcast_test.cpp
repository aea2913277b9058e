// Many small broadcasts in a row by Gloo's tree, as ZeRO-1 sends parameters, on every engine. A
// message takes 1 ms of latency and no time for its bytes.
#include "sim/network/gloo_broadcast.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/engine/engine.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

constexpr int kBroadcasts = 96;

/// Each of the first `owners` ranks broadcasts as many, one rank after the other.
Plan broadcasts(int ranks, int owners) {
  Plan plan;
  plan.rank_speeds.assign(static_cast<std::size_t>(ranks), 1);
  for (int i = 0; i < kBroadcasts; ++i) {
    PlanStep step{StepKind::Collective, "parameter", {}, 0s, &gloo_broadcast, {}};
    step.load.payload = Bytes{1};
    step.load.root = i * owners / kBroadcasts;
    plan.steps.push_back(step);
  }
  return plan;
}

/// Milliseconds until the last rank has the last buffer.
double duration(const Engine& engine, int ranks, int owners) {
  Cluster cluster;
  cluster.nodes = ranks;
  cluster.gpus_per_node = 1;
  cluster.nic = {BytesPerSecond{1e15}, 1ms};
  cluster.intra = {BytesPerSecond{1e15}, 0ms};
  const RunRecord record = engine.run(broadcasts(ranks, owners), cluster);
  Seconds last{0};
  for (int rank = 0; rank < ranks; ++rank) last = std::max(last, record.of_rank(rank).back().end);
  return last.count() * 1e3;
}

}  // namespace

// Each rank asks for a buffer once it is through with the one before, so a broadcast ends a latency
// after the one before. The last buffer needs a latency for each level of the tree.
TEST_CASE("small broadcasts from one rank take a latency each, on any number of hosts",
          "[gloo_broadcast]") {
  for (const Engine& engine : all_engines()) {
    if (!engine.built()) continue;
    CAPTURE(engine.name);
    CHECK(duration(engine, 2, 1) == Approx(kBroadcasts).epsilon(1e-6));
    CHECK(duration(engine, 3, 1) == Approx(kBroadcasts).epsilon(1e-6));
    CHECK(duration(engine, 4, 1) == Approx(kBroadcasts + 1).epsilon(1e-6));
    CHECK(duration(engine, 8, 1) == Approx(kBroadcasts + 2).epsilon(1e-6));
  }
}

// A new root waits at most until the last buffer is at the bottom of the tree: 1 ms on 4 ranks, 2
// ms on 8. Its own tree fills meanwhile or after that.
TEST_CASE("small broadcasts from rank after rank take a latency each, and little more",
          "[gloo_broadcast]") {
  for (const Engine& engine : all_engines()) {
    if (!engine.built()) continue;
    for (const int ranks : {2, 3, 4, 8}) {
      CAPTURE(engine.name, ranks);
      const double levels = std::ceil(std::log2(ranks));
      CHECK(duration(engine, ranks, ranks) >= kBroadcasts - 1e-6);
      CHECK(duration(engine, ranks, ranks) <= kBroadcasts + ranks * levels);
    }
  }
}
