// The GPU, timed.
#include "kernels/bench/device_bench.hpp"
#include "kernels/gpu.hpp"

namespace gradcast {

std::unique_ptr<Bench> make_gpu_bench(int device) {
  if (device < 0 || device >= static_cast<int>(gpu_devices().size())) return nullptr;
  DeviceBenchParts parts;
  parts.implementation = "gradcast-cuda";
  parts.queue = on_cuda::make_queue(device);
  parts.timer = on_cuda::make_timer(device, parts.queue->stream());
  parts.make_encoder = on_cuda::make_encoder;
  parts.make_decoder = on_cuda::make_decoder;
  parts.make_packer = on_cuda::make_packer;
  parts.make_unpacker = on_cuda::make_unpacker;
  parts.make_low_rank_encoder = on_cuda::make_low_rank_encoder;
  parts.make_cub_topk = on_cuda::make_cub_topk;
  return make_device_bench(std::move(parts));
}

}  // namespace gradcast
