// A device on which compressors are timed. There are two implementations: the CPU's reference, and
// CUDA (bench_cpu.cpp, bench_cuda.cpp; kernels/gpu_none.cpp in a build without CUDA). Both C++ and
// CUDA read this file: C++17.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "kernels/inputs.hpp"
#include "kernels/low_rank.hpp"
#include "kernels/selection.hpp"
#include "kernels/value_type.hpp"

namespace gradcast {

/// A vector u = gradient + residual that a training recorded.
struct RecordedInput {
  std::string name;  // of its file
  std::vector<float> u;
};

/// One call to be timed: one tensor, or all of a model's in one set of launches.
struct BenchPoint {
  std::string compressor;
  Mode mode = Mode::Only;
  std::string implementation;         // one of Bench::implementations
  std::vector<std::int64_t> tensors;  // elements of each
  std::vector<std::int64_t> wanted;   // k of each; of what selects nothing, all of its elements
  double parameter = 0;               // the compressor's number; 0 where it takes none
  /// PowerSGD: the matrix of each tensor. It has the tensor's first elements, at most all of them.
  std::vector<MatrixShape> shapes;
  Input input = Input::normal;             // of gradient and residual together
  ValueType input_type = ValueType::Fp32;  // of the gradient, and of what decode writes
  /// A recorded vector, which takes the place of `input`. The tensors are its first elements, one
  /// after another, as gradients beside residuals of zero. It has at least as many elements as
  /// they.
  std::shared_ptr<const RecordedInput> recorded;
  std::vector<int> workers;    // decode is timed for each of these numbers
  std::uint32_t seed = 1;      // of the input and of what is drawn at random
  bool warm_and_cold = false;  // also time BenchResult::warm and cold
};

/// The elements of all tensors of a point.
inline std::int64_t total(const std::vector<std::int64_t>& of_each) {
  return std::accumulate(of_each.begin(), of_each.end(), std::int64_t{0});
}

struct BenchTiming {
  double median_seconds = 0;
  double p95_seconds = 0;
  std::int64_t samples = 0;
  std::int64_t discarded = 0;  // samples taken while the clock was throttled
};

struct BenchResult {
  /// As training calls it: the input drifts from call to call (kernels/bench/drift.hpp), so the
  /// state that an encoder keeps of the last call is of another gradient. If nothing is kept (the
  /// CPU's reference, PyTorch's operators) the input stays the same.
  BenchTiming encode;
  std::optional<BenchTiming> warm;  // the same input in each call; only of what keeps something
  std::optional<BenchTiming> cold;  // nothing is kept from call to call; likewise
  std::vector<BenchTiming> decode;  // as BenchPoint::workers
  double selected = 0;              // elements of all tensors; mean of the calls of `encode`
  /// Share of the k largest of each tensor that was selected, 0 to 1. 1 where nothing is selected.
  double recall = 0;
  double bytes = 0;  // counted, that one encode moves through memory; 0: not counted
  /// Paths that the calls of `encode` took: "fast", or "fast 19, tiles re-read 2" if they differ;
  /// "" if there is only one path.
  std::string path;
};

/// The machine, as the comment lines of a cost table describe it.
struct BenchDevice {
  std::string name;               // "NVIDIA H200"
  std::string slug;               // "h200": names the file
  std::string driver;             // "" where there is none
  std::string toolkit;            // "CUDA 13.0.88", "g++ 12.2.0"
  std::string clocks;             // "SM 1980 MHz, memory 3201 MHz"
  std::int64_t memory_bytes = 0;  // that a point may use
};

/// The limits of a measurement.
struct BenchLimits {
  double seconds = 1.0;  // for the samples of one timing
  std::int64_t least_samples = 20;
  std::int64_t most_samples = 1000;
  std::function<bool()> interrupted;  // asked between samples; may be empty
};

/// Thrown by a measurement that was interrupted.
struct BenchInterrupted {};

class Bench {
 public:
  virtual ~Bench() = default;
  virtual BenchDevice device() const = 0;
  /// The implementations of a compressor, the project's own first, then baselines; empty if nothing
  /// here runs it.
  virtual std::vector<std::string> implementations(const std::string& compressor,
                                                   Mode mode) const = 0;
  /// The memory that a point needs at one time.
  virtual std::int64_t memory_needed(const BenchPoint& point) const = 0;
  /// Times a point with a cold cache. Gradient and residual are made or restored before each
  /// sample. Throws BenchInterrupted.
  virtual BenchResult measure(const BenchPoint& point, const BenchLimits& limits) = 0;
  /// Times e = g + e and nothing else, 12 bytes an element. No compressor with a residual is
  /// faster.
  virtual BenchTiming ceiling(std::int64_t elements, const BenchLimits& limits) = 0;
};

std::unique_ptr<Bench> make_cpu_bench();

/// nullptr if this build or this machine has no such device.
std::unique_ptr<Bench> make_gpu_bench(int device);

}  // namespace gradcast
