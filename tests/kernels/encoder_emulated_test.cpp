// The GPU's kernels, run thread by thread on the CPU. Without a GPU, this compares their answers
// with the reference.
#include "tests/kernels/batch_cases.hpp"
#include "tests/kernels/call_cases.hpp"
#include "tests/kernels/decoder_cases.hpp"
#include "tests/kernels/encoder_cases.hpp"
#include "tests/kernels/merge_cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

Device emulated(unsigned seed) {
  return {on_emulator::make_queue(seed), on_emulator::make_encoder, on_emulator::make_decoder};
}

}  // namespace

TEST_CASE("emulated kernels answer as the reference does", "[emulated]") {
  Device device = emulated(0);
  check_every_case(device, kQuickSizes, 29);
}

TEST_CASE("emulated kernels answer as the reference does, whatever road they are forced onto",
          "[emulated][slow]") {
  Device device = emulated(1);
  check_every_road(device, 307);
}

TEST_CASE("emulated kernels take pointers off their alignment", "[emulated]") {
  Device device = emulated(2);
  check_unaligned(device);
}

TEST_CASE("emulated kernels send the first of many equals", "[emulated]") {
  Device device = emulated(2);
  check_equals(device);
}

TEST_CASE("emulated: tiles have room for their candidates", "[emulated][slow]") {
  Device device = emulated(0);
  check_room(device);
}

TEST_CASE("emulated kernels leave in the residual what the output does not hold", "[emulated]") {
  Device device = emulated(3);
  check_capacity(device);
}

TEST_CASE("emulated: tensors of one set of launches are encoded as each alone", "[emulated]") {
  Device device = emulated(4);
  check_batches(device);
}

TEST_CASE("emulated: many tensors to a block, and blocks without any", "[emulated][slow]") {
  Device device = emulated(4);
  check_shares(device);
}

TEST_CASE("emulated: a threshold that no longer fits is found anew", "[emulated]") {
  Device device = emulated(4);
  check_new_guesses(device);
}

TEST_CASE("emulated: lists of tensors drawn at random are encoded as each alone", "[emulated]") {
  Device device = emulated(9);
  check_random_batches(device, 1, 10, 8);
}

TEST_CASE("emulated: many lists of tensors drawn at random are encoded as each alone",
          "[emulated][slow]") {
  for (unsigned schedule = 0; schedule < 4; ++schedule) {
    Device device = emulated(schedule);
    check_random_batches(device, 100 * (schedule + 1), 6, 30);
  }
}

TEST_CASE("emulated: an encoder serves iteration after iteration", "[emulated]") {
  Device device = emulated(5);
  check_iterations(device, false);
}

TEST_CASE("emulated: sparse sets add up in the order of the workers", "[emulated]") {
  Device device = emulated(6);
  check_decode(device);
}

TEST_CASE("emulated: ordinary gradients are answered from their candidates", "[emulated]") {
  Device device = emulated(0);
  check_fast_road(device);
}

// Any order in which blocks and threads take turns is one that a GPU might choose.
TEST_CASE("emulated: the answer does not depend on who runs first", "[emulated]") {
  const Vectors vectors = make_vectors(Input::layermix, 40'000, 1);
  for (const Method& method : all_methods()) {
    const Selection selection = selection_of(method, vectors, 400, 5);
    const Answer expected = reference_answer(method, vectors, selection);
    for (unsigned seed = 10; seed < 14; ++seed) {
      INFO(name_of(method) << ", order drawn from " << seed);
      Device device = emulated(seed);
      require_same(expected, device_answer(device, method, vectors, selection));
    }
  }
}

TEST_CASE("emulated kernels answer as the reference does, on every case", "[emulated][slow]") {
  Device device = emulated(0);
  check_every_case(device, kQuickSizes, 1);
  check_every_road(device, 101);
}

TEST_CASE("emulated kernels answer as the reference does, on large tensors", "[emulated][slow]") {
  Device device = emulated(7);
  check_every_case(device, kSlowSizes, 199);
}

TEST_CASE("emulated kernels answer as the reference does, on a whole model", "[emulated][slow]") {
  Device device = emulated(8);
  check_size(device, 25'557'032);  // ResNet-50
}

// Minutes and gigabytes: by hand.
TEST_CASE("emulated kernels answer as the reference does, on 2^28 + 1 elements",
          "[emulated][slow][large]") {
  Device device = emulated(0);
  check_size(device, (std::int64_t{1} << 28) + 1);
}

TEST_CASE("emulated kernels merge two sets into the k largest of their sum", "[emulated]") {
  Device device = emulated(5);
  device.make_merger = on_emulator::make_merger;
  check_merge(device);
}

TEST_CASE("emulated kernels correct and mask momentum", "[emulated]") {
  Device device = emulated(5);
  device.make_momentum = on_emulator::make_momentum;
  for (const ValueType type : kGradientTypes) check_momentum(device, type);
}
