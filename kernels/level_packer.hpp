// Packers and unpackers of quantisers whose workers share a scale (levels.hpp). Between `measure`
// and `pack` the caller makes each scale the largest of all workers'; between `pack` and `unpack`
// it adds up their words. Both are all-reduces (ncclMax of fp32, ncclSum of ncclUint32). Like
// packers, they are made once and called every iteration; they never wait for the device, and can
// be captured in a CUDA graph. Both C++ and CUDA read this file: C++17.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/levels.hpp"
#include "kernels/value_type.hpp"
#include "kernels/workspace.hpp"

namespace gradcast {

/// A tensor and the place of what is sent of it. All pointers point to device memory, aligned to 4
/// bytes (16 is faster). Gradient and residual do not overlap.
struct LevelPackerTensor {
  ConstNumbers gradient;      // [elements], the same in `measure` and `pack`
  float* residual = nullptr;  // [elements], `pack` writes it; nullptr: no error feedback
  std::int64_t elements = 0;  // 1 to 2^31-1
  std::uint64_t seed = 0;
  float* scale = nullptr;           // [1]: `measure` writes the tensor's own, `pack` reads it
  std::uint32_t* lanes = nullptr;   // [lane_words(elements, bits)]
  std::uint32_t* status = nullptr;  // Status bits, of `measure`
};

class LevelPacker {
 public:
  virtual ~LevelPacker() = default;
  /// Enqueues the search for the scales of all tensors. `stream`, as Packer has it.
  virtual void measure(void* stream) = 0;
  /// Enqueues one pack of all tensors.
  virtual void pack(void* stream) = 0;
  /// Sets a number that is added to every tensor's seed from the next pack on, as Encoder does.
  virtual void set_round(std::uint64_t round, void* stream) = 0;
  virtual std::int64_t scratch_bytes() const = 0;
  /// Launches of one measure and one pack.
  virtual int launches() const = 0;
};

/// A dense gradient, and the sum of what all workers sent of it.
struct LevelUnpackerTensor {
  Numbers dense;  // [elements], written
  std::int64_t elements = 0;
  const float* scale = nullptr;          // [1], the shared one
  const std::uint32_t* lanes = nullptr;  // [lane_words(elements, bits)]
  float factor = 1;                      // on the sum: 1 / workers makes it a mean
};

class LevelUnpacker {
 public:
  virtual ~LevelUnpacker() = default;
  /// dense = factor x what all workers sent together.
  virtual void unpack(void* stream) = 0;
  virtual std::int64_t scratch_bytes() const = 0;
};

/// Throw std::invalid_argument for invalid tensors or parameters, for a rule that has no levels,
/// and where a sum of so many workers' levels does not fit in a lane; std::runtime_error if the
/// device fails.
namespace on_cuda {
std::unique_ptr<LevelPacker> make_level_packer(PackRule rule, double parameter,
                                               std::int64_t workers,
                                               const std::vector<LevelPackerTensor>& tensors,
                                               const Workspace& workspace = {});
std::unique_ptr<LevelUnpacker> make_level_unpacker(PackRule rule, double parameter,
                                                   std::int64_t workers,
                                                   const std::vector<LevelUnpackerTensor>& tensors,
                                                   const Workspace& workspace = {});
}  // namespace on_cuda

namespace on_emulator {
std::unique_ptr<LevelPacker> make_level_packer(PackRule rule, double parameter,
                                               std::int64_t workers,
                                               const std::vector<LevelPackerTensor>& tensors,
                                               const Workspace& workspace = {});
std::unique_ptr<LevelUnpacker> make_level_unpacker(PackRule rule, double parameter,
                                                   std::int64_t workers,
                                                   const std::vector<LevelUnpackerTensor>& tensors,
                                                   const Workspace& workspace = {});
}  // namespace on_emulator

}  // namespace gradcast
