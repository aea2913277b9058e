// Sharded iterations of the toy, by hand. In ms, two ranks: gathering the parameters of a takes 2
// (half of its 4000 bytes), of b 4, of c 6; scattering their gradients as much.
#include <catch2/catch.hpp>

#include "tests/sim/engine/toy_schedule.hpp"

using namespace gradcast;
using namespace gradcast::toy;

namespace {

Scenario sharded(const char* kind, bool overlap) {
  Scenario scenario = toy_with("dense", "layer", overlap);
  scenario.sharding = parse_sharding(kind);
  for (GradientTensor& tensor : scenario.model.change().tensors) tensor.unit = tensor.layer;
  return scenario;
}

Scenario with_prefetch(Scenario scenario, int units) {
  scenario.sharding.prefetch = units;
  return scenario;
}

Scenario with_copies(Scenario scenario) {
  scenario.cluster.shard_copy_passes = 2;
  scenario.gpu_memory = BytesPerSecond{8e6};
  return scenario;
}

}  // namespace

TEST_CASE("FSDP without overlap is the sum of all that it does") {
  // forward: gather 2, a 1, gather 4, b 2, gather 6, c 3; backward: gather, compute and scatter of
  // c 6 + 6 + 6, of b 4 + 4 + 4, of a 2 + 2 + 2; half of the update 0.5.
  CHECK(astray(sharded("fsdp", false), 18 + 36 + 0.5) == kNobody);
}

TEST_CASE("FSDP handles every gradient that it scatters") {
  Scenario scenario = sharded("fsdp", false);
  scenario.cluster.per_tensor_overhead = Seconds{1e-3};
  CHECK(astray(scenario, 18 + 36 + 3 + 0.5) == kNobody);
  // The first of two micro-steps scatters nothing: 18 + 36 - 12, then 54 and 3.
  scenario.accumulation = 2;
  scenario.synchronise = Synchronise::Last;
  CHECK(astray(scenario, 42 + 54 + 3 + 0.5) == kNobody);
}

TEST_CASE("FSDP that keeps parameters after forward gathers them once") {
  Scenario scenario = sharded("fsdp", false);
  scenario.sharding.reshard_after_forward = false;
  CHECK(astray(scenario, 18 + 36 - 12 + 0.5) == kNobody);
}

TEST_CASE("FSDP gathers the next unit while one is computed") {
  // Gathers: a 0-2, b 2-6, c 6-12; forward: a 2-3, b 6-8, c 12-15. Backward: gather c 15-21 and
  // b 21-25, c 21-27, scatter c 27-33, gather a 33-35, b 27-31, scatter b 35-39, a 35-37, scatter a
  // 39-41; update 41-41.5.
  CHECK(astray(sharded("fsdp", true), 41.5) == kNobody);
}

TEST_CASE("FSDP copies parameters out of the gather's buffer, and gradients into the scatter's") {
  // A read and a write at 8 MB/s: a takes 1, b 2, c 3 ms. Forward copies all of them out, backward
  // out and in: 18 beside the 54.5.
  CHECK(astray(with_copies(sharded("fsdp", false)), 54.5 + 18) == kNobody);
  // Kept after forward, they are copied out once: 6 less, and 12 of gathers.
  Scenario kept = with_copies(sharded("fsdp", false));
  kept.sharding.reshard_after_forward = false;
  CHECK(astray(kept, 54.5 + 18 - 12 - 6) == kNobody);
  // bf16 is added up in fp32: parameters are half of the bytes, out 3 and 3; gradients are read in
  // 2 bytes and written in 4, 4.5 in. Gathers take half of 24, scatters their 12.
  Scenario mixed = with_copies(sharded("fsdp", false));
  set_types(mixed.model.change(), {.parameter = NumberType::Bf16, .sum = NumberType::Fp32});
  CHECK(astray(mixed, 54.5 - 12 + 3 + 3 + 4.5) == kNobody);
  // A trace of FSDP at work has these copies.
  Scenario traced = with_copies(sharded("fsdp", false));
  traced.framework_in_compute = true;
  CHECK(astray(traced, 54.5) == kNobody);
}

TEST_CASE("FSDP's copies hold up what is computed, and a gather goes on meanwhile") {
  // Gathers a 0-2, b 2-6, c 6-12. Forward with its copies: a 2-4, b 6-10, c 12-18. Backward gathers
  // c 18-24 and b 24-28; c with both copies 24-36, scatter 36-42; a is gathered 42-44; b 36-44,
  // scatter 44-48; a 44-48, scatter 48-50; update 0.5.
  CHECK(astray(with_copies(sharded("fsdp", true)), 50.5) == kNobody);
}

TEST_CASE("copies take no time where nothing is copied, or no memory is known") {
  Scenario unknown = with_copies(sharded("fsdp", false));
  unknown.gpu_memory = {};
  CHECK(astray(unknown, 54.5) == kNobody);
  CHECK(astray(with_copies(sharded("zero2", false)), 42.5) == kNobody);
}

TEST_CASE("without prefetch a gather waits for the unit before, and for its scatter") {
  // As without overlap: scatters are issued before the next gather.
  CHECK(astray(with_prefetch(sharded("fsdp", true), 0), 54.5) == kNobody);
}

TEST_CASE("ZeRO-2 scatters gradients as backward goes on and gathers parameters at the end") {
  // Forward 0-6; backward c 6-12, b 12-16, a 16-18; scatters c 12-18, b 18-22, a 22-24; half of the
  // update to 24.5; gathers 6 + 4 + 2.
  CHECK(astray(sharded("zero2", true), 36.5) == kNobody);
  CHECK(astray(sharded("zero1", true), 36.5) == kNobody);
  // One after another: 6 + 12, scatters 12, update 0.5, gathers 12.
  CHECK(astray(sharded("zero2", false), 42.5) == kNobody);
}

TEST_CASE("ZeRO whose gradients are all-reduced sends twice as much of them") {
  // A ring of two all-reduces 4000 bytes in 4 ms: 24 for all, where scatters took 12. Then half of
  // the update and gathers, as before: 6 + 12 + 24 + 0.5 + 12.
  Scenario scenario = sharded("zero1", false);
  scenario.shards_all_reduced = true;
  CHECK(astray(scenario, 54.5) == kNobody);
  // FSDP always scatters.
  Scenario fsdp = sharded("fsdp", false);
  fsdp.shards_all_reduced = true;
  CHECK(astray(fsdp, 54.5) == kNobody);
}

TEST_CASE("ZeRO-1 whose parameters have owners broadcasts each of them whole") {
  // All-reduces of 24 as above. c belongs to the first rank, b and a to the second, each 3000
  // elements: half of the update. Broadcasts c 12, b 8, a 4: 6 + 12 + 24 + 0.5 + 24.
  Scenario scenario = sharded("zero1", false);
  scenario.owners_broadcast = true;
  CHECK(astray(scenario, 66.5) == kNobody);
  // Forward 6, backward 12 with all-reduces c 12-24, b 24-32, a 32-36; update to 36.5.
  scenario.overlap = true;
  CHECK(astray(scenario, 60.5) == kNobody);
  // Gloo's tree of two ranks is one message.
  scenario.collective = nullptr;
  scenario.library = find_library_rule("gloo");
  CHECK(astray(scenario, 60.5) == kNobody);
  // ZeRO-2 has no owners.
  Scenario zero2 = sharded("zero2", false);
  zero2.owners_broadcast = true;
  CHECK(astray(zero2, 42.5) == kNobody);
}

TEST_CASE("hybrid sharding scatters inside nodes and adds up across them") {
  // Two nodes of two GPUs. Inside at 1 GB/s: a 2 us, b 4 us, c 6 us, each three times: 36 us.
  // Across: each GPU adds up its half, S/2 bytes sent, and two of them share a NIC: a 4, b 8, c 12
  // ms. Computing 18, half of the update 0.5.
  CHECK(astray(on_nodes(sharded("hsdp", false), 2, 2), 0.036 + 24 + 18 + 0.5) == kNobody);
}

TEST_CASE("replicas exchange while shards gather") {
  // Nothing of 6 us or less matters; across: c from 12 (after forward 6 and backward 6) to 24, b to
  // 32, a to 36; update 0.5.
  CHECK(astray(on_nodes(sharded("hsdp", true), 2, 2), 36.5, 0.05) == kNobody);
}

TEST_CASE("Top-k compresses what replicas exchange of their shards") {
  Scenario scenario = on_nodes(sharded("hsdp", false), 2, 2);
  const Scenario topk = toy::scenario("topk");
  scenario.compressor = topk.compressor;
  scenario.collective = topk.collective;
  scenario.costs = topk.costs;
  scenario.density = topk.density;
  // Bucket c has half of the elements: encode 1.5, 15 pairs of 8 bytes from each of two GPUs
  // through one NIC 0.24, decode 0.75. Bucket b takes 1 + 0.16 + 0.5, and a 0.5 + 0.08 + 0.25.
  // Beside them 0.036, 18 and 0.5.
  CHECK(astray(scenario, 0.036 + 18 + 0.5 + 2.49 + 1.66 + 0.83) == kNobody);
}

TEST_CASE("gradients of every micro-step are scattered where they are sharded") {
  Scenario scenario = sharded("fsdp", false);
  scenario.accumulation = 2;  // the whole of the toy, twice
  CHECK(astray(scenario, 2 * (18 + 36) + 0.5) == kNobody);
  scenario.synchronise = Synchronise::Last;  // all but the first scatters
  CHECK(astray(scenario, 2 * (18 + 36) - 12 + 0.5) == kNobody);
}

TEST_CASE("without sharding every micro-step may send too") {
  Scenario scenario = toy_with("dense", "layer", false);
  scenario.accumulation = 2;
  CHECK(astray(scenario, 2 * 18 + 24 + 1) == kNobody);
  scenario.synchronise = Synchronise::Every;
  CHECK(astray(scenario, 2 * (18 + 24) + 1) == kNobody);
}

TEST_CASE("a frozen tensor is computed and not sent") {
  Scenario scenario = toy_with("dense", "layer", false);
  scenario.model.change().tensors[2].frozen = true;  // c, 12 ms of sending
  CHECK(astray(scenario, 18 + 12 + 1) == kNobody);
  scenario.overlap = true;  // forward 6, backward of c and b 10, sends b 16-24, a 24-28, update 1
  CHECK(astray(scenario, 29) == kNobody);
  // And a, which backward computes last: sends b 16-24.
  scenario.model.change().tensors[0].frozen = true;
  CHECK(astray(scenario, 25) == kNobody);
}

TEST_CASE("bf16 gradients take half the time on the wire") {
  Scenario scenario = toy_with("dense", "merged", false);
  set_types(scenario.model.change(), {.gradient = NumberType::Bf16});
  CHECK(astray(scenario, 18 + 12 + 1) == kNobody);
  set_types(scenario.model.change(), {.gradient = NumberType::Bf16, .sum = NumberType::Fp32});
  CHECK(astray(scenario, 18 + 24 + 1) == kNobody);
}
