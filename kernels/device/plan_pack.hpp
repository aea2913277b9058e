// Divides a list of tensors for the packing kernels. It is plain arithmetic, done once on the host.
#pragma once
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/device/block_table.hpp"
#include "kernels/device/pack_batch.cuh"
#include "kernels/packer.hpp"

namespace gradcast::GRADCAST_DEVICE {

/// A MomentTree, by numbers of moments in place of addresses.
struct PlannedTree {
  std::int64_t from;
  std::int64_t to;
  std::int32_t count;
};

struct PackPlan {
  std::vector<PackSegment> segments;
  std::vector<std::int32_t> block_segment, measuring_block_segment;
  // By segment: the first of its moment tiles, and the first of the moments that its last tree
  // adds.
  std::vector<std::int64_t> tile_moments, parts_of_moments;
  std::vector<std::vector<PlannedTree>> levels;  // before the last trees: one launch each
  std::int64_t moments = 0;
  BlockScales blocks{};
};

inline void require_parameter(PackRule rule, double parameter) {
  const auto whole_in = [&](double least, double most) {
    return parameter >= least && parameter <= most &&
           parameter == static_cast<double>(static_cast<std::int64_t>(parameter));
  };
  if (rule == PackRule::Terngrad && !(parameter >= 0))
    throw std::invalid_argument("elements are clipped at a number of deviations, 0 or more");
  if (rule == PackRule::Qsgd && !whole_in(1, 32767))
    throw std::invalid_argument("levels are a whole number from 1 to 32767");
  if (rule == PackRule::Int8 && !whole_in(32, 65536))
    throw std::invalid_argument("elements of a block are a whole number from 32 to 65536");
}

/// Units of up to 2048 elements where blocks allow that.
inline BlockScales plan_blocks(double parameter) {
  const auto elements = static_cast<std::int32_t>(parameter);
  const std::int32_t together = 4 / std::gcd(elements, 4);  // blocks that end with a word
  const std::int32_t sets = std::max(kPartElements / (together * elements), 1);
  const std::uint64_t reciprocal =
      ((std::uint64_t{1} << 34) + static_cast<std::uint64_t>(elements) - 1) /
      static_cast<std::uint64_t>(elements);
  return {elements, sets * together * elements, static_cast<std::uint32_t>(reciprocal)};
}

/// The trees of a segment's moments but for the last, which every packing block adds by itself.
inline void plan_moments(PackPlan& plan, PackSegment& segment) {
  const auto trees_of = [](std::int64_t count) { return (count + kTreeWidth - 1) / kTreeWidth; };
  std::int64_t count = (segment.elements + kMomentElements - 1) / kMomentElements;
  std::int64_t from = plan.moments;
  plan.tile_moments.push_back(from);
  plan.moments += count;
  for (std::size_t level = 0; count > kTreeWidth; ++level) {
    if (plan.levels.size() == level) plan.levels.emplace_back();
    const std::int64_t to = plan.moments;
    for (std::int64_t tree = 0; tree < trees_of(count); ++tree)
      plan.levels[level].push_back({from + tree * kTreeWidth, to + tree,
                                    static_cast<std::int32_t>(std::min<std::int64_t>(
                                        kTreeWidth, count - tree * kTreeWidth))});
    from = to;
    count = trees_of(count);
    plan.moments += count;
  }
  plan.parts_of_moments.push_back(from);
  segment.number_of_moments = static_cast<std::int32_t>(count);
}

template <PackRule kRule>
PackPlan plan_pack(double parameter, const std::vector<PackerTensor>& tensors) {
  if (tensors.empty()) throw std::invalid_argument("a packer needs a tensor");
  require_parameter(kRule, parameter);
  PackPlan plan;
  if (kRule == PackRule::Int8) plan.blocks = plan_blocks(parameter);
  for (const PackerTensor& tensor : tensors) {
    require_elements(tensor.elements);
    if (tensor.gradient == nullptr || tensor.packed == nullptr || tensor.status == nullptr)
      throw std::invalid_argument("a tensor lacks a pointer");
    PackSegment s{};
    s.gradient = tensor.gradient;
    s.residual = tensor.residual;
    s.scales = tensor.packed;
    s.codes = tensor.packed + scale_words<kRule>(tensor.elements, parameter);
    s.status = tensor.status;
    s.elements = tensor.elements;
    s.seed = tensor.seed;
    s.aligned = is_aligned(tensor.gradient) && is_aligned(tensor.residual);
    const std::int64_t own = kRule == PackRule::Int8 ? plan.blocks.unit_elements : kPartElements;
    const std::size_t number = plan.segments.size();
    s.first_block = append_blocks(plan.block_segment, (s.elements + own - 1) / own, number);
    if (PackTraits<kRule>::kMoments != MomentsOf::Nothing && kRule != PackRule::Int8) {
      constexpr std::int64_t kMeasured = std::int64_t{kBlockWarps} * kMomentElements;
      s.first_measuring_block = append_blocks(plan.measuring_block_segment,
                                              (s.elements + kMeasured - 1) / kMeasured, number);
      plan_moments(plan, s);
    }
    plan.segments.push_back(s);
  }
  return plan;
}

}  // namespace gradcast::GRADCAST_DEVICE
