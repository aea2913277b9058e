// A build without CUDA has no devices.
#include "kernels/gpu.hpp"

namespace gradcast {

bool built_with_cuda() { return false; }

std::vector<GpuDevice> gpu_devices() { return {}; }

CudaVersions cuda_versions() { return {}; }

}  // namespace gradcast
