// The tensors of a point on the device, and the results of an encode.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "kernels/bench/device_array.hpp"
#include "kernels/bench/gpu_timer.hpp"
#include "kernels/bench/worker_sets.hpp"
#include "kernels/encoder.hpp"

namespace gradcast {

/// The tensors of a point on the device, one after another, with room for the selected elements.
class DeviceTensors {
 public:
  DeviceTensors(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point, bool exact);

  /// Enqueues the gradient and the residual of a turn (kernels/bench/drift.hpp). Of a recorded u
  /// there is one draw only: it grows and shrinks.
  void drift_to(std::int64_t turn);
  /// Enqueues the residual of turn 0. Every encode changes it, and a residual that grows from
  /// sample to sample would be another input.
  void restore_residual();

  std::vector<EncoderTensor> describe() const;

  std::vector<WorkerSets::Set> selected() const;

  /// The number of selected elements of all tensors.
  std::int64_t count() const;
  std::uint32_t status() const;

  /// For what is not counted on the device.
  void set_counts(const std::vector<std::int64_t>& counts);

 private:
  void upload_zeros(DeviceArray<float>& to);
  void upload_recorded(float scale);

  DeviceQueue& queue_;
  GpuTimer& timer_;
  const BenchPoint& point_;
  std::int64_t elements_;
  std::vector<std::int64_t> begins_, room_begins_;
  DeviceArray<float> gradient_, pristine_, residual_, values_;
  DeviceArray<std::int32_t> indices_;
  DeviceArray<std::int64_t> counts_;
  DeviceArray<std::uint32_t> statuses_;
  bool exact_;
};

}  // namespace gradcast
