// The gradient and the residual of a point on the device.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "kernels/bench/device_array.hpp"
#include "kernels/bench/gpu_timer.hpp"

namespace gradcast {

/// All tensors of a point, one after another.
class DeviceInputs {
 public:
  DeviceInputs(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point);

  /// Enqueues the gradient and the residual of a turn (kernels/bench/drift.hpp). Of a recorded u
  /// there is one draw only: it grows and shrinks.
  void drift_to(std::int64_t turn);
  /// Enqueues the residual of turn 0. Every encode changes it, and a residual that grows from
  /// sample to sample would be another input.
  void restore_residual();

  const float* gradient(std::size_t tensor) const { return gradient_.get() + begins_[tensor]; }
  float* residual(std::size_t tensor) const { return residual_.get() + begins_[tensor]; }

 private:
  void upload_zeros(DeviceArray<float>& to);
  void upload_recorded(float scale);

  DeviceQueue& queue_;
  GpuTimer& timer_;
  const BenchPoint& point_;
  std::int64_t elements_;
  std::vector<std::int64_t> begins_;
  DeviceArray<float> gradient_, pristine_, residual_;
};

}  // namespace gradcast
