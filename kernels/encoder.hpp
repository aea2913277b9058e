// Encoders: each encodes a fixed list of tensors by one set of launches. An encoder is made once,
// which allocates memory and uploads tables. It is then called every iteration, which does neither,
// never waits for the device, and can be captured in a CUDA graph. Both C++ and CUDA read this
// file: C++17.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/rule.hpp"
#include "kernels/selection.hpp"
#include "kernels/value_type.hpp"
#include "kernels/workspace.hpp"

namespace gradcast {

/// A tensor and the place of its selection. All pointers point to device memory, aligned to a
/// number (to four of them is faster). Gradient and residual do not overlap.
struct EncoderTensor {
  ConstNumbers gradient;      // [elements]
  float* residual = nullptr;  // [elements], read and written
  std::int64_t elements = 0;  // 1 to 2^31-1
  std::int64_t k = 0;
  std::uint64_t seed = 0;
  std::int64_t candidates = 0;      // rTop-k's r; 0: 5 k
  float* values = nullptr;          // [capacity]
  std::int32_t* indices = nullptr;  // [capacity]
  std::int64_t capacity = 0;        // k is enough where the compressor selects exactly k
  std::int64_t* count = nullptr;    // how many were sent
  std::uint32_t* status = nullptr;  // Status bits
  float threshold = 0;              // Selection::threshold
  /// Values of 16 bits are written to `codes`, and `values` may be nullptr.
  ValueType value_type = ValueType::Fp32;
  std::uint16_t* codes = nullptr;  // [capacity]
};

/// Options for tests, which force rare cases, and for measurements. They never change the answer.
struct EncoderTuning {
  int slots = 0;                         // candidates a tile holds: 1, 2, 4, ... 256; 0: as fits k
  std::optional<Key> first_threshold{};  // instead of a sampled one
  /// Blocks of the last kernel; 0: as many as the device holds at once, two on each multiprocessor.
  /// They wait for one another, so all must be resident: where other kernels hold multiprocessors
  /// for long (NCCL's do, while they wait for other ranks), the last kernel waits for them. Fewer
  /// blocks leave it room.
  int finish_blocks = 0;
  /// Samples a new threshold in every encode, as the first one does.
  bool sample_always = false;
};

/// Work of the last encode, beyond what every encode does.
struct EncoderWork {
  std::int64_t tiles = 0;  // of all large tensors
  std::int64_t tile_elements = 0;
  std::int64_t tiles_reread = 0;  // with more candidates than slots
  std::int64_t candidates = 0;    // written into slots
  std::int64_t samples_next = 0;  // elements that the next encode will sample for its thresholds
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  /// Enqueues one encode of all tensors. `stream` is a cudaStream_t (CUDA) or a const
  /// emulator::Schedule* (emulator). One call at a time: the scratch memory is the encoder's.
  virtual void encode(void* stream) = 0;
  /// Sets a number that is added to every tensor's seed from the next encode on, so that random
  /// draws can differ from iteration to iteration. It is enqueued; a captured graph reads the value
  /// at the time it runs.
  virtual void set_round(std::uint64_t round, void* stream) = 0;
  /// Waits for the device. For measurements and tests.
  virtual EncoderWork work() const = 0;
  virtual std::int64_t scratch_bytes() const = 0;
  virtual int launches() const = 0;
};

/// One worker's sparse gradient in device memory; `count` is read on the device.
struct DecoderSet {
  const float* values = nullptr;
  const std::int32_t* indices = nullptr;  // rising
  const std::int64_t* count = nullptr;
  /// Type of the values. Values of 16 bits are in `codes`, in place of `values`.
  ValueType value_type = ValueType::Fp32;
  const std::uint16_t* codes = nullptr;
};

/// A dense gradient and what the workers sent of it.
struct DecoderTensor {
  Numbers dense;  // [elements], written
  std::int64_t elements = 0;
  std::vector<DecoderSet> sets;  // as many for every tensor of a decoder
  float factor = 1;              // on the sum: 1 / workers makes it a mean
};

/// Adds sparse sets into dense gradients, for all tensors in one launch. It adds in the order of
/// the workers, so that the result has the same bits every time.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// dense = factor x the sum of all sets. An element that no set names is +0. An index outside is
  /// ignored.
  virtual void decode(void* stream) = 0;
};

/// Two sets of one value type, and the place of the k largest of their sum.
struct MergedSets {
  DecoderSet first, second;
  std::int64_t most = 0;            // pairs that a set may have; 1 to 2^30-1
  std::int64_t k = 0;               // 1 to 2^31-1
  float* values = nullptr;          // [k]; values of 16 bits are written to `codes`
  std::uint16_t* codes = nullptr;   // [k]
  std::int32_t* indices = nullptr;  // [k]
  std::int64_t* count = nullptr;    // at most k
};

/// A step of gTop-k's tree: of the sum of two sets the k largest in magnitude, of equals those of
/// the lowest indices, by rising index; fewer where the sets name fewer elements. An index of
/// 2^31-1 ends a set. Shi et al., ICDCS 2019, Algorithm 2.
class Merger {
 public:
  virtual ~Merger() = default;
  virtual void merge(void* stream) = 0;
};

/// A gradient and its velocity; and of what was sent of that the indices, if they are to be masked.
struct MomentumTensor {
  ConstNumbers gradient;                  // [elements]
  float* velocity = nullptr;              // [elements], read and written
  std::int64_t elements = 0;              // 1 to 2^31-1
  const std::int32_t* indices = nullptr;  // [count]; an index outside is ignored
  const std::int64_t* count = nullptr;    // on the device
};

/// DGC's momentum: Lin et al., ICLR 2018, sections 3.1 and 3.2.
class Momentum {
 public:
  virtual ~Momentum() = default;
  /// velocity = momentum x velocity + gradient, rounded twice.
  virtual void correct(void* stream) = 0;
  /// velocity = 0 at the indices.
  virtual void mask(void* stream) = 0;
};

/// Throw std::invalid_argument for invalid tensors, std::runtime_error if the device fails.
namespace on_cuda {
std::unique_ptr<Encoder> make_encoder(Rule rule, Mode mode,
                                      const std::vector<EncoderTensor>& tensors,
                                      const EncoderTuning& tuning = {},
                                      const Workspace& workspace = {});
std::unique_ptr<Decoder> make_decoder(const std::vector<DecoderTensor>& tensors,
                                      const Workspace& workspace = {});
std::unique_ptr<Merger> make_merger(const MergedSets& sets, const Workspace& workspace = {});
std::unique_ptr<Momentum> make_momentum(float momentum, const std::vector<MomentumTensor>& tensors);
}  // namespace on_cuda

namespace on_emulator {
std::unique_ptr<Encoder> make_encoder(Rule rule, Mode mode,
                                      const std::vector<EncoderTensor>& tensors,
                                      const EncoderTuning& tuning = {},
                                      const Workspace& workspace = {});
std::unique_ptr<Decoder> make_decoder(const std::vector<DecoderTensor>& tensors,
                                      const Workspace& workspace = {});
std::unique_ptr<Merger> make_merger(const MergedSets& sets, const Workspace& workspace = {});
std::unique_ptr<Momentum> make_momentum(float momentum, const std::vector<MomentumTensor>& tensors);
}  // namespace on_emulator

}  // namespace gradcast
