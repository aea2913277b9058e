// Schedules of the toy, on every engine, as they are computed by hand.
//
// Of the toy, in ms: forward a 1, b 2, c 3; backward c 6, b 4, a 2; update 1. Dense, all-reduces of
// two ranks take as many ms as there are thousand bytes: c 12, b 8, a 4. Top-k: encode c 3, b 2,
// a 1; all-gather c 0.24, b 0.16, a 0.08; decode c 1.5, b 1, a 0.5. "c 12-24": from 12 to 24 ms.
#include <catch2/catch.hpp>

#include "sim/base/random.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "tests/sim/engine/every_engine.hpp"

using namespace gradcast;
using namespace std::chrono_literals;
using toy::astray;
using toy::kNobody;

namespace {

Scenario toy_with(const char* compressor, const char* fusion, bool overlap,
                  Queue queue = Queue::Fifo) {
  Scenario scenario = toy::scenario(compressor);
  scenario.fusion = parse_fusion(fusion);
  scenario.overlap = overlap;
  scenario.queue = queue;
  return scenario;
}

/// Layer by layer with overlap, what most of these are about.
Scenario wait_free(const char* compressor = "dense", Queue queue = Queue::Fifo) {
  return toy_with(compressor, "layer", true, queue);
}

Scenario on_side(Scenario scenario) {
  scenario.encode_stream = EncodeStream::Side;
  return scenario;
}

Scenario with_collective(Scenario scenario, const char* name) {
  scenario.collective = find_collective(name);
  REQUIRE(scenario.collective != nullptr);
  return scenario;
}

Scenario on_nodes(Scenario scenario, int nodes, int gpus_per_node) {
  scenario.cluster.nodes = nodes;
  scenario.cluster.gpus_per_node = gpus_per_node;
  return scenario;
}

std::size_t buckets_of(const Scenario& scenario) { return make_plan(scenario).buckets.size(); }

}  // namespace

// ---- fusion and overlap, first in first out ----

TEST_CASE("dense buckets go out as backward fills them", "[schedule]") {
  // 6 + 12 + 24 + 1, in one piece or in three
  CHECK(astray(toy_with("dense", "merged", false), 43) == kNobody);
  CHECK(astray(toy_with("dense", "merged", true), 43) == kNobody);
  CHECK(astray(toy_with("dense", "layer", false), 43) == kNobody);
  // c 12-24, b (ready at 16) 24-32, a 32-36, update
  CHECK(astray(toy_with("dense", "layer", true), 37) == kNobody);
  // 12 kB: c fills one, b and a the other; c 12-24, b+a 24-36
  CHECK(astray(toy_with("dense", "12kB", true), 37) == kNobody);
  // 16 kB: c+b (ready at 16) 16-36, a 36-40
  CHECK(astray(toy_with("dense", "16kB", true), 41) == kNobody);
  CHECK(astray(toy_with("dense", "16kB", false), 43) == kNobody);
}

TEST_CASE("sparse buckets are encoded, sent and decoded one by one", "[schedule]") {
  // 6 + 12 + encode 6 + gather 0.48 + decode 3 + 1
  CHECK(astray(toy_with("topk", "merged", false), 28.48) == kNobody);
  CHECK(astray(toy_with("topk", "merged", true), 28.48) == kNobody);
  // Computing never waits: 6 + 12 + 6 + 3 + 1
  CHECK(astray(toy_with("topk", "layer", false), 28) == kNobody);
  CHECK(astray(toy_with("topk", "layer", true), 28) == kNobody);
  // c+b encoded 16-21 and sent 21-21.4; a encoded 23-24, sent 24-24.08 under the decode of c+b
  CHECK(astray(toy_with("topk", "16kB", true), 28) == kNobody);
}

// The planner's startup is the network's: none here. c is ready at 6 and begins then; b, ready at
// 10, does not wait for nothing; a, ready at 12, finds b still waiting for the network (18).
TEST_CASE("mg-wfbp without a startup merges what waits for the network anyway", "[schedule]") {
  CHECK(buckets_of(toy_with("dense", "mg-wfbp", true)) == 2);
  // c 12-24, b+a 24-36, update
  CHECK(astray(toy_with("dense", "mg-wfbp", true), 37) == kNobody);
  CHECK(astray(toy_with("dense", "mg-wfbp", false), 43) == kNobody);
}

TEST_CASE("mg-wfbp merges more the more a collective's start costs", "[schedule]") {
  // 3 ms: b would have c wait for 4, so c goes alone, 12-27; b+a 27-42, update
  Scenario scenario = toy_with("dense", "mg-wfbp", true);
  scenario.cluster.per_collective_latency = 3ms;
  CHECK(buckets_of(scenario) == 2);
  CHECK(astray(scenario, 43) == kNobody);
  // 5 ms: c waits 4 for b, c+b 2 for a; all together 18-47, update
  scenario.cluster.per_collective_latency = 5ms;
  CHECK(buckets_of(scenario) == 1);
  CHECK(astray(scenario, 48) == kNobody);
  // A planner that wrongly believes in 5 ms loses by it: 18-42, update.
  scenario.cluster.per_collective_latency = 0ms;
  scenario.cluster.planner_startup = 5ms;
  scenario.cluster.planner_bandwidth = BytesPerSecond{1e6};
  CHECK(buckets_of(scenario) == 1);
  CHECK(astray(scenario, 43) == kNobody);
}

// A negotiation of 2 ms before each gather. Computing alone ends at 6 + 12 + 6 + 3 = 27 at best.
// One bucket: 6 + 18 + 2.48 + 3 = 29.48. {c} {b+a}: encoded at 24, there at 26.24, decoded at
// 27.74. {c+b} {a}: encoded at 24, a there at 26.08, while c+b is decoded 24-26.5; a 26.5-27.
// {c} {b} {a} is as good and has a bucket more.
TEST_CASE("omgs finds the fewest buckets that nothing waits for", "[schedule]") {
  Scenario scenario = toy_with("topk", "omgs", true);
  scenario.cluster.per_tensor_negotiation = 2ms;
  const Plan plan = make_plan(scenario);
  REQUIRE(plan.buckets.size() == 2);
  CHECK(plan.buckets[0].elements == 5000);
  CHECK(astray(scenario, 28) == kNobody);  // and the update
  // Without overlap: encoded 18-23-24, c+b 23-25.4, a 25.4-27.48; decoded 25.4-27.9-28.4, update
  scenario.overlap = false;
  CHECK(astray(scenario, 29.4) == kNobody);
}

// Dense, from the end of forward: {c} {b} {a} and {c} {b+a} 6-18-30, {c+b} {a} 10-30-34, one 12-36.
TEST_CASE("omgs merges dense gradients too", "[schedule]") {
  CHECK(buckets_of(toy_with("dense", "omgs", true)) == 2);
  CHECK(astray(toy_with("dense", "omgs", true), 37) == kNobody);
}

// ---- priority: the iteration begins with backward and ends with the next forward ----

// Backward c 0-6, b 6-10, a 10-12. c 6-18, for what is on its way is not interrupted; then a,
// nearer to the input, 18-22, and b 22-30. Updates take 1/6, 1/3 and 1/2 by their elements: a 22 +
// 1/6 + 1 = 23.1667; b 30 + 1/3 + 2 = 32.3333; c + 1/2 + 3 = 35.8333.
TEST_CASE("a priority queue sends what the next forward needs first", "[schedule]") {
  CHECK(astray(wait_free("dense", Queue::Priority), 35 + 5. / 6) == kNobody);
}

// All three are ready at 12 ms: a 12-16, b 16-24, c 24-36. Forward a until 16 + 1/6 + 1 = 17.1667,
// b 24 + 1/3 + 2 = 26.3333, c 36 + 1/2 + 3.
TEST_CASE("of buckets that become ready together the first in the model goes first", "[schedule]") {
  CHECK(astray(toy_with("dense", "layer", false, Queue::Priority), 39.5) == kNobody);
}

TEST_CASE("a priority queue of few buckets", "[schedule]") {
  // Merged: 12 + 24 + update 1 + forward 6
  CHECK(astray(toy_with("dense", "merged", false, Queue::Priority), 43) == kNobody);
  CHECK(astray(toy_with("dense", "merged", true, Queue::Priority), 43) == kNobody);
  // c+b ready at 10: 10-30; a 30-34. a 34 + 1/6 + 1 = 35.1667, then c+b 5/6 + 2 + 3.
  CHECK(astray(toy_with("dense", "16kB", true, Queue::Priority), 41) == kNobody);
  // a 12-16, c+b 16-36: 36 + 5/6 + 5
  CHECK(astray(toy_with("dense", "16kB", false, Queue::Priority), 41 + 5. / 6) == kNobody);
  // mg-wfbp: c 6-18, b+a 18-30: 30 + 1/2 + 1 + 2 = 33.5, then c 1/2 + 3
  CHECK(astray(toy_with("dense", "mg-wfbp", true, Queue::Priority), 37) == kNobody);
  // b+a 12-24, c 24-36: 36 + 1/2 + 3
  CHECK(astray(toy_with("dense", "mg-wfbp", false, Queue::Priority), 39.5) == kNobody);
}

// Backward and encode: c 0-9 (sent 9-9.24), b 9-15 (-15.16), a 15-18 (-18.08). Then decode, update
// and forward of each: a 0.5 + 1/6 + 1 = 19.7467, b 1 + 1/3 + 2 = 23.08, c 1.5 + 1/2 + 3 = 28.08.
TEST_CASE("a priority queue of sparse buckets", "[schedule]") {
  CHECK(astray(wait_free("topk", Queue::Priority), 28.08) == kNobody);
}

// ---- compressors on a stream of their own ----

// Side stream: encode c 12-15; decode c (sent 15-15.24) 15.24-16.74, for b is not ready before 16;
// encode b 16.74-18.74, encode a 18.74-19.74, decode b 19.74-20.74, decode a 20.74-21.24, update.
TEST_CASE("on a side stream compressors run under backward", "[schedule]") {
  const Scenario scenario = on_side(wait_free("topk"));
  CHECK(astray(scenario, 22.24) == kNobody);
  // What shows is after 18: encode 0.74 + 1, decode 1 + 0.5; of 9 ms the other 5.76 are hidden, and
  // so is all communication.
  CHECK(astray(scenario, &IterationResult::encode, 1.74) == kNobody);
  CHECK(astray(scenario, &IterationResult::decode, 1.5) == kNobody);
  CHECK(astray(scenario, &IterationResult::hidden_codec, 5.76) == kNobody);
  CHECK(astray(scenario, &IterationResult::exposed_communication, 0) == kNobody);
}

TEST_CASE("a side stream changes nothing where there is nothing to run beside", "[schedule]") {
  CHECK(astray(on_side(toy_with("topk", "merged", true)), 28.48) == kNobody);
  // Encode c 18-21, b -23, a -24, decode c -25.5, b -26.5, a -27, update
  CHECK(astray(on_side(toy_with("topk", "layer", false)), 28) == kNobody);
}

// Backward b at half its speed while c is encoded (12-15): 1.5 of its 4 ms, the rest until 17.5.
// Side: decode c 15.24-16.74, encode b 17.5-19.5: backward a, from 17.5, has 1 of its 2 ms done by
// then and is through at 20.5. Decode b (sent 19.5-19.66) 19.66-20.66, encode a 20.66-21.66, decode
// a (sent -21.74) 21.74-22.24, update.
TEST_CASE("encoding on the side lengthens backward while it lasts", "[schedule]") {
  Scenario scenario = on_side(wait_free("topk"));
  scenario.encode_slowdown = 1;
  CHECK(astray(scenario, 23.24) == kNobody);
  CHECK(astray(scenario, &IterationResult::backward, 6 + 5.5 + 3) == kNobody);
  // On the compute stream there is no backward meanwhile.
  scenario.encode_stream = EncodeStream::Compute;
  CHECK(astray(scenario, 28) == kNobody);
}

// Backward c 0-6, encode c 6-9, decode c 9.24-10.74; b, ready at 10, encoded 10.74-12.74, a
// 12.74-13.74; then decode b 13.74-14.74, for a is not there before 13.82; decode a 14.74-15.24.
// Forward a until 15.24 + 1/6 + 1, b + 1/3 + 2, c + 1/2 + 3: 22.24.
TEST_CASE("a side stream and a priority queue", "[schedule]") {
  CHECK(astray(on_side(wait_free("topk", Queue::Priority)), 22.24) == kNobody);
}

// ---- collectives on their way at the same time ----

// Software of 2 ms begins each. One at a time: c 12-26, b 26-36, a 36-42, update. Two: c begins to
// flow at 14, b at 18 with 8 kB of c still to go; both have 8 kB and share until 34; a follows, 2
// and 4 ms.
TEST_CASE("collectives of two network streams share the link", "[schedule]") {
  Scenario scenario = wait_free();
  scenario.cluster.per_collective_latency = 2ms;
  CHECK(astray(scenario, 43) == kNobody);
  scenario.network_streams = 2;
  CHECK(astray(scenario, 41) == kNobody);
}

// Two streams, no latency: c 12-16 alone, then half the link each for c and b, 8 kB both: until 32.
// a is ready at 18 and waits for a stream until then.
TEST_CASE("a collective that shares the link ends later, and the sum is the same", "[schedule]") {
  Scenario scenario = wait_free();
  scenario.network_streams = 2;
  CHECK(astray(scenario, 37) == kNobody);
  const Plan plan = make_plan(scenario);
  for (const Engine* engine : toy::engines_for(scenario)) {
    CAPTURE(engine->name);
    const RunRecord record = engine->run(plan, scenario.cluster);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      if (plan.steps[i].name == "ring-all-reduce bucket 0")
        CHECK(record.of_rank(1)[i].end.count() == Approx(32e-3).epsilon(1e-9));
      if (plan.steps[i].name == "ring-all-reduce bucket 2")
        CHECK(record.of_rank(1)[i].start.count() == Approx(32e-3).epsilon(1e-9));
    }
  }
}

// Priority with two streams: c from 6, b from 10: 8 kB each at half the link, both until 26, and a
// (ready at 12) 26-30. Forward a 30 + 1/6 + 1, b + 1/3 + 2, c + 1/2 + 3 = 37.
TEST_CASE("a priority queue fills two network streams", "[schedule]") {
  Scenario scenario = wait_free("dense", Queue::Priority);
  scenario.network_streams = 2;
  CHECK(astray(scenario, 37) == kNobody);
}

// Four ranks on four nodes, gTop-k up and down a tree beside a ring that is the same for all nodes:
// what a tree's edges share with a ring's must not depend on which node they are of.
TEST_CASE("a tree and a ring on two network streams share links at every node", "[schedule]") {
  Scenario scenario = on_nodes(toy::scenario(), 4, 1);
  Plan plan;
  plan.rank_speeds.assign(4, 1);
  plan.network_streams = 2;
  const Collective* tree = find_collective("gtopk");
  const Collective* ring = find_collective("ring-all-gather");
  plan.steps.push_back({StepKind::Collective, "tree", {}, 0s, tree, {Bytes{2000}}});
  plan.steps.push_back({StepKind::Collective, "ring", {}, 0s, ring, {Bytes{100'000}}});
  // The ring is on all links for 300 ms and more. Up: 1 -> 0 and 3 -> 2, then 2 -> 0; down: 0 -> 2,
  // then 0 -> 1 and 2 -> 3. Of these 1 -> 0, 3 -> 2, 2 -> 0, 0 -> 2 share their sender's link with
  // the ring: half of it, 2 kB in 4 ms. So does 0 -> 1, with the ring on both its links; four
  // levels make 16 ms.
  for (const char* name : {"simgrid-exact", "simgrid-fluid"}) {
    const Engine* engine = find_engine(name);
    if (!engine->built()) continue;
    CAPTURE(name);
    const RunRecord record = engine->run(plan, scenario.cluster);
    CHECK(record.of_rank(0)[0].end.count() == Approx(16e-3).epsilon(1e-9));
  }
}

// ---- what software costs ----

TEST_CASE("every message takes its software's latency", "[schedule]") {
  Scenario scenario = toy_with("dense", "merged", false);
  scenario.cluster.per_message_latency = 1ms;
  CHECK(astray(scenario, 45) == kNobody);  // two rounds
  // c 12-26, b 26-36, a 36-42, update
  scenario = wait_free();
  scenario.cluster.per_message_latency = 1ms;
  CHECK(astray(scenario, 43) == kNobody);
  scenario = toy_with("topk", "merged", false);
  scenario.cluster.per_message_latency = 1ms;
  CHECK(astray(scenario, 29.48) == kNobody);  // one round
}

TEST_CASE("every collective takes its software's latency", "[schedule]") {
  Scenario scenario = toy_with("dense", "merged", false);
  scenario.cluster.per_collective_latency = 1ms;
  CHECK(astray(scenario, 44) == kNobody);
  // c 12-25, b 25-34, a 34-39, update
  scenario = wait_free();
  scenario.cluster.per_collective_latency = 1ms;
  CHECK(astray(scenario, 40) == kNobody);
}

TEST_CASE("a negotiation goes before every collective, as part of it", "[schedule]") {
  // c 12-25, b 25-34, a 34-39, update
  Scenario scenario = wait_free();
  scenario.cluster.per_tensor_negotiation = 1ms;
  CHECK(astray(scenario, 40) == kNobody);
  CHECK(astray(scenario, &IterationResult::communication, 27) == kNobody);
}

TEST_CASE("an iteration begins with its overhead", "[schedule]") {
  for (const Queue queue : {Queue::Fifo, Queue::Priority}) {
    Scenario scenario = toy_with("dense", "merged", false, queue);
    scenario.cluster.per_iteration_overhead = 5ms;
    CHECK(astray(scenario, 48) == kNobody);
    CHECK(astray(scenario, &IterationResult::overhead, 5) == kNobody);
  }
}

// 4 MB/s: c 3, b 2, a 1 ms. Backward at half speed while a collective runs. c 12-15: of b's 4 ms
// 1.5 are done, the rest by 17.5. b 17.5-19.5: of a's 2 ms 1 is done, the rest by 20.5. a
// 20.5-21.5, update.
TEST_CASE("backward takes longer while a collective runs, and only then", "[schedule]") {
  Scenario scenario = wait_free();
  scenario.cluster.nic.bandwidth = BytesPerSecond{4e6};
  scenario.cluster.communication_slowdown = 1;
  CHECK(astray(scenario, 22.5) == kNobody);
  CHECK(astray(scenario, &IterationResult::backward, 6 + 5.5 + 3) == kNobody);
  // Neither encode nor decode is slowed: c encoded 12-15, sent (0.06) while b's backward begins,
  // which does 0.03 in that time and ends at 19.03; encoded -21.03, sent (0.04), a -23.05, encoded
  // -24.05, decoded -27.05, update.
  scenario = wait_free("topk");
  scenario.cluster.nic.bandwidth = BytesPerSecond{4e6};
  scenario.cluster.communication_slowdown = 1;
  CHECK(astray(scenario, 28.05) == kNobody);
}

// At 2 MB/s both slowdowns: backward b from 12 under the encoding of c (until 15) at 1/2; c sent
// 15-15.12 at 1/2 by the other.
// 1.5 + 0.06 done at 15.12; 2.44 left: 17.56. Side: decode c 15.12-16.62. Encode b 17.56-19.56 at
// 1/2: 1 of a's 2 done; sent 19.56-19.64 at 1/2: 0.04; 0.96 left: 20.6. Decode b 19.64-20.64,
// encode a 20.64-21.64, sent -21.68, decode a -22.18, update.
TEST_CASE("both slowdowns of backward, one after the other", "[schedule]") {
  Scenario scenario = on_side(wait_free("topk"));
  scenario.cluster.nic.bandwidth = BytesPerSecond{2e6};
  scenario.cluster.communication_slowdown = 1;
  scenario.encode_slowdown = 1;
  CHECK(astray(scenario, 23.18) == kNobody);
  CHECK(astray(scenario, &IterationResult::backward, 20.6 - 6) == kNobody);
}

// 2 MB/s: in the first of two rounds half the bytes are added up. c 6 + 3 + 6 = 15: 12-27; b 10:
// -37; a 5: -42; update. An all-gather adds nothing.
TEST_CASE("a rank adds up what it received in the reducing rounds", "[schedule]") {
  Scenario scenario = wait_free();
  scenario.cluster.reduction_bandwidth = BytesPerSecond{2e6};
  CHECK(astray(scenario, 43) == kNobody);
  scenario = toy_with("dense", "merged", false);
  scenario.cluster.reduction_bandwidth = BytesPerSecond{2e6};
  CHECK(astray(scenario, 49) == kNobody);  // 6 + 12 + (12 + 6 + 12) + 1
  scenario = toy_with("topk", "merged", false);
  scenario.cluster.reduction_bandwidth = BytesPerSecond{2e6};
  CHECK(astray(scenario, 28.48) == kNobody);
}

// ---- the network inside nodes ----

// GPUs' own links and the node's path at 1 MB/s. Two GPUs: both messages of a round pass the path,
// 2 x 12 kB, twice: 48 ms. Four: 4 x 6 kB in each of 6 rounds: 144 ms.
TEST_CASE("GPUs of a node share its PCIe path", "[schedule]") {
  Scenario scenario = on_nodes(toy_with("dense", "merged", false), 1, 2);
  scenario.cluster.intra.bandwidth = BytesPerSecond{1e6};
  CHECK(astray(scenario, 6 + 12 + 24 + 1) == kNobody);
  scenario.cluster.pcie_bandwidth = BytesPerSecond{1e6};
  CHECK(astray(scenario, 6 + 12 + 48 + 1) == kNobody);
  scenario.cluster.gpus_per_node = 4;
  CHECK(astray(scenario, 6 + 12 + 144 + 1) == kNobody);
}

// Two nodes of two: rank 0's message to rank 1 and rank 1's to rank 2 both go up node 0's path: 12
// kB a round, 6 rounds.
TEST_CASE("what leaves a node shares its PCIe path with what stays", "[schedule]") {
  Scenario scenario = on_nodes(toy_with("dense", "merged", false), 2, 2);
  CHECK(astray(scenario, 6 + 12 + 36 + 1) == kNobody);  // the NIC: 6 kB a round
  scenario.cluster.pcie_bandwidth = BytesPerSecond{1e6};
  CHECK(astray(scenario, 6 + 12 + 72 + 1) == kNobody);
  scenario.cluster.pcie_bandwidth = BytesPerSecond{4e6};  // 3 ms a round, the NIC takes 6
  CHECK(astray(scenario, 6 + 12 + 36 + 1) == kNobody);
}

// ---- sparse collectives ----

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

namespace {

/// 2 nodes of 2 GPUs that reach each other at 2 MB/s.
Scenario two_levels(const char* fusion, bool overlap) {
  Scenario scenario = on_nodes(toy_with("topk", fusion, overlap), 2, 2);
  scenario.cluster.intra.bandwidth = BytesPerSecond{2e6};
  return with_collective(std::move(scenario), "two-level-sparse");
}

}  // namespace

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
// Without: scatter c 18-21, b -23, a -24. Encode c 21-22.5, b 23-24, a -24.5; pairs c 24-24.24,
// b -24.4, a 24.5-24.58. Decode c 24.5-25.25, b -25.75, a -26; gather c 25.25-28.25, b -30.25,
// a -31.25; update.
TEST_CASE("two-level-sparse buckets keep their order in a queue", "[schedule]") {
  CHECK(astray(two_levels("layer", true), 28.75) == kNobody);
  CHECK(astray(two_levels("layer", false), 32.25) == kNobody);
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

namespace {

/// The toy with a compressor that selects a varying number.
Scenario varying(const char* fusion) {
  Scenario scenario = toy_with("topk", fusion, false);
  for (CostRow& row : scenario.costs.rows) row.compressor = "gaussian";
  scenario.compressor = find_compressor("gaussian");
  scenario.count_spread = 0.5;
  scenario.count_seed = 7;
  return scenario;
}

}  // namespace

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
    std::vector<double> shares;  // of rank 0 in each bucket
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

// ---- ranks that differ, and one alone ----

TEST_CASE("a node may compute at a speed of its own", "[schedule]") {
  // Rank 1: forward 12, backward 24, then 24 of communication and update 2.
  Scenario scenario = toy_with("dense", "merged", false);
  set_property(scenario.cluster, "compute_speed@1", "0.5");
  CHECK(astray(scenario, 62) == kNobody);
  // Its buckets are ready at 24, 32, 36: c 24-36, b -44, a -48, update.
  scenario.fusion = parse_fusion("layer");
  scenario.overlap = true;
  CHECK(astray(scenario, 50) == kNobody);
  // Its compressor is as slow: 12 + 24 + 12 + 0.48 + 6 + 2
  scenario = toy_with("topk", "merged", false);
  set_property(scenario.cluster, "compute_speed@1", "0.5");
  CHECK(astray(scenario, 56.48) == kNobody);
}

TEST_CASE("one rank alone computes and does nothing else", "[schedule]") {
  for (const char* compressor : {"dense", "topk"})
    for (const Queue queue : {Queue::Fifo, Queue::Priority})
      for (const char* fusion : {"merged", "layer", "16kB", "mg-wfbp", "omgs"})
        for (const bool overlap : {false, true})
          CHECK(astray(on_nodes(toy_with(compressor, fusion, overlap, queue), 1, 1), 19) ==
                kNobody);
}
