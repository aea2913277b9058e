// Divides a list of tensors for the kernels of PowerSGD. It is plain arithmetic, done once on the
// host.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernels/device/block_table.hpp"
#include "kernels/device/gram.cuh"
#include "kernels/low_rank_encoder.hpp"

namespace gradcast::GRADCAST_DEVICE {

inline constexpr std::int64_t kMostRank = 1024;

/// A PartSum whose parts have no address yet.
struct PlannedSum {
  std::size_t segment;
  std::int64_t numbers;
  std::int32_t count;
};

/// The sums that one launch makes.
struct PlannedSums {
  std::vector<PlannedSum> sums;
  std::vector<std::int32_t> block_sum, first_block;
  std::int64_t numbers_of_parts = 0;

  void append(std::size_t segment, std::int64_t numbers, std::int64_t count) {
    if (count < 2) return;
    first_block.push_back(
        append_blocks(block_sum, (numbers + kBlockThreads - 1) / kBlockThreads, sums.size()));
    sums.push_back({segment, numbers, static_cast<std::int32_t>(count)});
    numbers_of_parts += numbers * count;
  }
};

struct LowRankPlan {
  std::vector<LowRankSegment> segments;
  std::vector<std::int32_t> q_segment, p_segment;
  std::vector<std::int32_t> project_segment, project_back_segment, restore_segment;
  PlannedSums p_sums, q_sums;
  // Doubles of scratch, of each segment.
  std::vector<std::int64_t> apart, gram_parts;
  bool compresses = false;                    // one of them at least
  bool applies_q = false, applies_p = false;  // to a matrix of several blocks
};

inline std::int64_t shares_of(std::int64_t all, std::int64_t share) {
  return (all + share - 1) / share;
}

/// Warps that have `rows` by `columns` each lie side by side until a row is covered.
inline Grid append_grid(std::vector<std::int32_t>& table, const MatrixShape& shape, int rows,
                        int columns, std::size_t segment) {
  Grid grid{0, 1, 0};
  int abreast = 1;
  for (; abreast < kBlockWarps && abreast * columns < shape.columns; abreast *= 2)
    ++grid.abreast_bits;
  grid.blocks_across = static_cast<std::int32_t>(shares_of(shape.columns, columns * abreast));
  const std::int64_t down = shares_of(shape.rows, rows * (kBlockWarps / abreast));
  grid.first_block = append_blocks(table, down * grid.blocks_across, segment);
  return grid;
}

inline GramShape gram_shape_of(std::int32_t rank) {
  const auto reciprocal = [](std::int32_t number) {
    return ((1u << 20) + static_cast<std::uint32_t>(number) - 1) /
           static_cast<std::uint32_t>(number);
  };
  const std::int32_t quads = (rank + 3) / 4;
  const std::int32_t items = 2 * quads * (quads + 1);
  return {4 * quads,        items, kBlockThreads / items, reciprocal(rank), reciprocal(quads),
          reciprocal(items)};
}

/// A matrix of a few chunks has one block: an additional launch would take longer.
inline constexpr std::int64_t kChunksOfOneBlock = 4;
inline constexpr std::int64_t kMostGramBlocks = 128;

/// Elements from which on a matrix has blocks enough for a GPU, whatever the strips.
inline constexpr std::int32_t kLargeMatrix = 1 << 20;

inline ThinWork append_thin(std::vector<std::int32_t>& table, std::int64_t rows, std::int64_t rank,
                            std::size_t segment) {
  std::int64_t rows_of_block = rows;
  if (rank > 0 && rank <= kMostGramRank) {
    const std::int64_t at_once = kGramChunk / gram_shape_of(static_cast<std::int32_t>(rank)).room;
    const std::int64_t chunks = shares_of(rows, at_once);
    if (chunks > kChunksOfOneBlock) rows_of_block = shares_of(chunks, kMostGramBlocks) * at_once;
  }
  const std::int64_t blocks = shares_of(rows, rows_of_block);
  return {append_blocks(table, blocks, segment), static_cast<std::int32_t>(blocks),
          static_cast<std::int32_t>(rows_of_block), nullptr};
}

inline void plan_whole(LowRankPlan& plan, LowRankSegment& s) {
  const std::size_t number = plan.segments.size();
  const std::int64_t blocks = shares_of(s.elements, kFlatElements);
  s.q_work = append_thin(plan.q_segment, 1, 0, number);  // it clears the status
  s.project = {append_blocks(plan.project_segment, blocks, number), 1, 0};
  s.restore = {append_blocks(plan.restore_segment, blocks, number), 1, 0};
}

inline void plan_matrix(LowRankPlan& plan, LowRankSegment& s, const MatrixShape& shape) {
  const std::size_t number = plan.segments.size();
  if (s.rank <= kMostGramRank) s.gram = gram_shape_of(s.rank);
  s.q_work = append_thin(plan.q_segment, shape.columns, s.rank, number);
  s.p_work = append_thin(plan.p_segment, shape.rows, s.rank, number);
  plan.applies_q = plan.applies_q || s.q_work.blocks > 1;
  plan.applies_p = plan.applies_p || s.p_work.blocks > 1;
  s.short_strips = s.elements < kLargeMatrix && s.columns < kStripColumns * kLanes * kBlockWarps;
  s.quads = s.rank % kRankTile == 0 && is_aligned(s.p) && is_aligned(s.q);
  s.project = append_grid(plan.project_segment, shape, kStripRows,
                          (s.short_strips ? kShortStripColumns : kStripColumns) * kLanes, number);
  s.restore = append_grid(plan.restore_segment, shape, kTileRows, kTileColumns, number);
  const std::int64_t across = shares_of(shape.columns, kColumnsOfBlock);
  const std::int64_t parts = shares_of(shape.rows, kRowsOfBlock);
  s.project_back = {append_blocks(plan.project_back_segment, across * parts, number),
                    static_cast<std::int32_t>(across), 0};
  plan.p_sums.append(number, shape.rows * s.rank, s.project.blocks_across);
  plan.q_sums.append(number, shape.columns * s.rank, parts);
}

inline LowRankPlan plan_low_rank(std::int64_t rank, Mode mode,
                                 const std::vector<LowRankTensor>& tensors) {
  if (tensors.empty()) throw std::invalid_argument("an encoder needs a tensor");
  if (rank < 1 || rank > kMostRank) throw std::invalid_argument("the rank is 1 to 1024");
  if (mode == Mode::Only) throw std::invalid_argument("PowerSGD has two modes: name one");
  LowRankPlan plan;
  for (const LowRankTensor& tensor : tensors) {
    const MatrixShape& shape = tensor.shape;
    if (shape.rows < 1 || shape.columns < 1 || shape.rows > INT32_MAX)
      throw std::invalid_argument("a matrix has a row and a column, at least");
    require_elements(shape.columns > INT32_MAX ? shape.columns : shape.rows * shape.columns);
    const LowRankNumbers numbers = low_rank_numbers(shape, rank, mode);
    if (tensor.gradient == nullptr || tensor.residual == nullptr || tensor.p == nullptr ||
        tensor.dense == nullptr || tensor.status == nullptr ||
        (numbers.compressed() && tensor.q == nullptr))
      throw std::invalid_argument("a tensor lacks a pointer");
    LowRankSegment s{};
    s.gradient = tensor.gradient;
    s.residual = tensor.residual;
    s.p = s.p_parts = tensor.p;
    s.q = s.q_parts = tensor.q;
    s.dense = tensor.dense;
    s.status = tensor.status;
    s.seed = tensor.seed;
    s.rows = static_cast<std::int32_t>(shape.rows);
    s.columns = static_cast<std::int32_t>(shape.columns);
    s.elements = static_cast<std::int32_t>(shape.rows * shape.columns);
    s.rank = numbers.compressed() ? static_cast<std::int32_t>(rank_of(shape, rank)) : 0;
    if (numbers.compressed()) {
      plan_matrix(plan, s, shape);
      plan.compresses = true;
    } else {
      plan_whole(plan, s);
    }
    plan.apart.push_back(std::max(shape.rows, shape.columns) * s.rank);
    plan.gram_parts.push_back(s.rank > kMostGramRank
                                  ? 0
                                  : std::int64_t{std::max(s.q_work.blocks, s.p_work.blocks)} *
                                        kMostGramSums);
    plan.segments.push_back(s);
  }
  return plan;
}

}  // namespace gradcast::GRADCAST_DEVICE
