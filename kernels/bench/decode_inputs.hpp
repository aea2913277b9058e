// The inputs with which decoders are timed, on the device.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "kernels/bench/device_array.hpp"
#include "kernels/bench/worker_sets.hpp"
#include "kernels/encoder.hpp"

namespace gradcast {

/// The sets of all workers on the device, and the dense gradients into which they are added. Each
/// kind has one piece of memory, because a model's tensors times its workers are many.
class DecodeInputs {
 public:
  DecodeInputs(DeviceQueue& queue, const BenchPoint& point, const WorkerSets& sets);

  std::vector<DecoderTensor> describe(int workers) const;

 private:
  const BenchPoint& point_;
  int distinct_;
  std::vector<std::int64_t> dense_begins_;
  DeviceArray<float> dense_;
  std::vector<std::size_t> begins_;  // of each set's values and indices
  std::unique_ptr<DeviceArray<float>> values_;
  std::unique_ptr<DeviceArray<std::int32_t>> indices_;
  std::unique_ptr<DeviceArray<std::int64_t>> counts_;
};

}  // namespace gradcast
