// Device memory of the timings: gradients and residuals of a point, the buffers that its compressor
// reads and writes, and those that decoders read.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "kernels/bench/gpu_timer.hpp"
#include "kernels/bench/worker_payloads.hpp"
#include "kernels/compressor.hpp"
#include "kernels/device_memory.hpp"
#include "kernels/encoder.hpp"
#include "kernels/low_rank_encoder.hpp"
#include "kernels/packer.hpp"

namespace gradcast {

/// Device memory that is freed with its owner.
template <class T>
class DeviceArray {
 public:
  DeviceArray(DeviceQueue& queue, std::int64_t count)
      : queue_(queue),
        count_(static_cast<std::size_t>(std::max<std::int64_t>(count, 1))),
        memory_(static_cast<T*>(queue.allocate(count_ * sizeof(T)))) {}
  ~DeviceArray() { queue_.release(memory_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* get() const { return memory_; }
  std::size_t size() const { return count_; }

 private:
  DeviceQueue& queue_;
  std::size_t count_;
  T* memory_;
};

template <class T>
std::vector<T> downloaded(DeviceQueue& queue, const T* from, std::int64_t count) {
  std::vector<T> to(static_cast<std::size_t>(count));
  if (count > 0) queue.download(to.data(), from, to.size() * sizeof(T));
  return to;
}

/// Tensors begin at multiples of 64 elements (256 bytes), as an allocator would place them.
inline constexpr std::int64_t kPlace = 64;

/// Offsets of tensors of these sizes that lie one after another, and the end of the last.
inline std::vector<std::int64_t> places(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> begins{0};
  for (const std::int64_t size : sizes)
    begins.push_back(begins.back() + (size + kPlace - 1) / kPlace * kPlace);
  return begins;
}

/// Numbers of a type from element `begin` on, in memory that has room for as many floats.
inline Numbers numbers_at(float* memory, std::int64_t begin, ValueType type) {
  return {reinterpret_cast<std::byte*>(memory) + begin * bytes_of_value(type), type};
}

/// The gradient and the residual of all tensors of a point, one after another.
class DeviceInputs {
 public:
  DeviceInputs(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point);

  /// Enqueues the gradient and the residual of a turn (kernels/bench/drift.hpp). A recorded u has
  /// one draw only: it grows and shrinks.
  void drift_to(std::int64_t turn);
  /// Enqueues the residual of turn 0. Every encode changes it, and a residual that grows from
  /// sample to sample would be another input.
  void restore_residual();

  ConstNumbers gradient(std::size_t tensor) const {
    const Numbers numbers = numbers_at(gradient_.get(), begins_[tensor], point_.input_type);
    return {numbers.first, numbers.type};
  }
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

/// The tensors of a point on the device, with room for the selected elements.
class DeviceTensors : public DeviceInputs {
 public:
  DeviceTensors(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point, bool exact);

  std::vector<EncoderTensor> describe() const;

  std::vector<WorkerSets::Set> selected() const;

  /// The number of selected elements of all tensors.
  std::int64_t count() const;
  std::uint32_t status() const;

  /// Sets counts that the device does not count.
  void set_counts(const std::vector<std::int64_t>& counts);

  /// Sets each tensor's threshold to one that the values of its last selection pass.
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

/// Inputs of a packer and an unpacker: the tensors of a point, with room for their payloads.
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

/// Inputs of PowerSGD's kernels: the tensors of a point, by its shapes, with their P and Q. There
/// is one worker, so that its factors are the mean.
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

/// Inputs of decoders: the sets of all workers on the device, and the dense gradients into which
/// they are added. Each kind has one piece of memory, because a model's tensors times
/// its workers are many.
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
