// The packing kernels on the GPU at hand, against the reference.
#include "tests/kernels/packer_cases.hpp"
#include "tests/kernels/unpacker_cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

Device gpu() {
  return {on_cuda::make_queue(0), on_cuda::make_encoder, on_cuda::make_decoder,
          on_cuda::make_packer, on_cuda::make_unpacker};
}

constexpr std::int64_t kUnpackedSizes[] = {1, 5, 129, 513, 8193, 300'001};

}  // namespace

TEST_CASE("packers on the GPU answer as the reference does", "[gpu]") {
  Device device = gpu();
  check_every_pack(device, kQuickSizes, 1);
}

TEST_CASE("packers on the GPU answer as the reference does, on large tensors", "[gpu]") {
  Device device = gpu();
  check_every_pack(device, kSlowSizes, 7);
}

// Few enough for compute-sanitizer, which runs those of this tag.
TEST_CASE("packers on the GPU answer as the reference does, on some cases", "[gpu][sanitize]") {
  Device device = gpu();
  check_every_pack(device, kQuickSizes, 97);
}

TEST_CASE("packers on the GPU take any parameter", "[gpu][sanitize]") {
  Device device = gpu();
  check_pack_parameters(device);
}

TEST_CASE("packers on the GPU take pointers off their alignment", "[gpu][sanitize]") {
  Device device = gpu();
  check_unaligned_packs(device);
}

TEST_CASE("the GPU packs tensors of one set of launches as each alone", "[gpu][sanitize]") {
  Device device = gpu();
  check_pack_batches(device);
}

TEST_CASE("a packer on the GPU serves iteration after iteration", "[gpu][sanitize]") {
  Device device = gpu();
  check_pack_iterations(device, false);
}

TEST_CASE("a CUDA graph of a pack serves iteration after iteration", "[gpu]") {
  Device device = gpu();
  check_pack_iterations(device, true);
}

TEST_CASE("unpackers on the GPU answer as the reference does", "[gpu][sanitize]") {
  Device device = gpu();
  check_every_unpack(device, kUnpackedSizes);
}

// ResNet-50's size, and one whose moments are added in three steps.
TEST_CASE("packers on the GPU answer as the reference does, on a whole model and on 2^28 + 1",
          "[gpu][large]") {
  Device device = gpu();
  check_pack_size(device, 25'557'032);
  check_pack_size(device, (std::int64_t{1} << 28) + 1);
}
