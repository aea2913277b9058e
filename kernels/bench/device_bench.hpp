// Times compressors on CUDA and, for tests, on the emulator.
#pragma once
#include <functional>
#include <memory>

#include "kernels/bench/bench.hpp"
#include "kernels/bench/gpu_timer.hpp"
#include "kernels/device_memory.hpp"
#include "kernels/encoder.hpp"
#include "kernels/low_rank_encoder.hpp"
#include "kernels/packer.hpp"

namespace gradcast {

struct DeviceBenchParts {
  std::string implementation;  // "gradcast-cuda"
  std::unique_ptr<DeviceQueue> queue;
  std::unique_ptr<GpuTimer> timer;
  decltype(&on_cuda::make_encoder) make_encoder = nullptr;
  decltype(&on_cuda::make_decoder) make_decoder = nullptr;
  decltype(&on_cuda::make_packer) make_packer = nullptr;
  decltype(&on_cuda::make_unpacker) make_unpacker = nullptr;
  decltype(&on_cuda::make_low_rank_encoder) make_low_rank_encoder = nullptr;
  decltype(&on_cuda::make_cub_topk) make_cub_topk = nullptr;  // nullptr: there is no CUB
};

std::unique_ptr<Bench> make_device_bench(DeviceBenchParts parts);

}  // namespace gradcast
