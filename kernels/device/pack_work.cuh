// Parts that packers of all kinds have: the memory of one rule's kernels, and the launches that
// take moments.
#pragma once
#include "kernels/device/measure.cuh"
#include "kernels/device/plan_pack.hpp"
#include "kernels/device/scratch.cuh"

namespace gradcast::GRADCAST_DEVICE {

template <PackRule kRule>
class PackWork {
  /// Scales of blocks are found by the kernel that codes.
  static constexpr bool kMeasures =
      PackTraits<kRule>::kMoments != MomentsOf::Nothing && kRule != PackRule::Int8;

 public:
  /// `bits`: of what is sent of an element.
  PackWork(double parameter, int bits, PackPlan plan, const Workspace& workspace) {
    batch_.parameter = parameter;
    batch_.bits = bits;
    batch_.blocks = plan.blocks;
    blocks_ = static_cast<unsigned>(plan.block_segment.size());
    measuring_blocks_ = static_cast<unsigned>(plan.measuring_block_segment.size());
    memory_ = Scratch(workspace, [&](Carver& carver) { carve(carver, plan); });

    const std::size_t segments = plan.segments.size();
    memory_.clear(tables_.round, sizeof *tables_.round);
    memory_.clear(batch_.found, segments * sizeof *batch_.found);
    memory_.clear(batch_.done, segments * sizeof *batch_.done);
    for (std::size_t i = 0; i < segments; ++i)
      if (plan.segments[i].shared_scale != nullptr)
        plan.segments[i].own_scale = tables_.own_scales + i;
    for (std::size_t i = 0; kMeasures && i < segments; ++i) {
      plan.segments[i].tile_moments = tables_.moments + plan.tile_moments[i];
      plan.segments[i].parts_of_moments = tables_.moments + plan.parts_of_moments[i];
    }
    memory_.upload(tables_.segments, plan.segments);
    memory_.upload(tables_.block_segment, plan.block_segment);
    memory_.upload(tables_.measuring_block_segment, plan.measuring_block_segment);
    for (std::size_t level = 0; level < levels_.size(); ++level)
      memory_.upload(levels_[level].trees, trees_of(plan.levels[level]));
    load_kernel(store_round);
    if constexpr (kMeasures) load_kernel(gradcast::GRADCAST_DEVICE::measure<kRule>);
    if constexpr (kMeasures) load_kernel(add_moments);
  }

  /// All moments but for the last tree of each tensor.
  void measure(Stream on) const {
    if constexpr (kMeasures)
      launch(gradcast::GRADCAST_DEVICE::measure<kRule>, {measuring_blocks_}, on, batch_);
    for (const Level& level : levels_)
      launch(add_moments, {level.blocks}, on, static_cast<const MomentTree*>(level.trees));
  }
  int measuring_launches() const { return kMeasures ? 1 + static_cast<int>(levels_.size()) : 0; }

  void set_round(std::uint64_t round, Stream on) const {
    launch(store_round, {1}, on, tables_.round, round);
  }

  const PackBatch& batch() const { return batch_; }
  /// Number of blocks, each of which codes a part or a unit.
  unsigned blocks() const { return blocks_; }
  std::int64_t bytes() const { return memory_.bytes(); }

 private:
  /// Trees that one launch adds.
  struct Level {
    MomentTree* trees;
    unsigned blocks;
  };

  void carve(Carver& carver, const PackPlan& plan) {
    const std::size_t segments = plan.segments.size();
    batch_.segments = tables_.segments = carver.take<PackSegment>(segments);
    batch_.block_segment = tables_.block_segment =
        carver.take<std::int32_t>(plan.block_segment.size());
    batch_.measuring_block_segment = tables_.measuring_block_segment =
        carver.take<std::int32_t>(plan.measuring_block_segment.size());
    batch_.round = tables_.round = carver.take<std::uint64_t>(1);
    batch_.found = carver.take<std::uint32_t>(segments);
    batch_.done = carver.take<std::uint32_t>(segments);
    tables_.own_scales = carver.take<float>(segments);
    tables_.moments = carver.take<Moments>(static_cast<std::size_t>(plan.moments));
    levels_.clear();
    for (const std::vector<PlannedTree>& trees : plan.levels)
      levels_.push_back(
          {carver.take<MomentTree>(trees.size()), static_cast<unsigned>(trees.size())});
  }

  std::vector<MomentTree> trees_of(const std::vector<PlannedTree>& planned) const {
    std::vector<MomentTree> trees;
    for (const PlannedTree& tree : planned)
      trees.push_back({tables_.moments + tree.from, tables_.moments + tree.to, tree.count});
    return trees;
  }

  struct {
    PackSegment* segments;
    std::int32_t *block_segment, *measuring_block_segment;
    std::uint64_t* round;
    float* own_scales;
    Moments* moments;
  } tables_{};  // what the kernels only read, and the host writes; and their moments
  PackBatch batch_{};
  std::vector<Level> levels_;
  unsigned blocks_ = 0;
  unsigned measuring_blocks_ = 0;
  Scratch memory_;
};

}  // namespace gradcast::GRADCAST_DEVICE
