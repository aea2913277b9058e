// Data that the kernels of one encode share: the tensors, their division, and the scratch memory.
//
//   segment      one tensor. Those of at most 8192 elements are small: one block does all of each.
//   group        8192 elements of a large segment, 16 tiles: a unit of the last kernel's shares
//   tile         512 elements: a warp of the streaming kernel, and its slots for candidates
//   moment tile  1024 elements, two tiles, whose moments one warp adds up
//   chunk        256 moment tiles, whose moments are added in one tree
//
// Segments, groups and tiles are numbered through all large segments; a segment's last group may
// have tiles past its end, which are empty. Tiles begin `pad` elements before the segment, at an
// address of 16 bytes.
#pragma once
#include "kernels/device/numbers.cuh"
#include "kernels/device/radix.cuh"
#include "kernels/device/rules.cuh"
#include "kernels/value_type.hpp"

namespace gradcast::GRADCAST_DEVICE {

inline constexpr int kTileElements = 512;
inline constexpr int kGroupTiles = 16;
inline constexpr int kGroupElements = kGroupTiles * kTileElements;
inline constexpr int kGroupMomentTiles = kGroupElements / kMomentElements;
inline constexpr int kSmallElements = kGroupElements;
inline constexpr int kBlockSamples = 1024;  // that one block looks at before the stream
/// Slots of a tile: a power of two up to this.
inline constexpr int kMostSlots = 256;
/// Candidates of one bin that are listed, so that every block finds the last one that is sent.
inline constexpr int kListed = 4096;

// Histograms of keys. Sampled: 16 bins an octave.
inline constexpr int kSampleShift = 19;
inline constexpr int kSampleBins = 4096;
inline constexpr int kCandidateBins = 4096;
/// The candidates' histogram goes from the threshold up, with all larger keys in the last bin.
/// Magnitudes: 1024 bins an octave, so four octaves. Random keys: as fine as all keys fit in.
template <bool kRandomKeys>
struct CandidateBins {
  static constexpr int kBits = kRandomKeys ? 24 : 16;  // enough for what is within a bin
  Key floor;
  int shift;

  explicit __device__ CandidateBins(Key threshold) : floor(threshold), shift(13) {
    if (kRandomKeys) {
      const int bits = kLanes - leading_zeros(~threshold);
      shift = bits > 12 ? bits - 12 : 0;
    }
  }
  __device__ std::uint32_t of(Key key) const {
    const std::uint32_t bin = (key - floor) >> shift;
    return bin < kCandidateBins ? bin : kCandidateBins - 1;
  }
  /// The least key of a bin.
  __device__ Key from(std::uint32_t bin) const { return floor + (bin << shift); }
};
// A radix select of whole keys: 12, 12 and 8 bits.
inline constexpr int kRadixBins = 4096;
inline constexpr int kRadixLevels = 3;

/// A tensor as the host describes it.
struct Segment {
  ConstNumbers gradient;
  float* residual;
  float* values;
  std::int32_t* indices;
  std::int64_t* count;
  std::uint32_t* status;
  std::int64_t elements;
  std::int64_t k;          // 0 to elements
  std::int64_t draw_from;  // rTop-k's r
  std::int64_t capacity;
  Key least;  // that a fixed threshold sends
  ValueType value_type;
  std::uint16_t* codes;  // in place of values, where these have 16 bits
  std::uint64_t seed;
  double quantile;  // Gaussian-k's
  Sample sample;    // DGC's
  std::int64_t sample_rank;
  bool aligned;      // gradient and residual to four elements, from `pad` before their first on
  std::int32_t pad;  // 0 to 3
  std::int32_t first_group;
  std::int32_t groups;
  std::int32_t first_block;  // of the last kernel's blocks, the first that has a share of it
  std::int32_t first_chunk;
  // The sample before the stream: `first_sample_block` is -1 where the threshold is given.
  Key given_threshold;
  std::int32_t first_sample_block;
  std::int32_t sample_blocks;
  std::int32_t sample_runs;     // of 8 neighbours
  std::int32_t sample_stride;   // runs in a stratum
  std::uint32_t sample_wanted;  // of the sample, at or above the threshold
  double planned_catch;         // candidates that the sample aims at
};

/// Writes a value that is sent to its place in the output. Returns what stays of it.
__device__ __forceinline__ float send_value(const Segment& segment, std::int64_t at, float value,
                                            std::uint32_t index) {
  segment.indices[at] = static_cast<std::int32_t>(index);
  if (segment.value_type == ValueType::Fp32) {
    segment.values[at] = value;
    return 0.0f;
  }
  const std::uint16_t code = code_of_value(segment.value_type, value);
  segment.codes[at] = code;
  return residual_of(value, value_of_code(segment.value_type, code));
}

/// The findings about a segment, cleared before each encode.
struct SegmentFindings {
  std::uint32_t path;                       // Status bits
  std::uint32_t listed;                     // candidates of the bin that holds the wanted rank
  std::uint32_t last_tie;                   // index of the last element sent of several equals
  std::uint32_t counts[Thresholds::kMost];  // among the candidates, at or above each threshold
  std::uint32_t exact_counts[Thresholds::kMost];  // in all of u
};

/// The elements sent of a segment: keys above `key`, and its equals with an index below `end`.
struct Cut {
  Key key;
  std::uint32_t end;
};
inline constexpr std::uint32_t kNoEnd = 0xffffffffu;
__device__ __forceinline__ Cut cut_from(Key least) { return {least, kNoEnd}; }
__device__ __forceinline__ Cut cut_nothing() { return {kLargestKey, 0}; }

/// A block's own notes on the part of a segment that it works on.
struct Notes {
  Thresholds thresholds;
  Cut cut;
  Key listed_from;          // keys from here to below the cut's are listed
  std::uint32_t list_rank;  // wanted of the listed ones; 0: nothing is listed
  std::uint32_t listed;     // how many they are
  std::uint32_t ties;       // wanted of those equal to the cut's key, where not all are
  bool needs_counts;        // Decision::Unknown
  bool needs_radix;         // more than the candidates' histogram can tell
  bool needs_ties;          // which of the equals are sent is not known yet
  bool rereads;             // the selection reaches below the candidates
  RadixSearch radix;

  /// True if the cut is known only after falling back, during it and afterwards.
  __device__ bool falls_back() const { return needs_counts || needs_radix || needs_ties; }
};

struct Batch {
  const Segment* segments;  // large ones first
  int large, small;
  int groups, chunks, sample_blocks;
  const std::int32_t* group_segment;
  const std::int32_t* chunk_segment;
  const std::int32_t* sample_block_segment;
  int slots;       // of a tile
  int warp_tiles;  // that a warp of the streaming kernel takes, where it adds no moments: 1 or 2

  // Cleared by the first kernel of an encode.
  std::uint32_t* cleared;
  std::int64_t cleared_words;
  SegmentFindings* findings;      // [large]
  std::uint32_t* candidate_bins;  // [large][kCandidateBins]
  std::uint32_t* rule_bins;       // [large][kRadixLevels][kRadixBins]: DGC, rTop-k
  std::uint32_t* meetings;        // of the last kernel's blocks
  std::uint32_t* unusual;         // some segment's candidates and list do not tell its selection

  const std::int32_t* shares;  // of the last kernel's blocks: first groups, and the end
  // A threshold that caught well is kept for the next encode. Otherwise a new sample is taken.
  std::uint32_t* keep_threshold;  // [large]
  bool sample_always;

  // Cleared by the last kernel for the next encode.
  std::uint32_t* sample_bins;  // [large][kSampleBins]
  std::uint32_t* sample_done;  // [large] blocks

  std::uint32_t* fallback_bins;    // [large][kRadixLevels][kRadixBins], cleared when needed
  Key* first_threshold;            // [large]
  std::uint32_t* tile_candidates;  // [tiles], may be more than slots
  Candidate* candidates;           // [tiles][slots], by rising index
  Candidate* listed;               // [large][kListed]
  std::uint32_t* tile_selected;    // [tiles]
  Moments* tile_moments;           // [moment tiles]
  Moments* chunk_moments;          // [chunks]
  std::uint32_t* block_totals;     // [blocks of the last kernel] sent of the block's last part
  std::uint32_t* block_ties;       // [blocks of the last kernel] ties in it
  Notes* notes;                    // [blocks of the last kernel][most_parts]
  int most_parts;
  const std::uint64_t* round;  // added to the seeds
};

GRADCAST_BOTH std::int64_t moment_tiles_of(const Segment& segment) {
  return static_cast<std::int64_t>(segment.groups) * kGroupMomentTiles;
}

/// The first element of a tile: below 0 where it begins before its segment.
GRADCAST_BOTH std::int64_t first_of_tile(const Segment& segment, std::int64_t tile) {
  return (tile - static_cast<std::int64_t>(segment.first_group) * kGroupTiles) * kTileElements -
         segment.pad;
}

template <bool kRandomKeys>
__device__ __forceinline__ Key key_of(float u, std::uint64_t seed, std::int64_t index) {
  return kRandomKeys ? random_key(seed, static_cast<std::uint32_t>(index)) : magnitude_key(u);
}

}  // namespace gradcast::GRADCAST_DEVICE
