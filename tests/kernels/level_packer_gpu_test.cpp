// The kernels of shared levels on the GPU at hand, against the reference.
#include "tests/kernels/level_packer_cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

Device gpu() {
  Device device{on_cuda::make_queue(0), on_cuda::make_encoder, on_cuda::make_decoder};
  device.make_level_packer = on_cuda::make_level_packer;
  device.make_level_unpacker = on_cuda::make_level_unpacker;
  return device;
}

}  // namespace

TEST_CASE("level packers on the GPU answer as the reference does", "[gpu]") {
  Device device = gpu();
  check_every_level(device, kQuickSizes, 1);
}

TEST_CASE("level packers on the GPU answer as the reference does, on large tensors", "[gpu]") {
  Device device = gpu();
  check_every_level(device, kSlowSizes, 7);
}

// Few enough for compute-sanitizer, which runs those of this tag.
TEST_CASE("level packers on the GPU answer as the reference does, on some cases",
          "[gpu][sanitize]") {
  Device device = gpu();
  check_every_level(device, kQuickSizes, 97);
}

TEST_CASE("level packers on the GPU take pointers off their alignment", "[gpu][sanitize]") {
  Device device = gpu();
  check_unaligned_levels(device);
}

TEST_CASE("the GPU packs levels of a list of tensors as of each alone", "[gpu][sanitize]") {
  Device device = gpu();
  check_level_batches(device, false);
}

TEST_CASE("a CUDA graph of level packers serves iteration after iteration", "[gpu]") {
  Device device = gpu();
  check_level_batches(device, true);
}
