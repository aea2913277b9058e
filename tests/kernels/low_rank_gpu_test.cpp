// PowerSGD's kernels on the GPU at hand, against the definition.
#include "tests/kernels/low_rank_cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

Device gpu() {
  Device device{on_cuda::make_queue(0), on_cuda::make_encoder, on_cuda::make_decoder};
  device.make_low_rank_encoder = on_cuda::make_low_rank_encoder;
  return device;
}

}  // namespace

TEST_CASE("PowerSGD on the GPU is near the definition", "[gpu][sanitize]") {
  Device device = gpu();
  constexpr std::int64_t kRanks[] = {1, 2, 5, 17, 1024};
  check_low_rank_shapes(device, kRanks);
}

TEST_CASE("the GPU takes matrices of one set of launches as each alone", "[gpu][sanitize]") {
  Device device = gpu();
  check_low_rank_batch(device);
}

TEST_CASE("PowerSGD on the GPU takes gradients of 16 bits", "[gpu][sanitize]") {
  Device device = gpu();
  check_low_rank_types(device);
}

TEST_CASE("PowerSGD on the GPU survives an infinity, a NaN and zeros", "[gpu][sanitize]") {
  Device device = gpu();
  check_low_rank_degenerate(device);
}

TEST_CASE("PowerSGD on the GPU is near the definition where blocks share a thin matrix",
          "[gpu][sanitize]") {
  Device device = gpu();
  check_low_rank_of_several_blocks(device);
}

// The largest convolution of ResNet-50, and GPT-2's widest matrix.
TEST_CASE("PowerSGD on the GPU is near the definition, on large matrices", "[gpu][large]") {
  Device device = gpu();
  LowRankRun run(device, 4, Mode::Code);
  run.add({512, 4608}, 1);
  run.add({6400, 1600}, 2);
  run.iterate();
}
