// Device memory that a measurement owns, and the places of tensors in it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/device_memory.hpp"

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

/// Where tensors of these sizes begin, one after another, and the end.
inline std::vector<std::int64_t> places(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> begins{0};
  for (const std::int64_t size : sizes)
    begins.push_back(begins.back() + (size + kPlace - 1) / kPlace * kPlace);
  return begins;
}

}  // namespace gradcast
