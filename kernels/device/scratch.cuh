// The memory of an encoder or a packer, and the round that it adds to seeds.
#pragma once
#include <vector>

#include "kernels/device/dialect.cuh"

namespace gradcast::GRADCAST_DEVICE {

inline __global__ void __launch_bounds__(kBlockThreads)
    store_round(std::uint64_t* to, std::uint64_t round) {
  if (threadIdx.x == 0) *to = round;
}

/// Divides one piece of memory into parts, each aligned to 256 bytes.
class Carver {
 public:
  /// Without memory it only measures.
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

template <class T>
void upload_all(T* to, const std::vector<T>& from) {
  if (!from.empty()) upload_bytes(to, from.data(), from.size() * sizeof(T));
}

}  // namespace gradcast::GRADCAST_DEVICE
