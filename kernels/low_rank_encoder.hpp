// Low-rank encoders: PowerSGD of a fixed list of tensors. An iteration is three calls, with an
// all-reduce after each of the first two; each call is one set of launches for all tensors. An
// encoder is made once, which allocates memory and uploads tables. The calls do neither, never wait
// for the device, and can be captured in a CUDA graph. Both C++ and CUDA read this file: C++17.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/low_rank.hpp"
#include "kernels/value_type.hpp"
#include "kernels/workspace.hpp"

namespace gradcast {

/// A tensor and the place of what is sent of it. All pointers point to device memory, aligned to 4
/// bytes. Matrices lie row by row. `numbers` below: of low_rank_numbers.
struct LowRankTensor {
  ConstNumbers gradient;            // [rows x columns]
  float* residual = nullptr;        // [rows x columns], read and written; zeros: no error feedback
  MatrixShape shape;                // 1 to 2^31-1 elements
  std::uint64_t seed = 0;           // of columns of Q that are drawn
  float* p = nullptr;               // [numbers.first], sent first
  float* q = nullptr;               // [numbers.second], kept and sent second; zeros at first
  Numbers dense;                    // [rows x columns], written; may be the gradient
  std::uint32_t* status = nullptr;  // Status bits
};

/// LowRank (compressor.hpp) on a device, to the rounding of sums of floats. P and Q differ from the
/// definition's by at most 2^-18 of the sum of their products' magnitudes, and so does the received
/// gradient. u is exact, and the residual is exactly u less the received gradient.
class LowRankEncoder {
 public:
  virtual ~LowRankEncoder() = default;
  /// u = gradient + residual, P = u Q; then the caller takes the mean of P over the workers.
  /// `stream` is a cudaStream_t (CUDA) or a const emulator::Schedule* (emulator).
  virtual void first(void* stream) = 0;
  /// P is made orthonormal, Q = u^T P; then the caller takes the mean of Q.
  virtual void second(void* stream) = 0;
  /// dense = P Q^T, and u - dense stays in the residual.
  virtual void finish(void* stream) = 0;
  /// Sets a number that is added to every tensor's seed from the next call on.
  virtual void set_round(std::uint64_t round, void* stream) = 0;
  virtual std::int64_t scratch_bytes() const = 0;
  /// Launches of the three calls together.
  virtual int launches() const = 0;
};

/// The rank is 1 to 1024; the mode is not Mode::Only. Throw std::invalid_argument for invalid
/// tensors, ranks or modes, std::runtime_error if the device fails.
namespace on_cuda {
std::unique_ptr<LowRankEncoder> make_low_rank_encoder(std::int64_t rank, Mode mode,
                                                      const std::vector<LowRankTensor>& tensors,
                                                      const Workspace& workspace = {});
}  // namespace on_cuda

namespace on_emulator {
std::unique_ptr<LowRankEncoder> make_low_rank_encoder(std::int64_t rank, Mode mode,
                                                      const std::vector<LowRankTensor>& tensors,
                                                      const Workspace& workspace = {});
}  // namespace on_emulator

}  // namespace gradcast
