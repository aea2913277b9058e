// Packers: each casts or quantises a fixed list of tensors by one set of launches. Unpackers turn
// what the workers sent back into dense gradients. Both are made once, which allocates memory and
// uploads tables. They are then called every iteration, which does neither, never waits for the
// device, and can be captured in a CUDA graph. Both C++ and CUDA read this file: C++17.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/packing.hpp"
#include "kernels/value_type.hpp"
#include "kernels/workspace.hpp"

namespace gradcast {

/// A tensor and the place of its payload. All pointers point to device memory, aligned to 4 bytes
/// (16 is faster). Gradient and residual do not overlap.
struct PackerTensor {
  ConstNumbers gradient;      // [elements]
  float* residual = nullptr;  // [elements], read and written; nullptr: no error feedback
  std::int64_t elements = 0;  // 1 to 2^31-1
  std::uint64_t seed = 0;
  std::uint32_t* packed = nullptr;  // [packed_words]
  std::uint32_t* status = nullptr;  // Status bits
};

class Packer {
 public:
  virtual ~Packer() = default;
  /// Enqueues one pack of all tensors. `stream` is a cudaStream_t (CUDA) or a const
  /// emulator::Schedule* (emulator). One call at a time: the scratch memory is the packer's.
  virtual void pack(void* stream) = 0;
  /// Sets a number that is added to every tensor's seed from the next pack on, as Encoder does.
  virtual void set_round(std::uint64_t round, void* stream) = 0;
  virtual std::int64_t scratch_bytes() const = 0;
  /// Launches of one pack.
  virtual int launches() const = 0;
};

/// A dense gradient and what the workers sent of it.
struct UnpackerTensor {
  Numbers dense;  // [elements], written
  std::int64_t elements = 0;
  std::vector<const std::uint32_t*> payloads;  // as many for every tensor of an unpacker
  float factor = 1;                            // on the sum: 1 / workers makes it a mean
};

class Unpacker {
 public:
  virtual ~Unpacker() = default;
  /// dense = factor x what all payloads say together (PackedSum), in the order of the workers.
  virtual void unpack(void* stream) = 0;
  virtual std::int64_t scratch_bytes() const = 0;
};

/// Throw std::invalid_argument for invalid tensors or parameters, std::runtime_error if the device
/// fails.
namespace on_cuda {
std::unique_ptr<Packer> make_packer(PackRule rule, double parameter,
                                    const std::vector<PackerTensor>& tensors,
                                    const Workspace& workspace = {});
std::unique_ptr<Unpacker> make_unpacker(PackRule rule, double parameter,
                                        const std::vector<UnpackerTensor>& tensors,
                                        const Workspace& workspace = {});
}  // namespace on_cuda

namespace on_emulator {
std::unique_ptr<Packer> make_packer(PackRule rule, double parameter,
                                    const std::vector<PackerTensor>& tensors,
                                    const Workspace& workspace = {});
std::unique_ptr<Unpacker> make_unpacker(PackRule rule, double parameter,
                                        const std::vector<UnpackerTensor>& tensors,
                                        const Workspace& workspace = {});
}  // namespace on_emulator

}  // namespace gradcast
