// A build without CUDA has no devices, and none to time.
#include "kernels/bench/bench.hpp"
#include "kernels/gpu.hpp"

namespace gradcast {

bool built_with_cuda() { return false; }

std::vector<GpuDevice> gpu_devices() { return {}; }

CudaVersions cuda_versions() { return {}; }

std::unique_ptr<Bench> make_gpu_bench(int /*device*/) { return nullptr; }

}  // namespace gradcast
