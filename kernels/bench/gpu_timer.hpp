// What a measurement on a GPU needs besides the encoders. Read by C++ and CUDA: C++17.
#pragma once
#include <cstdint>
#include <memory>

#include "kernels/bench/bench.hpp"
#include "kernels/inputs.hpp"

namespace gradcast {

/// All but seconds(), throttled() and device() enqueue on the queue's stream and do not wait.
class GpuTimer {
 public:
  virtual ~GpuTimer() = default;
  /// Overwrites more memory than the cache holds.
  virtual void evict() = 0;
  virtual void begin() = 0;
  virtual void end() = 0;
  /// Between the last begin and end; waits for the end.
  virtual double seconds() = 0;
  /// True where the clock is now below three quarters of the device's own; waits.
  virtual bool throttled() = 0;
  /// The first elements of an input of `of_elements`.
  virtual void fill(float* to, std::int64_t elements, Input input, std::uint32_t seed,
                    std::int64_t of_elements) = 0;
  /// residual = gradient + residual, and nothing else: the ceiling.
  virtual void add(const float* gradient, float* residual, std::int64_t elements) = 0;
  virtual BenchDevice device() const = 0;
};

/// Top-k as NVIDIA's CUB offers it, with the addition and the residual's zeros around it.
class CubTopk {
 public:
  virtual ~CubTopk() = default;
  virtual void encode(void* stream) = 0;
};

namespace on_cuda {
std::unique_ptr<GpuTimer> make_timer(int device, void* stream);
/// values and indices have room for k; not by rising index. Throws std::runtime_error where the
/// device fails.
std::unique_ptr<CubTopk> make_cub_topk(const float* gradient, float* residual,
                                       std::int64_t elements, std::int64_t k, float* values,
                                       std::int32_t* indices);
}  // namespace on_cuda

}  // namespace gradcast
