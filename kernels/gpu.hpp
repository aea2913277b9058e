// What GPU there is: one header, two implementations, and CMake picks (gpu_cuda.cu, gpu_none.cpp).
#pragma once
#include <string>
#include <vector>

namespace gradcast {

struct GpuDevice {
  std::string name;
  int multiprocessors = 0;
  double memory_bytes = 0;
};

/// True where this build holds CUDA code.
bool built_with_cuda();

/// Devices that CUDA sees; empty without a driver, without a device, or in a build without CUDA.
std::vector<GpuDevice> gpu_devices();

/// "13.0"; both "" in a build without CUDA, the driver's where there is no driver.
struct CudaVersions {
  std::string toolkit;  // that this was compiled with
  std::string driver;   // the latest that the driver serves
};

CudaVersions cuda_versions();

}  // namespace gradcast
