// The memory of an encoder, a packer or their like, and the round that is added to seeds.
#pragma once
#include <vector>

#include "kernels/device/dialect.cuh"
#include "kernels/workspace.hpp"

namespace gradcast::GRADCAST_DEVICE {

inline __global__ void __launch_bounds__(kBlockThreads)
    store_round(std::uint64_t* to, std::uint64_t round) {
  if (threadIdx.x == 0) *to = round;
}

/// Divides one piece of memory into parts, each aligned to 256 bytes.
class Carver {
 public:
  /// A carver without memory only measures.
  explicit Carver(void* memory = nullptr) : memory_(static_cast<char*>(memory)) {}
  template <class T>
  T* take(std::size_t count) {
    T* part = memory_ != nullptr ? reinterpret_cast<T*>(memory_ + used_) : nullptr;
    used_ += (count * sizeof(T) + 255) / 256 * 256;
    return part;
  }
  std::size_t used() const { return used_; }

 private:
  char* memory_;
  std::size_t used_ = 0;
};

/// One piece of memory: the owner's own, or lent. What the host writes there is there before the
/// first kernel on the workspace's stream.
class Scratch {
 public:
  Scratch() = default;
  /// `parts` takes the parts from a Carver. It is called twice: to measure, and to divide.
  template <class Parts>
  Scratch(const Workspace& lent, Parts parts) : lent_(lent) {
    Carver measuring;
    parts(measuring);
    bytes_ = measuring.used();
    if (lent.memory == nullptr)
      own_ = DeviceBytes(bytes_);
    else if (lent.bytes < bytes_)
      throw WorkspaceTooSmall(bytes_);
    Carver carver(lent.memory != nullptr ? lent.memory : own_.get());
    parts(carver);
  }

  template <class T>
  void upload(T* to, const std::vector<T>& from) const {
    const std::size_t bytes = from.size() * sizeof(T);
    if (bytes == 0) return;
    if (lent_.memory == nullptr)
      upload_bytes(to, from.data(), bytes);
    else
      enqueue_upload(static_cast<Stream>(lent_.stream), to, from.data(), bytes);
  }
  void clear(void* memory, std::size_t bytes) const {
    if (bytes == 0) return;
    if (lent_.memory == nullptr)
      clear_bytes(memory, bytes);
    else
      enqueue_clear(static_cast<Stream>(lent_.stream), memory, bytes);
  }
  std::int64_t bytes() const { return static_cast<std::int64_t>(bytes_); }

 private:
  Workspace lent_{};
  DeviceBytes own_;
  std::size_t bytes_ = 0;
};

}  // namespace gradcast::GRADCAST_DEVICE
