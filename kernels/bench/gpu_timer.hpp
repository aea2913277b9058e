// The parts of a measurement on a GPU besides the encoders. Both C++ and CUDA read this file:
// C++17.
#pragma once
#include <cstdint>
#include <memory>

#include "kernels/bench/bench.hpp"
#include "kernels/inputs.hpp"
#include "kernels/value_type.hpp"

namespace gradcast {

/// All but seconds(), throttled() and device() enqueue on the queue's stream and do not wait.
class GpuTimer {
 public:
  virtual ~GpuTimer() = default;
  /// Reads more memory than the cache holds, so that it holds nothing of before and nothing that is
  /// yet to be written back.
  virtual void evict() = 0;
  virtual void begin() = 0;
  virtual void end() = 0;
  /// The seconds between the last begin and end; waits for the end.
  virtual double seconds() = 0;
  /// True if the clock is now below three quarters of the device's own; waits.
  virtual bool throttled() = 0;
  /// Fills in the first elements of an input of `of_elements`, each times `scale`.
  virtual void fill(const Numbers& to, std::int64_t elements, Input input, std::uint32_t seed,
                    std::int64_t of_elements, float scale = 1) = 0;
  /// residual = gradient + residual, and nothing else: the ceiling.
  virtual void add(const float* gradient, float* residual, std::int64_t elements) = 0;
  virtual BenchDevice device() const = 0;
};

/// Top-k by NVIDIA's CUB, with the addition and the zeros in the residual around it.
class CubTopk {
 public:
  virtual ~CubTopk() = default;
  virtual void encode(void* stream) = 0;
};

namespace on_cuda {
std::unique_ptr<GpuTimer> make_timer(int device, void* stream);
/// values and indices have room for k. The result is not in order of index. Throws
/// std::runtime_error if the device fails.
std::unique_ptr<CubTopk> make_cub_topk(const float* gradient, float* residual,
                                       std::int64_t elements, std::int64_t k, float* values,
                                       std::int32_t* indices);
}  // namespace on_cuda

}  // namespace gradcast
