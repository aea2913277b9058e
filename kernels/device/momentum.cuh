// DGC's momentum correction and factor masking.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernels/device/numbers.cuh"
#include "kernels/encoder.hpp"

namespace gradcast::GRADCAST_DEVICE {

inline __global__ void __launch_bounds__(kBlockThreads)
    correct_momentum(const MomentumTensor tensor, float momentum) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kBlockThreads;
  as_typed(tensor.gradient, [&](const auto& gradient) {
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
         i < tensor.elements; i += threads)
      tensor.velocity[i] = momentum * tensor.velocity[i] + gradient[i];
  });
}

inline __global__ void __launch_bounds__(kBlockThreads) mask_momentum(const MomentumTensor tensor) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kBlockThreads;
  const std::int64_t sent = *tensor.count;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
       i < sent; i += threads) {
    const std::int64_t index = tensor.indices[i];
    if (index >= 0 && index < tensor.elements) tensor.velocity[index] = 0.0f;
  }
}

class MomentumHere final : public Momentum {
 public:
  MomentumHere(float momentum, const std::vector<MomentumTensor>& tensors)
      : momentum_(momentum), tensors_(tensors) {
    for (const MomentumTensor& tensor : tensors) {
      if (tensor.elements < 1 || tensor.elements > INT32_MAX || tensor.gradient == nullptr ||
          tensor.velocity == nullptr || (tensor.indices == nullptr) != (tensor.count == nullptr))
        throw std::invalid_argument(
            "a tensor has 1 to 2147483647 elements, a gradient and a velocity, and indices with "
            "their count, or neither");
    }
    for (const MomentumTensor& tensor : tensors)
      blocks_.push_back(static_cast<unsigned>(
          std::min<std::int64_t>((tensor.elements + kBlockThreads - 1) / kBlockThreads,
                                 resident_blocks(correct_momentum))));
    load_kernel(correct_momentum);
    load_kernel(mask_momentum);
  }

  void correct(void* stream) override {
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      launch(correct_momentum, {blocks_[i]}, static_cast<Stream>(stream), tensors_[i], momentum_);
  }
  void mask(void* stream) override {
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (tensors_[i].indices != nullptr)
        launch(mask_momentum, {blocks_[i]}, static_cast<Stream>(stream), tensors_[i]);
  }

 private:
  float momentum_;
  std::vector<MomentumTensor> tensors_;
  std::vector<unsigned> blocks_;  // by tensor
};

}  // namespace gradcast::GRADCAST_DEVICE
