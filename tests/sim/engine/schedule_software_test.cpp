// Software costs of a cluster on the toy: latencies, negotiation, overhead, slowed backward, adding
// up. By hand, on every engine; the times are in toy_schedule.hpp.
#include <catch2/catch.hpp>

#include "tests/sim/engine/toy_schedule.hpp"

using namespace gradcast;
using namespace gradcast::toy;
using namespace std::chrono_literals;

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

// Backward takes 1 ms more for each of a, b and c.
TEST_CASE("the framework handles every gradient tensor in backward", "[schedule]") {
  for (const Queue queue : {Queue::Fifo, Queue::Priority}) {
    Scenario scenario = toy_with("dense", "merged", false, queue);
    scenario.cluster.per_tensor_overhead = 1ms;
    CHECK(astray(scenario, 46) == kNobody);
    CHECK(astray(scenario, &IterationResult::backward, 12 + 3) == kNobody);
  }
  // Backward c 6-13, b -18, a -21. c 13-25, b 25-33, a 33-37, update.
  Scenario scenario = wait_free();
  scenario.cluster.per_tensor_overhead = 1ms;
  CHECK(astray(scenario, 38) == kNobody);
  scenario = on_nodes(scenario, 1, 1);  // DDP of one rank copies and divides too
  CHECK(astray(scenario, 6 + 15 + 1) == kNobody);
}

// A rank alone takes 19 ms: forward 6, backward 12, update 1. Through a memory of 1 MB/s four
// passes of the tensors' bytes, S together, take 4 S us, and two passes 2 S us, where kernels of 1
// us are nothing.
TEST_CASE("copies of gradients take their kernels or their bytes, whichever is longer",
          "[schedule]") {
  Scenario scenario = on_nodes(toy_with("dense", "ddp", false), 1, 1);
  double bytes = 0;
  for (const GradientTensor& tensor : scenario.model->tensors)
    bytes += static_cast<double>(tensor.sum_bytes().count);
  scenario.gpu_memory = BytesPerSecond{1e6};
  CHECK(astray(scenario, 19) == kNobody);  // no software copies
  scenario.cluster.per_tensor_overhead = Seconds{1e-6};
  CHECK(astray(scenario, 19 + 4e-3 * bytes) == kNobody);
  scenario.gradient_copies = GradientCopies::Batched;
  CHECK(astray(scenario, 19 + 4e-3 * bytes) == kNobody);
  scenario.gradient_copies = GradientCopies::View;
  CHECK(astray(scenario, 19 + 2e-3 * bytes) == kNobody);
  scenario.fusion = parse_fusion("25MiB");  // buffers that the gradients lie in
  CHECK(astray(scenario, 19 + 1.5e-3) == kNobody);
}

// A view needs one kernel of two for each of three tensors; two kernels serve a bucket.
TEST_CASE("gradients that stay in their bucket, or go there together, are handled in less time",
          "[schedule]") {
  Scenario scenario = toy_with("dense", "merged", false);
  scenario.cluster.per_tensor_overhead = 1ms;
  scenario.gradient_copies = GradientCopies::View;
  CHECK(astray(scenario, 43 + 1.5) == kNobody);
  scenario.gradient_copies = GradientCopies::Batched;
  CHECK(astray(scenario, 43 + 1) == kNobody);
  CHECK(astray(scenario, &IterationResult::backward, 12 + 1) == kNobody);
  // Backward c 6-12, copies -13, b -17, copies -18, a -20, copies -21; c 13-25, b -33, a -37.
  scenario = wait_free();
  scenario.cluster.per_tensor_overhead = 1ms;
  scenario.gradient_copies = GradientCopies::Batched;
  CHECK(astray(scenario, 38) == kNobody);
  scenario.framework_in_compute = true;
  CHECK(astray(scenario, 37) == kNobody);
}

// 4000 bytes from one of two ranks to the other take 4 ms; then an iteration of 43 ms begins.
TEST_CASE("forward waits for the broadcast of buffers", "[schedule]") {
  Scenario scenario = toy_with("dense", "merged", false);
  scenario.model.change().tensors[1].buffer_bytes = 4000;
  scenario.broadcast_buffers = true;
  CHECK(astray(scenario, 4 + 43) == kNobody);
  CHECK(astray(scenario, &IterationResult::exposed_communication, 4 + 24) == kNobody);
  scenario.cluster.per_iteration_overhead = 5ms;
  CHECK(astray(scenario, 5 + 4 + 43) == kNobody);
  // The next iteration's forward of a, b and c follows the update of the merged bucket.
  scenario = toy_with("dense", "merged", false, Queue::Priority);
  scenario.model.change().tensors[1].buffer_bytes = 4000;
  scenario.broadcast_buffers = true;
  CHECK(astray(scenario, 4 + 43) == kNobody);
}

// Two micro-steps of 18 ms, all-reduces of 24 ms after the second or after each, update.
TEST_CASE("a micro-step that exchanges nothing does not handle gradients", "[schedule]") {
  Scenario scenario = toy_with("dense", "merged", false);
  scenario.cluster.per_tensor_overhead = 1ms;
  scenario.accumulation = 2;
  CHECK(astray(scenario, 18 + 18 + 3 + 24 + 1) == kNobody);
  scenario.synchronise = Synchronise::Every;
  CHECK(astray(scenario, 2 * (18 + 3 + 24) + 1) == kNobody);
}

TEST_CASE("a trace that was taken under the framework has its work on gradients", "[schedule]") {
  Scenario scenario = toy_with("dense", "merged", false);
  scenario.cluster.per_tensor_overhead = 1ms;
  scenario.framework_in_compute = true;
  CHECK(astray(scenario, 43) == kNobody);
}

TEST_CASE("a frozen tensor has no gradient to handle", "[schedule]") {
  Scenario scenario = toy_with("dense", "merged", false);
  scenario.cluster.per_tensor_overhead = 1ms;
  scenario.model.change().tensors[1].frozen = true;  // 8 ms of the all-reduce
  CHECK(astray(scenario, 18 + 2 + 16 + 1) == kNobody);
}

// With 2 ranks the slower one is expected 0.5895 deviations above the mean, by Blom's formula. All
// of a rank's own work takes so much longer: 6 + 12 + 1 ms. The network stays as it is.
TEST_CASE("all ranks wait for the slowest", "[schedule]") {
  Scenario scenario = toy_with("dense", "merged", false);
  scenario.cluster.rank_spread = 0.1;
  const double slower = 1 + 0.1 * 0.5894557978497785;
  CHECK(astray(scenario, 19 * slower + 24) == kNobody);
  CHECK(astray(scenario, &IterationResult::backward, 12 * slower) == kNobody);
  CHECK(astray(on_nodes(scenario, 1, 1), 19) == kNobody);  // nobody to wait for
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

// Backward c 6-12, b 12-16, a 16-18; all-reduces of c 12 ms, b 8, a 4; update 1.
TEST_CASE("no collective begins before its share of backward is over", "[schedule]") {
  Scenario scenario = wait_free();
  CHECK(astray(scenario, 12 + 24 + 1) == kNobody);
  scenario.cluster.late_start = 0.5;  // c is half of backward
  CHECK(astray(scenario, 12 + 24 + 1) == kNobody);
  scenario.cluster.late_start = 0.51;  // b must be over, too
  CHECK(astray(scenario, 16 + 24 + 1) == kNobody);
  scenario.cluster.late_start = 1;  // as without overlap
  CHECK(astray(scenario, 18 + 24 + 1) == kNobody);
  // Two buckets: c and b, 12 + 8 ms, are full at 16.
  scenario.fusion = parse_fusion("20000B");
  scenario.cluster.late_start = 0.9;
  CHECK(astray(scenario, 18 + 24 + 1) == kNobody);
  scenario.overlap = false;
  scenario.cluster.late_start = 0.1;  // where nothing overlaps, all begin at the end
  CHECK(astray(scenario, 18 + 24 + 1) == kNobody);
}

TEST_CASE("computing slows collectives down", "[engine]") {
  Scenario scenario = wait_free();
  scenario.cluster.computing_slowdown = 1;
  // Backward c 6-12, b 12-16, a 16-18. c goes out from 12, at half speed until 18: 3 of 12 ms are
  // done, and 9 follow, to 27; b 27-35, a 35-39, update 39-40. Without the slowdown: 37.
  CHECK(astray(scenario, 40) == kNobody);
}

TEST_CASE("a collective that ends while its GPU computes ends later by as much", "[engine]") {
  Scenario scenario = wait_free();
  scenario.cluster.computing_slowdown = 0.5;
  scenario.cluster.nic.bandwidth = BytesPerSecond{12e6};
  // All-reduces of c 1 ms, b 2/3, a 1/3. c from 12 takes 1.5, under backward of b; b from 16 takes
  // 1, under a; a from 18, when nothing is computed, 1/3; update 1.
  CHECK(astray(scenario, 18 + 1.0 / 3 + 1) == kNobody);
}
