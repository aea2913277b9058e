// Fusion in cycles, as Horovod does it, on the toy. By hand, on every engine; the times are in
// toy_schedule.hpp. Backward begins at 6 ms, and so do cycles.
#include <catch2/catch.hpp>
#include <vector>

#include "sim/inputs/cluster_values.hpp"
#include "tests/sim/engine/toy_schedule.hpp"

using namespace gradcast;
using namespace gradcast::toy;
using namespace std::chrono_literals;

namespace {

std::vector<std::size_t> tensors_of_buckets(const Scenario& scenario) {
  std::vector<std::size_t> tensors;
  for (const PlannedBucket& bucket : make_plan(scenario).buckets) tensors.push_back(bucket.tensors);
  return tensors;
}

using Numbers = std::vector<std::size_t>;

}  // namespace

// Gradients are ready 6 (c), 10 (b) and 12 ms (a) after backward began. Cycles of 5 ms: c and b go
// at 10, which is 16 on the clock, 16-36; a is taken at 15 (21) and sent 36-40; update.
// Of 7 ms: c at 7 (13), 13-25; b and a at 14 (20), 25-37; update.
TEST_CASE("a cycle sends what is ready when it ends", "[schedule]") {
  const Scenario five = toy_with("dense", "cycle:5ms,64MiB", true);
  CHECK(tensors_of_buckets(five) == Numbers{2, 1});
  CHECK(astray(five, 41) == kNobody);
  const Scenario seven = toy_with("dense", "cycle:7ms,64MiB", true);
  CHECK(tensors_of_buckets(seven) == Numbers{1, 2});
  CHECK(astray(seven, 38) == kNobody);
}

// Gradients are ready 7.5 (c), 13 (b) and 16.5 ms (a) after backward began. Cycles of 7 ms: c and b
// go at 14 (20), 20-40; a at 21 (27), 40-44; update.
TEST_CASE("a cycle takes a gradient once the framework has handled it", "[schedule]") {
  Scenario scenario = toy_with("dense", "cycle:7ms,64MiB", true);
  scenario.cluster.per_tensor_overhead = 1500us;
  CHECK(tensors_of_buckets(scenario) == Numbers{2, 1});
  CHECK(astray(scenario, 45) == kNobody);
}

// The first cycle ends at 26 on the clock; nothing happens from 18 on. All: 26-50, update. c may
// have b beside it in 20 kB, but not in 16 kB; in 10 kB not even c fits, and goes alone.
TEST_CASE("the network is idle until a long cycle ends", "[schedule]") {
  for (const auto& [size, buckets] : {std::pair{"64MiB", Numbers{3}},
                                      {"20kB", Numbers{2, 1}},
                                      {"16kB", Numbers{1, 2}},
                                      {"10kB", Numbers{1, 1, 1}}}) {
    const Scenario scenario = toy_with("dense", (std::string("cycle:20ms,") + size).c_str(), true);
    CAPTURE(size);
    CHECK(tensors_of_buckets(scenario) == buckets);
    CHECK(astray(scenario, 51) == kNobody);
    CHECK(astray(scenario, &IterationResult::wait, 8) == kNobody);
    CHECK(astray(scenario, &IterationResult::exposed_communication, 24) == kNobody);
  }
}

// Backward ends 12 ms after it began: the cycle of 15 (21 on the clock) takes all. 21-45, update.
// Encoding is done 18 ms after it began, at 24: taken at 20 (26), sent -26.48, decoded -29.48,
// update.
TEST_CASE("without overlap one cycle takes all buckets", "[schedule]") {
  for (const char* fusion : {"cycle:5ms,64MiB", "cycle:5ms,16kB"}) {
    CAPTURE(fusion);
    const Scenario dense = toy_with("dense", fusion, false);
    CHECK(astray(dense, 46) == kNobody);
    CHECK(astray(dense, &IterationResult::wait, 3) == kNobody);
    const Scenario sparse = toy_with("topk", fusion, false);
    CHECK(astray(sparse, 30.48) == kNobody);
    CHECK(astray(sparse, &IterationResult::wait, 2) == kNobody);
  }
  CHECK(tensors_of_buckets(toy_with("dense", "cycle:5ms,64MiB", false)) == Numbers{3});
  CHECK(tensors_of_buckets(toy_with("dense", "cycle:5ms,16kB", false)) == Numbers{1, 2});
}

// Encode c+b 16-21, which is when the cycle of 15 ends: sent -21.4. Backward a 21-23, encode -24,
// taken at 20 (26), sent -26.08. Decode c+b 24-26.5, a -27, update.
TEST_CASE("a sparse bucket is encoded and then waits for the end of a cycle", "[schedule]") {
  const Scenario scenario = toy_with("topk", "cycle:5ms,64MiB", true);
  CHECK(tensors_of_buckets(scenario) == Numbers{2, 1});
  CHECK(astray(scenario, 28) == kNobody);
}

// 4 MB/s, and backward three times as long while a collective runs: c+b 16-21; of a's 2 ms 5/3 are
// done by then, the rest by 21.33, too late for the cycle that ends at 21. The next takes it:
// 26-27, update. Nothing happens from 21.33 to 26.
TEST_CASE("a gradient that is late waits for another cycle", "[schedule]") {
  Scenario scenario = toy_with("dense", "cycle:5ms,64MiB", true);
  scenario.cluster.nic.bandwidth = BytesPerSecond{4e6};
  scenario.cluster.communication_slowdown = 2;
  CHECK(astray(scenario, 28) == kNobody);
  CHECK(astray(scenario, &IterationResult::wait, 26 - (21 + 1. / 3)) == kNobody);
}

// Rank 1 begins backward at 12, and its gradients are ready 12, 20 and 24 ms later: three buckets,
// taken at 15 (27), 20 (32) and 25 (37). c 27-39, b -47, a -51, update 2.
TEST_CASE("cycles take what the slowest rank has ready", "[schedule]") {
  Scenario scenario = toy_with("dense", "cycle:5ms,64MiB", true);
  set_property(scenario.cluster, "compute_speed@1", "0.5");
  CHECK(tensors_of_buckets(scenario) == Numbers{1, 1, 1});
  CHECK(astray(scenario, 53) == kNobody);
}

// The iteration begins with backward: c+b taken at 10, -30; a -34. Forward a 34 + 1/6 + 1, then c+b
// 5/6 + 5.
TEST_CASE("cycles and a priority queue", "[schedule]") {
  CHECK(astray(toy_with("dense", "cycle:5ms,64MiB", true, Queue::Priority), 41) == kNobody);
}

// Two micro-steps of 18 ms, and the second one's backward begins at 24: c+b 34-54, a -58, update.
TEST_CASE("cycles begin with the backward whose gradients are sent", "[schedule]") {
  Scenario scenario = toy_with("dense", "cycle:5ms,64MiB", true);
  scenario.accumulation = 2;
  CHECK(astray(scenario, 59) == kNobody);
}

// Scatter, encode, pairs and gather of all: 6 + 3 + 0.48 + 1.5 + 6, and the update. Only what comes
// first waits for the cycle, until 21.
TEST_CASE("a bucket of several collectives waits for one cycle", "[schedule]") {
  Scenario scenario = on_nodes(toy_with("topk", "cycle:5ms,64MiB", false), 2, 2);
  scenario.cluster.intra.bandwidth = BytesPerSecond{2e6};
  CHECK(astray(with_collective(scenario, "two-level-sparse"), 21 + 16.98 + 1) == kNobody);
}

TEST_CASE("a rank alone waits for no cycle", "[schedule]") {
  CHECK(astray(on_nodes(toy_with("dense", "cycle:50ms,64MiB", true), 1, 1), 19) == kNobody);
}
