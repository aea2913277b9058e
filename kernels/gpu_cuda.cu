// The devices of this machine, as the CUDA runtime sees them.
#include "kernels/cuda_check.hpp"
#include "kernels/gpu.hpp"

namespace gradcast {

bool built_with_cuda() { return true; }

std::vector<GpuDevice> gpu_devices() {
  int count = 0;
  // No driver or no device is an answer here, not a failure.
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  std::vector<GpuDevice> devices;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    devices.push_back({properties.name, properties.multiProcessorCount,
                       static_cast<double>(properties.totalGlobalMem)});
  }
  return devices;
}

}  // namespace gradcast
