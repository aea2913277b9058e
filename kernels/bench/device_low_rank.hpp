// What PowerSGD's kernels are timed with, on the device.
#pragma once
#include <vector>

#include "kernels/bench/device_inputs.hpp"
#include "kernels/low_rank_encoder.hpp"

namespace gradcast {

/// The tensors of a point, by its shapes, with their P and Q. One worker: what it sends is the
/// mean.
class DeviceLowRank : public DeviceInputs {
 public:
  DeviceLowRank(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point);

  std::vector<LowRankTensor> describe() const;

 private:
  const BenchPoint& point_;
  std::vector<std::int64_t> p_begins_, q_begins_, dense_begins_;
  DeviceArray<float> p_, q_, dense_;
  DeviceArray<std::uint32_t> statuses_;
};

}  // namespace gradcast
