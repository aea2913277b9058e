// A recording keeps a few words of each event of one rank's trace that say where time went. A trace
// of 2 GB has millions of events, so names are looked at once, and not kept.
#pragma once
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/import/kineto/event_reader.hpp"

namespace gradcast::kineto {

/// A number for a text, from 0 in the order of their coming.
class Names {
 public:
  Names() = default;
  Names(Names&&) = default;
  Names& operator=(Names&&) = default;

  std::uint32_t number_of(std::string_view text);
  const std::string& text(std::uint32_t number) const { return *texts_[number]; }
  std::size_t size() const { return texts_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<const std::string*> texts_;
};

/// Phase of a step, by the place of the launch.
enum class Phase : std::uint8_t { Forward, Backward, CopyBack, Update, ZeroGradients };

enum class CollectiveKind : std::uint8_t {
  None,
  AllReduce,
  Broadcast,
  AllGather,
  ReduceScatter,
  Reduce,
  AllToAll,
  SendReceive,
  Other,
};

/// "all-reduce", ...
std::string to_string(CollectiveKind kind);

struct Collective {
  CollectiveKind kind = CollectiveKind::Other;
  std::int64_t elements = -1;  // that one rank hands over; -1: not said
  int element_bytes = 0;       // 0: not said
  std::int64_t group_size = -1;
  std::uint32_t group = 0;  // what the group is for: a number of Recording::names
  bool whole_numbers = false;
};

/// A kernel, copy or memset.
struct GpuOperation {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::int64_t correlation = -1;
  std::int64_t size =
      -1;  // elements of an elementwise kernel, rounded up to its blocks; bytes of a copy
  Nanoseconds launched = 0;      // where its launch was found
  std::uint32_t stream = 0;      // a number of Recording::streams
  std::int32_t collective = -1;  // a number of Recording::collectives; -1: it is none
  std::uint32_t launch_thread = 0;
  bool linked = false;
  bool is_copy = false;
  bool recomputed = false;  // forward that the backward pass computes again
  Phase phase = Phase::Forward;
};

struct Launch {
  std::int64_t correlation = -1;
  Nanoseconds start = 0;
  std::uint32_t thread = 0;
};

enum class OperatorKind : std::uint8_t {
  Forward,         // with a sequence number, and of no gradient
  Backward,        // a node of the backward pass
  AccumulateGrad,  // a gradient is done
  MulOut,          // DDP copies a gradient into its bucket
  CopyBack,        // ... and back
  AllReduce,       // DDP hands over a bucket
  OptimizerStep,
  ZeroGradients,
};

struct Operator {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::int64_t sequence = -1;
  std::int64_t elements = -1;  // of AccumulateGrad: of the gradient. Of others: the first dimension
                               // of the input, the batch
  std::uint32_t name = 0;
  std::uint32_t thread = 0;
  OperatorKind kind = OperatorKind::Forward;
};

/// An annotation of the program: a step, or whatever else it marks.
struct Annotation {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::uint32_t name = 0;
  std::uint32_t thread = 0;
};

/// A call that adds or multiplies in place, as an optimizer's step does: "aten::_foreach_mul_".
struct InPlace {
  Nanoseconds start = 0;
  std::uint32_t thread = 0;
  bool multiplies = false;
};

struct Recording {
  std::string file;
  Head head;
  std::int64_t events = 0;
  Names names;
  Names threads;  // "process thread"
  Names streams;  // "device stream"
  std::deque<GpuOperation> gpu;
  std::deque<Launch> launches;
  std::deque<Operator> operators;
  std::deque<Annotation> annotations;
  std::deque<InPlace> in_place;
  std::vector<Collective> collectives;
  std::vector<std::int64_t> devices;  // on which kernels ran, each once
  bool on_host_to_all = false;        // an all-to-all was called
};

/// Reads a trace, in the order of the file. Throws DataError, MissingError.
Recording read_recording(const std::filesystem::path& path, const ReadEvents& read = read_events);

}  // namespace gradcast::kineto
