// Sparse gradients on the toy's network: gTop-k, two levels, the sparse all-reduce, and counts that
// vary. By hand, on every engine; the times are in toy_schedule.hpp.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "sim/base/random.hpp"
#include "tests/sim/engine/toy_schedule.hpp"

using namespace gradcast;
using namespace gradcast::toy;
using namespace std::chrono_literals;

namespace {

/// 2 nodes of 2 GPUs that reach each other at 2 MB/s.
Scenario two_levels(const char* fusion, bool overlap) {
  Scenario scenario = on_nodes(toy_with("topk", fusion, overlap), 2, 2);
  scenario.cluster.intra.bandwidth = BytesPerSecond{2e6};
  return with_collective(std::move(scenario), "two-level-sparse");
}

/// The toy with a compressor that selects a varying number.
Scenario varying(const char* fusion) {
  Scenario scenario = toy_with("topk", fusion, false);
  for (CostRow& row : scenario.costs.change().rows) row.compressor = "gaussian";
  scenario.compressor = find_compressor("gaussian");
  scenario.count_spread = 0.5;
  scenario.seed = 7;
  return scenario;
}

}  // namespace

// ---- collectives ----

// 60 values of 4 bytes, in 2 rounds of 120: 0.24 ms. 6 ms of forward, 12 of backward, 6 of encode,
// 3 of decode, 1 of update. Pairs in an all-gather are one round of 480 bytes: 0.48 ms.
TEST_CASE("values alone go through an all-reduce, where a seed is shared", "[schedule]") {
  Scenario scenario = toy_with("randk", "merged", false);
  for (CostRow& row : scenario.costs.change().rows) row.compressor = "randk";
  CHECK(astray(scenario, 28.48) == kNobody);
  scenario = with_collective(scenario, "ring-all-reduce");
  scenario.wire_bytes_per_element = bytes_of_value(ValueType::Fp32);
  CHECK(astray(scenario, 28.24) == kNobody);
  CHECK(astray(scenario, &IterationResult::communication, 0.24) == kNobody);
  scenario.compressing = false;  // an upper bound: 6 + 12 + 0.24 + 1
  CHECK(astray(scenario, 19.24) == kNobody);
}

// Values and indices: 240 bytes each, and 1 ms of software each.
TEST_CASE("two messages have a collective's latency each", "[schedule]") {
  Scenario scenario = toy_with("topk", "merged", false);
  scenario.wire_messages = 2;
  CHECK(astray(scenario, 28.48) == kNobody);
  scenario.cluster.per_collective_latency = 1ms;
  CHECK(astray(scenario, 6 + 12 + 6 + 2 * 1.24 + 3 + 1) == kNobody);
}

// Two ranks: 480 bytes up and down again. Four: two levels each way. At 0.48 MB/s a rank takes 1 ms
// to merge what came up.
TEST_CASE("gtopk sends k up the tree and down again", "[schedule]") {
  Scenario scenario = with_collective(toy_with("topk", "merged", false), "gtopk");
  CHECK(astray(scenario, 28 + 2 * 0.48) == kNobody);
  scenario.cluster.nodes = 4;
  CHECK(astray(scenario, 28 + 4 * 0.48) == kNobody);
  scenario.cluster.reduction_bandwidth = BytesPerSecond{0.48e6};
  CHECK(astray(scenario, 28 + 4 * 0.48 + 2) == kNobody);
}

// Half of 24 kB inside the node at 2 MB/s: 6. Every rank encodes 3000 elements: 3. 30 pairs, 240
// bytes, of two ranks through the NIC: 0.48. Decode 1.5. The other half inside: 6.
TEST_CASE("two-level-sparse is dense inside nodes and sparse between them", "[schedule]") {
  CHECK(astray(two_levels("merged", false), 6 + 12 + 6 + 3 + 0.48 + 1.5 + 6 + 1) == kNobody);
}

// By layer: scatter c 3, b 2, a 1; encode 1.5, 1, 0.5; pairs 0.24, 0.16, 0.08; decode 0.75, 0.5,
// 0.25; gather as scatter. The network takes all scatters, then all pairs, then all gathers.
//
// Overlap: scatter c 12-15, b 16-18, a 18-19. Encode c 18-19.5, b -20.5, a -21; pairs -19.74,
// -20.66, -21.08. Decode c 21-21.75, b -22.25, a -22.5; gather c 21.75-24.75, b -26.75, a -27.75;
// update.
// Without, all in series: scatter 18-24, encode -27, pairs -27.48, decode -28.98, gather -34.98;
// update.
// In a pipeline, without overlap: scatter c 18-21, b -23, a -24. Encode c 21-22.5, b 23-24, a
// -24.5; pairs c 24-24.24, b -24.4, a 24.5-24.58. Decode c 24.5-25.25, b -25.75, a -26; gather
// c 25.25-28.25, b -30.25, a -31.25; update.
TEST_CASE("two-level-sparse buckets keep their order in a queue", "[schedule]") {
  CHECK(astray(two_levels("layer", true), 28.75) == kNobody);
  CHECK(astray(two_levels("layer", false), 35.98) == kNobody);
  Scenario pipeline = two_levels("layer", false);
  pipeline.pipeline = true;
  CHECK(astray(pipeline, 32.25) == kNobody);
}

TEST_CASE("two-level-sparse ends whatever the queue, the stream and the messages", "[schedule]") {
  for (const Queue queue : {Queue::Fifo, Queue::Priority})
    for (const EncodeStream stream : {EncodeStream::Compute, EncodeStream::Side})
      for (const int streams : {1, 2, 3})
        for (const bool overlap : {false, true}) {
          Scenario scenario = two_levels("layer", overlap);
          scenario.queue = queue;
          scenario.encode_stream = stream;
          scenario.network_streams = streams;
          scenario.wire_messages = streams;
          CAPTURE(to_text(queue), to_text(stream), streams, overlap);
          for (const Engine* engine : toy::engines_for(scenario)) {
            CAPTURE(engine->name);
            CHECK(run(scenario, *engine).lost.empty());
          }
        }
}

// Two ranks exchange what they have: 480 bytes. Four: then the union of two, 6000 (1 - 0.99^2) =
// 119.4 pairs, 119 of 8 bytes.
TEST_CASE("a sparse all-reduce sends unions of what ranks selected", "[schedule]") {
  Scenario scenario = with_collective(toy_with("topk", "merged", false), "sparse-all-reduce");
  CHECK(astray(scenario, 28 + 0.48) == kNobody);
  scenario.cluster.nodes = 4;
  CHECK(astray(scenario, 28 + 0.48 + 0.952) == kNobody);
}

// At 0.6, 3600 pairs would be 28.8 kB: more than the dense 24. At 0.3, 1800 pairs are 14.4 kB, and
// the union of two, 6000 (1 - 0.7^2) = 3060 pairs, 24.48 kB: dense again.
TEST_CASE("a sparse all-reduce becomes dense where that is less", "[schedule]") {
  Scenario scenario = with_collective(toy_with("topk", "merged", false), "sparse-all-reduce");
  scenario.density = 0.6;
  CHECK(astray(scenario, 28 + 24) == kNobody);
  scenario.density = 0.3;
  scenario.cluster.nodes = 4;
  CHECK(astray(scenario, 28 + 14.4 + 24) == kNobody);
}

// ---- counts ----

// 60 elements times what was drawn for each rank, 8 bytes each; both pass at the same time, so that
// the larger decides.
TEST_CASE("bytes follow the counts that were drawn", "[schedule]") {
  const Scenario scenario = varying("merged");
  const Plan plan = make_plan(scenario);
  const CollectiveLoad& load = plan.steps[7].load;
  REQUIRE(load.contributions.size() == 2);
  CHECK(load.contributions[0] != load.contributions[1]);
  for (const std::uint64_t rank : {0, 1}) {
    const double drawn = 60 * lognormal_factor(0.5, {7, 0, Draw::Count, rank});
    CHECK(load.contributions[rank].count == 8 * std::llround(drawn));
  }
  const Bytes larger = std::max(load.contributions[0], load.contributions[1]);
  CHECK(astray(scenario, 28 + static_cast<double>(larger.count) / 1e3) == kNobody);
  // An exact count does not spread.
  Scenario exact = toy_with("topk", "merged", false);
  exact.count_spread = 0.5;
  CHECK(astray(exact, 28.48) == kNobody);
}

TEST_CASE("every bucket draws counts of its own, whatever the collective", "[schedule]") {
  for (const char* collective : {"ring-all-gather", "two-level-sparse"}) {
    Scenario scenario = with_collective(on_nodes(varying("layer"), 2, 2), collective);
    scenario.density = 0.1;
    std::vector<double> shares;  // rank 0's in each bucket
    const Plan plan = make_plan(scenario);
    for (const PlanStep& step : plan.steps)
      if (!step.load.contributions.empty())
        shares.push_back(static_cast<double>(step.load.contributions[0].count) /
                         static_cast<double>(plan.buckets[shares.size()].payload.count));
    CAPTURE(collective, shares);
    REQUIRE(shares.size() == 3);
    for (std::size_t bucket = 0; bucket < 3; ++bucket)
      CHECK(shares[bucket] ==
            Approx(lognormal_factor(0.5, {7, bucket, Draw::Count, 0})).epsilon(0.02));
  }
}
