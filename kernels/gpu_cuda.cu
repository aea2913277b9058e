// The devices of this machine, as the CUDA runtime sees them.
#include "kernels/cuda_check.hpp"
#include "kernels/gpu.hpp"

namespace gradcast {
namespace {

/// CUDA writes 13.0 as 13000, and no driver as 0.
std::string dotted(int version) {
  if (version == 0) return "";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

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

CudaVersions cuda_versions() {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) cudaGetLastError();
  return {dotted(CUDART_VERSION), dotted(driver)};
}

}  // namespace gradcast
