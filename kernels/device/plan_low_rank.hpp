// Divides a list of tensors for the kernels of PowerSGD. It is plain arithmetic, done once on the
// host.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernels/device/block_table.hpp"
#include "kernels/device/low_rank_batch.cuh"
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
  std::vector<std::int32_t> project_segment, project_back_segment, restore_segment;
  PlannedSums p_sums, q_sums;
  std::vector<std::int64_t> apart;  // doubles of scratch, of each segment
  bool compresses = false;          // one of them at least
};

inline std::int64_t shares_of(std::int64_t all, std::int64_t share) {
  return (all + share - 1) / share;
}

/// Warps that have `rows` by `columns` each lie side by side until a row is covered.
inline Grid append_grid(std::vector<std::int32_t>& table, const MatrixShape& shape, int rows,
                        int columns, std::size_t segment) {
  Grid grid{0, 1, 1};
  while (grid.warps_abreast < kBlockWarps && grid.warps_abreast * columns < shape.columns)
    grid.warps_abreast *= 2;
  grid.blocks_across =
      static_cast<std::int32_t>(shares_of(shape.columns, columns * grid.warps_abreast));
  const std::int64_t down = shares_of(shape.rows, rows * (kBlockWarps / grid.warps_abreast));
  grid.first_block = append_blocks(table, down * grid.blocks_across, segment);
  return grid;
}

inline void plan_whole(LowRankPlan& plan, LowRankSegment& s) {
  const std::size_t number = plan.segments.size();
  const std::int64_t blocks = shares_of(s.elements, kFlatElements);
  s.project = {append_blocks(plan.project_segment, blocks, number), 1, 1};
  s.restore = {append_blocks(plan.restore_segment, blocks, number), 1, 1};
}

inline void plan_matrix(LowRankPlan& plan, LowRankSegment& s, const MatrixShape& shape) {
  const std::size_t number = plan.segments.size();
  s.project = append_grid(plan.project_segment, shape, kStripRows, kStripColumns, number);
  s.restore = append_grid(plan.restore_segment, shape, kTileRows, kTileColumns, number);
  const std::int64_t across = shares_of(shape.columns, kColumnsOfBlock);
  const std::int64_t parts = shares_of(shape.rows, kRowsOfBlock);
  s.project_back = {append_blocks(plan.project_back_segment, across * parts, number),
                    static_cast<std::int32_t>(across), 1};
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
    plan.segments.push_back(s);
  }
  return plan;
}

}  // namespace gradcast::GRADCAST_DEVICE
