// The GPUs of this machine. The header has two implementations, and CMake picks one (gpu_cuda.cu,
// gpu_none.cpp).
#pragma once
#include <string>
#include <vector>

namespace gradcast {

struct GpuDevice {
  std::string name;
  int multiprocessors = 0;
  double memory_bytes = 0;
};

/// True if this build holds CUDA code.
bool built_with_cuda();

/// The devices that CUDA finds; empty without a driver, without a device, or in a build without
/// CUDA.
std::vector<GpuDevice> gpu_devices();

/// "13.0". Both are "" in a build without CUDA; `driver` is "" if there is no driver.
struct CudaVersions {
  std::string toolkit;  // that this was compiled with
  std::string driver;   // the latest that the driver serves
};

CudaVersions cuda_versions();

}  // namespace gradcast
