// The times of the toy's steps, on every engine, as computed by hand: fusion and overlap, the
// priority queue, a stream for compressors, ranks that differ. The toy's times are in
// toy_schedule.hpp.
#include <catch2/catch.hpp>

#include "sim/inputs/cluster_values.hpp"
#include "tests/sim/engine/toy_schedule.hpp"

using namespace gradcast;
using namespace gradcast::toy;
using namespace std::chrono_literals;

namespace {

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
  CHECK(astray(toy_with("topk", "layer", true), 28) == kNobody);
  // c+b encoded 16-21 and sent 21-21.4; a encoded 23-24, sent 24-24.08 under the decode of c+b
  CHECK(astray(toy_with("topk", "16kB", true), 28) == kNobody);
}

// Backward ends at 18. Encode c, b, a -24; all-gathers 0.24 + 0.16 + 0.08 -24.48; decode -27.48;
// update. However the gradients are cut, the sums are the same.
TEST_CASE("without overlap encodes, collectives and decodes add up", "[schedule]") {
  for (const char* fusion : {"merged", "16kB", "layer"})
    for (const EncodeStream stream : {EncodeStream::Compute, EncodeStream::Side})
      for (const int network_streams : {1, 3}) {
        Scenario scenario = toy_with("topk", fusion, false);
        scenario.encode_stream = stream;
        scenario.network_streams = network_streams;
        CAPTURE(fusion, to_text(stream), network_streams);
        CHECK(astray(scenario, 28.48) == kNobody);
        CHECK(astray(scenario, &IterationResult::encode, 6) == kNobody);
        CHECK(astray(scenario, &IterationResult::exposed_communication, 0.48) == kNobody);
        CHECK(astray(scenario, &IterationResult::decode, 3) == kNobody);
        CHECK(astray(scenario, &IterationResult::hidden_codec, 0) == kNobody);
        CHECK(astray(scenario, &IterationResult::wait, 0) == kNobody);
      }
  // Dense: 12 + 8 + 4, one after another
  Scenario dense = toy_with("dense", "layer", false);
  dense.network_streams = 3;
  CHECK(astray(dense, 43) == kNobody);
}

// Encode c 18-21, b -23, a -24; each is sent meanwhile, a 24-24.08. Decode c 24-25.5, b -26.5,
// a -27, update.
TEST_CASE("a pipeline hides all-gathers under encodes and decodes", "[schedule]") {
  Scenario scenario = toy_with("topk", "layer", false);
  scenario.pipeline = true;
  CHECK(astray(scenario, 28) == kNobody);
  CHECK(astray(on_side(scenario), 28) == kNobody);
}

// Backward 0-12, encode -18, then a 18-18.08, b -18.24, c -18.48. A bucket's decode waits for its
// own collective: a 18.08-18.58 + 1/6 + 1, b 1 + 1/3 + 2 = 23.08, c 1.5 + 1/2 + 3.
TEST_CASE("a priority queue without overlap hides what the next forward hides", "[schedule]") {
  const Scenario scenario = toy_with("topk", "layer", false, Queue::Priority);
  CHECK(astray(scenario, 28.08) == kNobody);
  CHECK(astray(scenario, &IterationResult::exposed_communication, 0.08) == kNobody);
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
  // Without overlap: encoded 18-24, c+b 24-26.4, a -28.48; decoded -31.48, update
  scenario.overlap = false;
  CHECK(astray(scenario, 32.48) == kNobody);
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
  // The parts after 18 show: encode 0.74 + 1, decode 1 + 0.5. The other 5.76 of 9 ms are hidden,
  // and so is all communication.
  CHECK(astray(scenario, &IterationResult::encode, 1.74) == kNobody);
  CHECK(astray(scenario, &IterationResult::decode, 1.5) == kNobody);
  CHECK(astray(scenario, &IterationResult::hidden_codec, 5.76) == kNobody);
  CHECK(astray(scenario, &IterationResult::exposed_communication, 0) == kNobody);
}

TEST_CASE("a side stream changes nothing where there is nothing to run beside", "[schedule]") {
  CHECK(astray(on_side(toy_with("topk", "merged", true)), 28.48) == kNobody);
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
      for (const char* fusion : {"merged", "layer", "16kB", "mg-wfbp", "omgs", "cycle:5ms,16kB"})
        for (const bool overlap : {false, true})
          CHECK(astray(on_nodes(toy_with(compressor, fusion, overlap, queue), 1, 1), 19) ==
                kNobody);
}
