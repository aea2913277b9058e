// What a packer and an unpacker are timed with, on the device.
#pragma once
#include <memory>
#include <vector>

#include "kernels/bench/device_inputs.hpp"
#include "kernels/compressor.hpp"
#include "kernels/packer.hpp"

namespace gradcast {

/// The tensors of a point, with room for their payloads.
class DevicePacks : public DeviceInputs {
 public:
  DevicePacks(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point,
              const Compressor& compressor);

  /// Without a residual where the compressor's source has no error feedback.
  std::vector<PackerTensor> describe() const;

  /// Copies what was packed, for as many workers, and makes room for what they say together.
  void prepare_unpack(int most_workers);
  std::vector<UnpackerTensor> describe_unpack(int workers) const;

 private:
  DeviceQueue& queue_;
  const BenchPoint& point_;
  const Compressor& compressor_;
  std::vector<std::int64_t> payload_begins_;
  DeviceArray<std::uint32_t> packed_;
  DeviceArray<std::uint32_t> statuses_;
  std::vector<std::unique_ptr<DeviceArray<std::uint32_t>>> copies_;
  std::vector<std::int64_t> dense_begins_;
  std::unique_ptr<DeviceArray<float>> dense_;
};

}  // namespace gradcast
