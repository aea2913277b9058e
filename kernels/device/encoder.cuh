// An encoder: its memory, and the launches of one encode.
#pragma once
#include <memory>

#include "kernels/device/finish.cuh"
#include "kernels/device/plan_batch.hpp"
#include "kernels/device/prepare.cuh"
#include "kernels/device/scratch.cuh"
#include "kernels/device/stream.cuh"

namespace gradcast::GRADCAST_DEVICE {

template <Rule kRule, Mode kMode>
class EncoderHere final : public Encoder {
  using Traits = RuleTraits<kRule, kMode>;

 public:
  EncoderHere(const std::vector<EncoderTensor>& tensors, const EncoderTuning& tuning,
              const Workspace& workspace) {
    BatchPlan plan = plan_batch(kRule, kMode, tensors, tuning);
    batch_.large = plan.large;
    batch_.small = plan.small;
    batch_.slots = plan.slots;
    batch_.sample_always = tuning.sample_always;
    batch_.groups = static_cast<int>(plan.group_segment.size());
    batch_.chunks = static_cast<int>(plan.chunk_segment.size());
    batch_.sample_blocks = static_cast<int>(plan.sample_block_segment.size());
    const int resident =
        tuning.finish_blocks > 0 ? tuning.finish_blocks : resident_blocks(finish<kRule, kMode>);
    finish_blocks_ = std::min(resident, batch_.groups);
    batch_.warp_tiles = warp_tiles();
    for (int i = 0; i < plan.large; ++i) {
      const Segment& segment = plan.segments[static_cast<std::size_t>(i)];
      samples_.push_back(segment.first_sample_block >= 0 ? 8 * segment.sample_runs : 0);
    }
    const std::vector<std::int32_t> shares = share_out(plan);
    batch_.most_parts = most_parts(plan, shares);

    memory_ = Scratch(workspace, [&](Carver& carver) { carve(carver, plan); });
    // The part that an encode clears for the next one. All other parts are written before they are
    // read.
    memory_.clear(batch_.sample_bins, bytes_between(batch_.sample_bins, batch_.fallback_bins));
    memory_.clear(tables_.round, sizeof *tables_.round);
    memory_.upload(tables_.segments, plan.segments);
    memory_.upload(batch_.first_threshold, plan.first_threshold);
    memory_.upload(tables_.group_segment, plan.group_segment);
    memory_.upload(tables_.chunk_segment, plan.chunk_segment);
    memory_.upload(tables_.sample_block_segment, plan.sample_block_segment);
    memory_.upload(tables_.shares, shares);
    load_kernel(prepare<kRule, kMode>);
    load_kernel(streaming());
    load_kernel(finish<kRule, kMode>);
    load_kernel(store_round);
  }

  void encode(void* stream_of_caller) override {
    const auto on = static_cast<Stream>(stream_of_caller);
    launch(prepare<kRule, kMode>, {prepare_blocks()}, on, batch_);
    if (batch_.large == 0) return;
    launch(streaming(), {stream_blocks()}, on, batch_);
    launch(finish<kRule, kMode>, {static_cast<unsigned>(finish_blocks_), true}, on, batch_);
  }

  void set_round(std::uint64_t round, void* stream_of_caller) override {
    launch(store_round, {1}, static_cast<Stream>(stream_of_caller), tables_.round, round);
  }

  EncoderWork work() const override {
    EncoderWork work;
    work.tile_elements = kTileElements;
    work.tiles = static_cast<std::int64_t>(batch_.groups) * kGroupTiles;
    const auto large = static_cast<std::size_t>(batch_.large);
    std::vector<std::uint32_t> held(static_cast<std::size_t>(work.tiles));
    std::vector<std::uint32_t> kept(large);
    download(held, batch_.tile_candidates);
    download(kept, batch_.keep_threshold);
    for (const std::uint32_t candidates : held) {
      const bool overflows = candidates > static_cast<std::uint32_t>(batch_.slots);
      work.tiles_reread += overflows ? 1 : 0;
      work.candidates += overflows ? 0 : candidates;
    }
    for (std::size_t i = 0; i < large; ++i) work.samples_next += kept[i] == 0 ? samples_[i] : 0;
    return work;
  }
  std::int64_t scratch_bytes() const override { return memory_.bytes(); }
  int launches() const override { return batch_.large == 0 ? 1 : 3; }

 private:
  static auto streaming() {
    return stream<Traits::kRandomKeys, Traits::kTakesMoments, Traits::kOfMagnitudes,
                  Traits::kMayRank>;
  }

  /// Two where warps would otherwise come more than once: at 4 M elements the stream then takes
  /// 93,475 cycles of a simulated V100 in place of 98,285. Below, more warps hide more latency.
  int warp_tiles() const {
    if (Traits::kTakesMoments) return kMomentTiles;
    const std::int64_t at_once = std::int64_t{resident_blocks(streaming())} * kBlockWarps;
    return static_cast<std::int64_t>(batch_.groups) * kGroupTiles >= 2 * at_once ? 2 : 1;
  }
  unsigned stream_blocks() const {
    return static_cast<unsigned>(batch_.groups * kGroupTiles / (kBlockWarps * batch_.warp_tiles));
  }

  /// One block for each small tensor, one for every 1024 samples, and enough blocks to clear the
  /// scratch memory quickly.
  unsigned prepare_blocks() const {
    constexpr std::int64_t kWordsOfBlock = 4 * kBlockThreads;
    const std::int64_t clearing = (batch_.cleared_words + kWordsOfBlock - 1) / kWordsOfBlock;
    return static_cast<unsigned>(std::max<std::int64_t>(
        {1, batch_.small + batch_.sample_blocks, std::min<std::int64_t>(clearing, 264)}));
  }

  /// Shares the groups out among the last kernel's blocks. The work of a block that is done once
  /// for each segment is estimated, not measured, to take as long as some 16 groups. So a segment
  /// counts that much more.
  std::vector<std::int32_t> share_out(BatchPlan& plan) const {
    constexpr std::int64_t kSegmentWeight = 16;
    const std::int64_t total = batch_.groups + kSegmentWeight * std::max(plan.large - 1, 0);
    std::vector<std::int32_t> shares(static_cast<std::size_t>(finish_blocks_) + 1, batch_.groups);
    std::int64_t weight = 0;
    std::int32_t block = -1;
    for (std::int32_t group = 0; group < batch_.groups; ++group) {
      Segment& segment = plan.segments[static_cast<std::size_t>(
          plan.group_segment[static_cast<std::size_t>(group)])];
      // Whichever it is, every block has a first one.
      if (group == segment.first_group && group > 0) weight += kSegmentWeight;
      const auto own = static_cast<std::int32_t>(weight * finish_blocks_ / total);
      while (block < own) shares[static_cast<std::size_t>(++block)] = group;
      if (group == segment.first_group) segment.first_block = block;
      ++weight;
    }
    return shares;
  }

  /// The largest number of segments in one block's share.
  static int most_parts(const BatchPlan& plan, const std::vector<std::int32_t>& shares) {
    int most = 1;
    for (std::size_t block = 0; block + 1 < shares.size(); ++block) {
      int parts = 0;
      for (auto g = static_cast<std::size_t>(shares[block]);
           g < static_cast<std::size_t>(shares[block + 1]); ++g)
        parts += g == static_cast<std::size_t>(shares[block]) ||
                         plan.group_segment[g] != plan.group_segment[g - 1]
                     ? 1
                     : 0;
      most = std::max(most, parts);
    }
    return most;
  }

  void carve(Carver& carver, const BatchPlan& plan) {
    const auto large = static_cast<std::size_t>(plan.large);
    const std::size_t tiles = plan.group_segment.size() * kGroupTiles;
    const auto blocks = static_cast<std::size_t>(finish_blocks_);
    constexpr std::size_t kRadixWords = std::size_t{kRadixLevels} * kRadixBins;
    batch_.segments = tables_.segments = carver.take<Segment>(plan.segments.size());
    batch_.group_segment = tables_.group_segment =
        carver.take<std::int32_t>(plan.group_segment.size());
    batch_.chunk_segment = tables_.chunk_segment =
        carver.take<std::int32_t>(plan.chunk_segment.size());
    batch_.sample_block_segment = tables_.sample_block_segment =
        carver.take<std::int32_t>(plan.sample_block_segment.size());
    batch_.shares = tables_.shares =
        carver.take<std::int32_t>(static_cast<std::size_t>(finish_blocks_) + 1);
    batch_.round = tables_.round = carver.take<std::uint64_t>(1);
    batch_.first_threshold = carver.take<Key>(large);

    const std::size_t before = carver.used();
    batch_.findings = carver.take<SegmentFindings>(large);
    batch_.candidate_bins = carver.take<std::uint32_t>(large * kCandidateBins);
    constexpr bool kSearches = Traits::kTakesSample || Traits::kDrawsFromTop;
    batch_.rule_bins = carver.take<std::uint32_t>(kSearches ? large * kRadixWords : 0);
    batch_.meetings = carver.take<std::uint32_t>(1);
    batch_.unusual = carver.take<std::uint32_t>(1);
    batch_.cleared = reinterpret_cast<std::uint32_t*>(batch_.findings);
    batch_.cleared_words =
        large > 0 ? static_cast<std::int64_t>((carver.used() - before) / sizeof(std::uint32_t)) : 0;

    batch_.sample_bins = carver.take<std::uint32_t>(large * kSampleBins);
    batch_.sample_done = carver.take<std::uint32_t>(large);
    batch_.keep_threshold = carver.take<std::uint32_t>(large);
    batch_.fallback_bins = carver.take<std::uint32_t>(large * kRadixWords);
    batch_.tile_candidates = carver.take<std::uint32_t>(tiles);
    batch_.candidates = carver.take<Candidate>(tiles * static_cast<std::size_t>(plan.slots));
    batch_.tile_selected = carver.take<std::uint32_t>(tiles);
    batch_.listed = carver.take<Candidate>(Traits::kMayRank ? large * kListed : 0);
    batch_.tile_moments = carver.take<Moments>(
        Traits::kTakesMoments ? plan.group_segment.size() * kGroupMomentTiles : 0);
    batch_.chunk_moments =
        carver.take<Moments>(Traits::kTakesMoments ? plan.chunk_segment.size() : 0);
    batch_.block_totals = carver.take<std::uint32_t>(blocks);
    batch_.block_ties = carver.take<std::uint32_t>(blocks);
    batch_.notes = carver.take<Notes>(blocks * static_cast<std::size_t>(batch_.most_parts));
  }

  static std::size_t bytes_between(const void* begin, const void* end) {
    return static_cast<std::size_t>(static_cast<const char*>(end) -
                                    static_cast<const char*>(begin));
  }

  template <class T>
  static void download(std::vector<T>& to, const T* from) {
    if (!to.empty()) download_bytes(to.data(), from, to.size() * sizeof(T));
  }

  struct {
    Segment* segments;
    std::int32_t *group_segment, *chunk_segment, *sample_block_segment, *shares;
    std::uint64_t* round;
  } tables_{};  // what the kernels only read, and the host writes
  Batch batch_{};
  std::vector<std::int64_t> samples_;  // of the large segments
  int finish_blocks_ = 0;
  Scratch memory_;
};

template <Rule kRule, Mode kMode>
std::unique_ptr<Encoder> make(const std::vector<EncoderTensor>& tensors,
                              const EncoderTuning& tuning, const Workspace& workspace) {
  return std::make_unique<EncoderHere<kRule, kMode>>(tensors, tuning, workspace);
}

/// Every rule and mode there is. Trimmed's exact final select makes its trimming invisible in the
/// result, so in mode Paper it is Top-k.
inline std::unique_ptr<Encoder> make_encoder_here(Rule rule, Mode mode,
                                                  const std::vector<EncoderTensor>& tensors,
                                                  const EncoderTuning& tuning,
                                                  const Workspace& workspace) {
  const bool paper = mode == Mode::Paper;
  const bool two_modes = rule == Rule::Dgc || rule == Rule::Gaussian || rule == Rule::Trimmed;
  if (two_modes != (mode != Mode::Only))
    throw std::invalid_argument("the mode does not fit the rule");
  switch (rule) {
    case Rule::Everything:
      return make<Rule::Everything, Mode::Only>(tensors, tuning, workspace);
    case Rule::Topk:
      return make<Rule::Topk, Mode::Only>(tensors, tuning, workspace);
    case Rule::Randk:
      return make<Rule::Randk, Mode::Only>(tensors, tuning, workspace);
    case Rule::Dgc:
      return paper ? make<Rule::Dgc, Mode::Paper>(tensors, tuning, workspace)
                   : make<Rule::Dgc, Mode::Code>(tensors, tuning, workspace);
    case Rule::Gaussian:
      return paper ? make<Rule::Gaussian, Mode::Paper>(tensors, tuning, workspace)
                   : make<Rule::Gaussian, Mode::Code>(tensors, tuning, workspace);
    case Rule::Trimmed:
      return paper ? make<Rule::Topk, Mode::Only>(tensors, tuning, workspace)
                   : make<Rule::Trimmed, Mode::Code>(tensors, tuning, workspace);
    case Rule::Rtopk:
      return make<Rule::Rtopk, Mode::Only>(tensors, tuning, workspace);
    case Rule::Threshold:
      return make<Rule::Threshold, Mode::Only>(tensors, tuning, workspace);
  }
  throw std::invalid_argument("no such rule");
}

}  // namespace gradcast::GRADCAST_DEVICE
