// The kernels on the GPU at hand, against the reference.
#include "tests/kernels/batch_cases.hpp"
#include "tests/kernels/call_cases.hpp"
#include "tests/kernels/decoder_cases.hpp"
#include "tests/kernels/encoder_cases.hpp"
#include "tests/kernels/merge_cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

Device gpu() { return {on_cuda::make_queue(0), on_cuda::make_encoder, on_cuda::make_decoder}; }

}  // namespace

TEST_CASE("the GPU answers as the reference does", "[gpu]") {
  Device device = gpu();
  check_every_case(device, kQuickSizes, 3);
}

TEST_CASE("the GPU answers as the reference does, on large tensors", "[gpu]") {
  Device device = gpu();
  check_every_case(device, kSlowSizes, 7);
}

TEST_CASE("the GPU answers as the reference does, whatever road it is forced onto", "[gpu]") {
  Device device = gpu();
  check_every_road(device, 31);
}

// Few enough for compute-sanitizer, which runs those of this tag.
TEST_CASE("the GPU answers as the reference does, on some cases of every road", "[gpu][sanitize]") {
  Device device = gpu();
  check_every_case(device, kQuickSizes, 211);
  check_every_road(device, 1009);
}

TEST_CASE("the GPU takes pointers off their alignment", "[gpu][sanitize]") {
  Device device = gpu();
  check_unaligned(device);
}

TEST_CASE("the GPU sends the first of many equals", "[gpu][sanitize]") {
  Device device = gpu();
  check_equals(device);
}

TEST_CASE("the GPU's tiles have room for their candidates", "[gpu]") {
  Device device = gpu();
  check_room(device);
}

TEST_CASE("the GPU leaves in the residual what the output does not hold", "[gpu][sanitize]") {
  Device device = gpu();
  check_capacity(device);
}

TEST_CASE("the GPU encodes tensors of one set of launches as each alone", "[gpu][sanitize]") {
  Device device = gpu();
  check_batches(device);
}

TEST_CASE("the GPU takes many tensors to a block, and blocks without any", "[gpu][sanitize]") {
  Device device = gpu();
  check_shares(device);
}

TEST_CASE("the GPU finds a threshold that no longer fits anew", "[gpu][sanitize]") {
  Device device = gpu();
  check_new_guesses(device);
}

TEST_CASE("the GPU encodes lists of tensors drawn at random as each alone", "[gpu]") {
  Device device = gpu();
  check_random_batches(device, 1, 300, 40);
}

TEST_CASE("an encoder on the GPU serves iteration after iteration", "[gpu][sanitize]") {
  Device device = gpu();
  check_iterations(device, false);
}

TEST_CASE("a CUDA graph of an encode serves iteration after iteration", "[gpu]") {
  Device device = gpu();
  check_iterations(device, true);
}

TEST_CASE("the GPU adds sparse sets in the order of the workers", "[gpu][sanitize]") {
  Device device = gpu();
  check_decode(device);
}

TEST_CASE("the GPU answers ordinary gradients from their candidates", "[gpu]") {
  Device device = gpu();
  check_fast_road(device);
}

// ResNet-50's size and one beyond 2^28, which no index of 32 bits in bytes reaches.
TEST_CASE("the GPU answers as the reference does, on a whole model and on 2^28 + 1 elements",
          "[gpu][large]") {
  Device device = gpu();
  check_size(device, 25'557'032);
  check_size(device, (std::int64_t{1} << 28) + 1);
}

// 20 times the same, and the same from any number of blocks.
TEST_CASE("the GPU answers alike every time", "[gpu]") {
  Device device = gpu();
  const Vectors vectors = make_vectors(Input::layermix, 3'000'000, 1);
  for (const Method& method : all_methods()) {
    const Selection selection = selection_of(method, vectors, 3000, 1);
    const Answer first = device_answer(device, method, vectors, selection);
    for (int blocks = 0; blocks < 20; ++blocks) {
      INFO(name_of(method) << ", " << blocks << " blocks");
      EncoderTuning tuning;
      tuning.finish_blocks = 5 * blocks;
      require_same(first, device_answer(device, method, vectors, selection, tuning));
    }
  }
}

TEST_CASE("the GPU merges two sets into the k largest of their sum", "[gpu][sanitize]") {
  Device device = gpu();
  device.make_merger = on_cuda::make_merger;
  check_merge(device);
}

TEST_CASE("the GPU corrects and masks momentum", "[gpu][sanitize]") {
  Device device = gpu();
  device.make_momentum = on_cuda::make_momentum;
  for (const ValueType type : kGradientTypes) check_momentum(device, type);
}
