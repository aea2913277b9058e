// A low-rank encoder: its memory, and the launches of the three calls.
#pragma once
#include <memory>

#include "kernels/device/gram.cuh"
#include "kernels/device/plan_low_rank.hpp"
#include "kernels/device/project.cuh"
#include "kernels/device/restore.cuh"
#include "kernels/device/scratch.cuh"

namespace gradcast::GRADCAST_DEVICE {

class LowRankEncoderHere final : public LowRankEncoder {
 public:
  LowRankEncoderHere(std::int64_t rank, Mode mode, const std::vector<LowRankTensor>& tensors,
                     const Workspace& workspace) {
    LowRankPlan plan = plan_low_rank(rank, mode, tensors);
    batch_.epsilon = epsilon_of(mode);
    batch_.always_orthonormal = mode == Mode::Code;
    q_blocks_ = static_cast<unsigned>(plan.q_segment.size());
    p_blocks_ = static_cast<unsigned>(plan.p_segment.size());
    applies_q_ = plan.applies_q;
    applies_p_ = plan.applies_p;
    project_blocks_ = static_cast<unsigned>(plan.project_segment.size());
    project_back_blocks_ = static_cast<unsigned>(plan.project_back_segment.size());
    restore_blocks_ = static_cast<unsigned>(plan.restore_segment.size());
    compresses_ = plan.compresses;
    memory_ = Scratch(workspace, [&](Carver& carver) { carve(carver, plan); });

    memory_.clear(tables_.round, sizeof *tables_.round);
    memory_.clear(tables_.done, 2 * plan.segments.size() * sizeof *tables_.done);
    upload_sums(p_sums_, plan.p_sums, plan.segments, &LowRankSegment::p_parts);
    upload_sums(q_sums_, plan.q_sums, plan.segments, &LowRankSegment::q_parts);
    memory_.upload(tables_.segments, plan.segments);
    memory_.upload(tables_.q_segment, plan.q_segment);
    memory_.upload(tables_.p_segment, plan.p_segment);
    memory_.upload(tables_.project_segment, plan.project_segment);
    memory_.upload(tables_.project_back_segment, plan.project_back_segment);
    memory_.upload(tables_.restore_segment, plan.restore_segment);
    load_kernel(prepare_thin<true>);
    load_kernel(prepare_thin<false>);
    load_kernel(apply_factor<true>);
    load_kernel(apply_factor<false>);
    load_kernel(project);
    load_kernel(project_back);
    load_kernel(add_parts);
    load_kernel(restore);
    load_kernel(store_round);
  }

  void first(void* stream_of_caller) override {
    const auto on = static_cast<Stream>(stream_of_caller);
    launch(prepare_thin<true>, {q_blocks_}, on, batch_);
    if (applies_q_) launch(apply_factor<true>, {q_blocks_}, on, batch_);
    launch(project, {project_blocks_}, on, batch_);
    add(p_sums_, on);
  }

  void second(void* stream_of_caller) override {
    if (!compresses_) return;
    const auto on = static_cast<Stream>(stream_of_caller);
    launch(prepare_thin<false>, {p_blocks_}, on, batch_);
    if (applies_p_) launch(apply_factor<false>, {p_blocks_}, on, batch_);
    launch(project_back, {project_back_blocks_}, on, batch_);
    add(q_sums_, on);
  }

  void finish(void* stream_of_caller) override {
    launch(restore, {restore_blocks_}, static_cast<Stream>(stream_of_caller), batch_);
  }

  void set_round(std::uint64_t round, void* stream_of_caller) override {
    launch(store_round, {1}, static_cast<Stream>(stream_of_caller), tables_.round, round);
  }

  std::int64_t scratch_bytes() const override { return memory_.bytes(); }
  int launches() const override {
    return 3 + (compresses_ ? 2 : 0) + (p_sums_.blocks > 0 ? 1 : 0) + (q_sums_.blocks > 0 ? 1 : 0) +
           (applies_q_ ? 1 : 0) + (applies_p_ ? 1 : 0);
  }

 private:
  /// The sums of parts that one launch makes.
  struct Sums {
    PartSum* sums;
    std::int32_t* block_sum;
    float* parts;
    unsigned blocks;
  };

  static void add(const Sums& all, Stream on) {
    if (all.blocks > 0)
      launch(add_parts, {all.blocks}, on, static_cast<const PartSum*>(all.sums),
             static_cast<const std::int32_t*>(all.block_sum));
  }

  static Sums carve_sums(Carver& carver, const PlannedSums& planned) {
    return {carver.take<PartSum>(planned.sums.size()),
            carver.take<std::int32_t>(planned.block_sum.size()),
            carver.take<float>(static_cast<std::size_t>(planned.numbers_of_parts)),
            static_cast<unsigned>(planned.block_sum.size())};
  }

  void carve(Carver& carver, LowRankPlan& plan) {
    batch_.segments = tables_.segments = carver.take<LowRankSegment>(plan.segments.size());
    batch_.q_segment = tables_.q_segment = carver.take<std::int32_t>(plan.q_segment.size());
    batch_.p_segment = tables_.p_segment = carver.take<std::int32_t>(plan.p_segment.size());
    batch_.project_segment = tables_.project_segment =
        carver.take<std::int32_t>(plan.project_segment.size());
    batch_.project_back_segment = tables_.project_back_segment =
        carver.take<std::int32_t>(plan.project_back_segment.size());
    batch_.restore_segment = tables_.restore_segment =
        carver.take<std::int32_t>(plan.restore_segment.size());
    batch_.round = tables_.round = carver.take<std::uint64_t>(1);
    p_sums_ = carve_sums(carver, plan.p_sums);
    q_sums_ = carve_sums(carver, plan.q_sums);
    tables_.done = carver.take<std::uint32_t>(2 * plan.segments.size());
    for (std::size_t i = 0; i < plan.segments.size(); ++i) {
      LowRankSegment& segment = plan.segments[i];
      const auto take = [&](std::int64_t doubles) {
        return carver.take<double>(static_cast<std::size_t>(doubles));
      };
      segment.columns_apart = take(plan.apart[i]);
      segment.gram_parts = take(plan.gram_parts[i]);
      segment.factor = take(kMostGramRank * kMostGramRank);
      segment.q_work.done = tables_.done + 2 * i;
      segment.p_work.done = tables_.done + 2 * i + 1;
    }
  }

  /// A segment's `parts_of` is P or Q itself at first, where its sum is to be. Parts of one sum
  /// lie behind those of the sum before it.
  void upload_sums(const Sums& to, const PlannedSums& planned,
                   std::vector<LowRankSegment>& segments, float* LowRankSegment::*parts_of) const {
    std::vector<PartSum> sums;
    float* parts = to.parts;
    for (std::size_t i = 0; i < planned.sums.size(); ++i) {
      const PlannedSum& sum = planned.sums[i];
      float*& of_segment = segments[sum.segment].*parts_of;
      sums.push_back({parts, of_segment, sum.numbers, sum.count, planned.first_block[i]});
      of_segment = parts;
      parts += sum.numbers * sum.count;
    }
    memory_.upload(to.sums, sums);
    memory_.upload(to.block_sum, planned.block_sum);
  }

  struct {
    LowRankSegment* segments;
    std::int32_t *q_segment, *p_segment, *project_segment, *project_back_segment, *restore_segment;
    std::uint64_t* round;
    std::uint32_t* done;
  } tables_{};  // what the host writes
  LowRankBatch batch_{};
  Sums p_sums_{}, q_sums_{};
  unsigned q_blocks_ = 0;
  unsigned p_blocks_ = 0;
  unsigned project_blocks_ = 0;
  unsigned project_back_blocks_ = 0;
  unsigned restore_blocks_ = 0;
  bool compresses_ = false;
  bool applies_q_ = false;
  bool applies_p_ = false;
  Scratch memory_;
};

/// The encoder of the compiler that reads this: one source file of each compiler includes it.
std::unique_ptr<LowRankEncoder> make_low_rank_encoder(std::int64_t rank, Mode mode,
                                                      const std::vector<LowRankTensor>& tensors,
                                                      const Workspace& workspace) {
  return std::make_unique<LowRankEncoderHere>(rank, mode, tensors, workspace);
}

}  // namespace gradcast::GRADCAST_DEVICE
