// Casts, quantisers and PowerSGD on the CPU: what a timed call of each does, by its definition.
#pragma once
#include <memory>
#include <span>

#include "kernels/bench/bench.hpp"
#include "kernels/compressor.hpp"

namespace gradcast {

/// The calls of one point. All tensors of the point lie one after another in each vector.
class CpuCall {
 public:
  virtual ~CpuCall() = default;
  /// Everything that a worker computes before its last message leaves. The residual is read and
  /// written.
  virtual void encode(std::span<const float> gradient, std::span<float> residual) = 0;
  /// Makes the payloads of so many workers, of which decode takes some or all. An encode came
  /// before.
  virtual void prepare_decode(int most_workers) = 0;
  /// Makes a dense gradient of what the workers sent. It may write the residual.
  virtual void decode(int workers, std::span<float> residual) = 0;
  /// False where what is received is one sum, whatever the number of workers.
  virtual bool decodes_each_worker() const = 0;
};

/// nullptr for compressors of other families.
std::unique_ptr<CpuCall> make_cpu_call(const Compressor& compressor, const BenchPoint& point);

}  // namespace gradcast
