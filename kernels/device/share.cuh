// A block's share of the last kernel: parts of segments, its notes on them, and the meetings of all
// blocks.
#pragma once
#include "kernels/device/visit.cuh"

namespace gradcast::GRADCAST_DEVICE {

inline constexpr int kSharedNotes = 8;  // a block with more parts keeps its notes in global memory

/// The shared memory of a block's threads.
struct FinishShared {
  union {
    std::uint32_t bins[kRadixBins];
    Candidate list[kListed];
  };
  std::uint32_t few_bins[256];
  std::uint32_t offset[kBlockThreads];
  std::uint32_t added[kBlockThreads];
  Moments sums[kLanes];
  BlockScratch scratch;
  Notes notes[kSharedNotes];
};

/// A block's share of one segment.
struct Part {
  int which;   // segment
  int number;  // of the block's parts
  int first_group, end_group;
};

template <Rule kRule, Mode kMode>
class Share {
  using Visitor = TileVisitor<RuleTraits<kRule, kMode>::kRandomKeys>;

 public:
  __device__ Share(const Batch& batch, FinishShared& shared)
      : batch_(batch),
        shared_(shared),
        block_(static_cast<int>(blockIdx.x)),
        blocks_(static_cast<int>(gridDim.x)),
        notes_(batch.most_parts <= kSharedNotes
                   ? shared.notes
                   : batch.notes + static_cast<std::int64_t>(blockIdx.x) * batch.most_parts) {}

  __device__ const Batch& batch() const { return batch_; }
  __device__ FinishShared& shared() { return shared_; }
  __device__ int block() const { return block_; }
  __device__ int blocks() const { return blocks_; }

  /// Calls body(part) for each part, in order.
  template <class Body>
  __device__ void for_each_part(const Body& body) {
    const int end = batch_.shares[block_ + 1];
    int number = 0;
    for (int group = batch_.shares[block_]; group < end; ++number) {
      const int which = batch_.group_segment[group];
      const Segment& segment = batch_.segments[which];
      const int end_of_segment = segment.first_group + segment.groups;
      const Part part{which, number, group, end < end_of_segment ? end : end_of_segment};
      body(part);
      group = part.end_group;
    }
  }

  /// Waits for all blocks. Afterwards every block sees what the others wrote.
  __device__ void meet() {
    ++meetings_;
    block_barrier();
    if (threadIdx.x == 0) {
      memory_fence();
      add_atomic(batch_.meetings, 1);
      const std::uint32_t everybody = meetings_ * static_cast<std::uint32_t>(blocks_);
      while (read_now(batch_.meetings) < everybody) pause();
      memory_fence();
    }
    block_barrier();
  }

  __device__ const Segment& segment_of(const Part& part) const {
    return batch_.segments[part.which];
  }
  __device__ Notes& notes_of(const Part& part) { return notes_[part.number]; }
  __device__ SegmentFindings& findings_of(const Part& part) { return batch_.findings[part.which]; }
  __device__ Key floor_of(const Part& part) const { return batch_.first_threshold[part.which]; }

  __device__ bool is_unusual() const { return read_now(batch_.unusual) != 0; }

  /// True if a rule that takes a k decides: neither nothing nor everything is wanted.
  __device__ static bool is_ruled(const Segment& segment) {
    return kRule != Rule::Everything && kRule != Rule::Threshold && segment.k > 0 &&
           segment.k < segment.elements;
  }

  /// True for the last of the block's parts, whose segment may go on in the next block.
  __device__ bool is_last(const Part& part) const {
    return part.end_group == batch_.shares[block_ + 1];
  }
  __device__ static std::int64_t first_tile(const Part& part) {
    return static_cast<std::int64_t>(part.first_group) * kGroupTiles;
  }

  /// The sum of a part's segment over the blocks before, whose last part it is, and of what this
  /// block's threads add: `own`.
  __device__ std::uint32_t before(const Part& part, const std::uint32_t* of_blocks,
                                  std::uint32_t own) {
    const Segment& segment = segment_of(part);
    if (part.first_group == segment.first_group) return 0;
    for (int block = segment.first_block + static_cast<int>(threadIdx.x); block < block_;
         block += kBlockThreads)
      own += of_blocks[block];
    return block_scan(own, shared_.scratch).total;
  }

  /// Visits every tile of a part. Returns true if one had more candidates than slots.
  template <class Body>
  __device__ bool visit_part(const Part& part, bool reread, Body& body) {
    Visitor visitor(batch_, segment_of(part), reread);
    return visitor.visit(first_tile(part), (part.end_group - part.first_group) * kGroupTiles, body);
  }

 private:
  const Batch& batch_;
  FinishShared& shared_;
  int block_;
  int blocks_;
  Notes* notes_;
  std::uint32_t meetings_ = 0;
};

}  // namespace gradcast::GRADCAST_DEVICE
