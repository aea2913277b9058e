// What the kernels of one encode share: the tensors, how they are cut up, and the scratch memory.
//
//   segment   one tensor. Those of at most 8192 elements are small: one block does all of each.
//   group     8192 elements of a large segment: a block of the streaming kernel, 8 tiles
//   tile      1024 elements: a warp, and a row of slots for its candidates
//   chunk     256 tiles, whose moments are added in one tree
//
// Segments, groups and tiles are numbered through all large segments; a segment's last group may
// have tiles past its end, which are empty.
#pragma once
#include "kernels/device/radix.cuh"
#include "kernels/device/rules.cuh"

namespace gradcast::GRADCAST_DEVICE {

inline constexpr int kGroupTiles = kBlockWarps;
inline constexpr int kGroupElements = kGroupTiles * kTileElements;
inline constexpr int kSmallElements = kGroupElements;
inline constexpr int kBlockSamples = 4096;  // that one block looks at before the stream

// Histograms of keys. Sampled: 16 bins an octave.
inline constexpr int kSampleShift = 19;
inline constexpr int kSampleBins = 4096;
inline constexpr int kCandidateBins = 4096;
/// The candidates' histogram goes from the threshold up, with all larger keys in the last bin. A
/// second histogram has every key of one such bin. Magnitudes: 1024 bins an octave, so four
/// octaves. Random keys: the top 1/32 of all keys, which holds the candidates if one in 40 elements
/// or fewer is wanted.
template <bool kRandomKeys>
struct CandidateBins {
  static constexpr int kShift = kRandomKeys ? 15 : 13;
  static constexpr int kLow = 1 << kShift;

  __device__ static std::uint32_t of(Key key, Key floor) {
    const std::uint32_t bin = (key - floor) >> kShift;
    return bin < kCandidateBins ? bin : kCandidateBins - 1;
  }
};
// A radix select of whole keys: 12, 12 and 8 bits.
inline constexpr int kRadixBins = 4096;
inline constexpr int kRadixLevels = 3;

/// A tensor as the host describes it.
struct Segment {
  const float* gradient;
  float* residual;
  float* values;
  std::int32_t* indices;
  std::int64_t* count;
  std::uint32_t* status;
  std::int64_t elements;
  std::int64_t k;          // 0 to elements
  std::int64_t draw_from;  // rTop-k's r
  std::int64_t capacity;
  std::uint64_t seed;
  double quantile;  // Gaussian-k's
  Sample sample;    // DGC's
  std::int64_t sample_rank;
  bool aligned;  // gradient and residual to 16 bytes
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

/// The findings about a segment, cleared before each encode.
struct SegmentFindings {
  std::uint32_t path;                       // Status bits
  std::uint32_t counts[Thresholds::kMost];  // among the candidates, at or above each threshold
  std::uint32_t exact_counts[Thresholds::kMost];  // in all of u
};

/// A block's own notes on the part of a segment that it works on.
struct Notes {
  Thresholds thresholds;
  Selected selected;
  std::uint32_t rank;        // wanted of the k largest; 0: decided by a threshold
  std::uint32_t bin, above;  // of the candidates' histogram
  bool needs_counts;         // Decision::Unknown
  bool needs_radix;          // more than the candidates can tell
  bool rereads;              // the selection reaches below the candidates
  RadixSearch radix;
};

/// The totals of a block's last part, with which the next blocks continue.
struct BlockTotal {
  std::uint32_t above, ties;
};

struct Batch {
  const Segment* segments;  // large ones first
  int large, small;
  int groups, chunks, sample_blocks;
  const std::int32_t* group_segment;
  const std::int32_t* chunk_segment;
  const std::int32_t* sample_block_segment;
  int slots;  // of a tile, a power of two up to 32

  // Cleared by the first kernel of an encode.
  std::uint32_t* cleared;
  std::int64_t cleared_words;
  SegmentFindings* findings;      // [large]
  std::uint32_t* candidate_bins;  // [large][kCandidateBins]
  std::uint32_t* low_bins;        // [large][CandidateBins::kLow]
  std::uint32_t* rule_bins;       // [large][kRadixLevels][kRadixBins]: DGC, rTop-k
  std::uint32_t* meetings;        // of the last kernel's blocks
  std::uint32_t* unusual;         // some segment cannot be answered from its candidates

  const std::int32_t* shares;  // of the last kernel's blocks: first groups, and the end
  // A threshold that caught well is kept for the next encode. Otherwise a new sample is taken.
  std::uint32_t* keep_threshold;  // [large]

  // Cleared by the last kernel for the next encode.
  std::uint32_t* sample_bins;  // [large][kSampleBins]
  std::uint32_t* sample_done;  // [large] blocks

  std::uint32_t* fallback_bins;    // [large][kRadixLevels][kRadixBins], cleared when needed
  Key* first_threshold;            // [large]
  std::uint32_t* tile_candidates;  // [tiles], may be more than slots
  Candidate* candidates;           // [tiles][slots], by rising index
  std::uint32_t* tile_selected;    // [tiles] above | ties << 16
  std::uint32_t* tile_ties;        // [tiles] ties in the segment's tiles before
  Moments* tile_moments;           // [tiles]
  Moments* chunk_moments;          // [chunks]
  BlockTotal* block_totals;        // [blocks of the last kernel]
  Notes* notes;                    // [blocks of the last kernel][most_parts]
  int most_parts;
  const std::uint64_t* round;  // added to the seeds
};

GRADCAST_BOTH std::int64_t tiles_of(const Segment& segment) {
  return static_cast<std::int64_t>(segment.groups) * kGroupTiles;
}

template <bool kRandomKeys>
__device__ __forceinline__ Key key_of(float u, std::uint64_t seed, std::int64_t index) {
  return kRandomKeys ? random_key(seed, static_cast<std::uint32_t>(index)) : magnitude_key(u);
}

/// One element's part in the moments.
template <bool kOfMagnitudes>
__device__ __forceinline__ void take(Moments& moments, float u) {
  const Key key = magnitude_key(u);
  if (key >= kInfinityKey) {
    ++moments.unfinite;
    return;
  }
  const double value = static_cast<double>(kOfMagnitudes ? float_of(key) : u);
  moments.sum += value;
  if (!kOfMagnitudes) moments.squares += value * value;
  if (kOfMagnitudes && key > moments.largest) moments.largest = key;
}

}  // namespace gradcast::GRADCAST_DEVICE
