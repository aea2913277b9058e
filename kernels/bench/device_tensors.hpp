// The tensors of a point on the device, and the results of an encode.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/bench/device_inputs.hpp"
#include "kernels/bench/worker_sets.hpp"
#include "kernels/encoder.hpp"

namespace gradcast {

/// The tensors of a point on the device, with room for the selected elements.
class DeviceTensors : public DeviceInputs {
 public:
  DeviceTensors(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point, bool exact);

  std::vector<EncoderTensor> describe() const;

  std::vector<WorkerSets::Set> selected() const;

  /// The number of selected elements of all tensors.
  std::int64_t count() const;
  std::uint32_t status() const;

  /// For what is not counted on the device.
  void set_counts(const std::vector<std::int64_t>& counts);

  /// Of each tensor, the threshold that what was selected last passes.
  void set_thresholds_by_values();

 private:
  DeviceQueue& queue_;
  const BenchPoint& point_;
  std::vector<std::int64_t> room_begins_;
  DeviceArray<float> values_;
  DeviceArray<std::int32_t> indices_;
  DeviceArray<std::int64_t> counts_;
  DeviceArray<std::uint32_t> statuses_;
  bool exact_;
  std::vector<float> thresholds_;  // of each tensor; empty: none has one
};

}  // namespace gradcast
