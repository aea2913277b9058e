// The costs of one compressor: its rows of a cost table are chosen once, and then give the costs of
// many sizes.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/shared.hpp"
#include "sim/inputs/cost_grid.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {

/// Scope of k in a bucket of several tensors: elements of all tensors as one, or of each tensor.
enum class SelectionScope { Merged, PerTensor };

/// "merged" or "per-tensor". Throws ValueError.
SelectionScope parse_selection(std::string_view text);
std::string to_text(SelectionScope selection);

/// The compressors for which a table has rows, in the order of `gradcast list`.
std::vector<std::string> compressors_in(const CostTable& table);

/// The implementation that a table is asked for where nobody names one: the project's own, else the
/// first that it has of the compressor; "" where it has none.
std::string usual_implementation(const CostTable& table, std::string_view compressor);

/// Rows of a table, none of them copied.
using CostRows = std::vector<const CostRow*>;

/// The costs of one compressor, from the rows that a choice leaves.
///
/// Low-rank compressors (PowerSGD) have two rules of their own, because a probe times their hook on
/// one bucket and at one rank:
///  - Rows of one size give other sizes in proportion to the elements, since each product with the
///    matrix reads every element once. The buckets of a model then cost together what the model
///    costs as one bucket. Rows of several sizes show the launches too, and are interpolated.
///  - Another rank lies on the straight line through the two next to it. Where the table has one
///    rank alone, its time answers. Arithmetic is in proportion to the rank, but small ranks wait
///    for the matrix in memory: rank 4 takes 1.1 times as long as rank 1 to encode and 1.5 times to
///    decode by the CPU kernels (traces/proving/), and 1.0 times both on a V100
///    (cost-v100-simulated.csv). The 90 % factors reach both ranks' times; beyond the table's
///    ranks, the last one's and a time in proportion to the rank.
/// Both say what they went beyond in `outside`.
class CompressorCosts {
 public:
  /// Throws DataError where the table has no such rows, or where some of them are missing.
  CompressorCosts(Shared<CostTable> table, const CostChoice& choice);

  /// The costs of one tensor in a call, or of several merged into one. With `sent_share` so much of
  /// k travels, whatever the table's inputs let through: encoding looks for k and takes as long;
  /// decoding takes what the table has at the density at which so much travels, but no density
  /// beyond the table's: there it says so in `outside`.
  CostEstimate of(std::int64_t elements, double density, int workers,
                  std::optional<double> sent_share = {}) const;

  /// The costs of selecting k of each tensor. All are in one call where the table has rows of as
  /// many tensors with as many elements; else each has its own call.
  CostEstimate of_each(const std::vector<std::int64_t>& tensors, double density, int workers,
                       std::optional<double> sent_share = {}) const;

  /// The mode and implementation that were chosen where the choice left them open.
  const std::string& mode() const { return choice_.mode; }
  const std::string& implementation() const { return choice_.implementation; }

  /// The rows of single tensors from which answers are made.
  const CostRows& rows() const { return rows_; }

 private:
  CostEstimate answer(const CostGrid& grid, const CostRows& rows, std::int64_t elements,
                      std::int64_t wanted, double density, int workers,
                      std::optional<double> sent_share) const;
  CostGrid finished(CostGrid grid) const;
  CostEstimate at_rank(CostEstimate own, const CostEstimate& beside) const;
  CostRows together(const std::vector<std::int64_t>& tensors) const;
  void choose_input_type();
  void choose_parameter();

  Shared<CostTable> table_;
  std::string other_rows_;  // in what the rows are not those that were chosen; "": in nothing
  bool low_rank_ = false;
  double wanted_rank_ = 0;    // of low rank: what was asked for, if the rows are of another
  CostFactors other_rank_{};  // where only the rows' rank is known: from that to the wanted one
  std::shared_ptr<const CompressorCosts> beside_;  // of another rank, where the table has one
  CostChoice choice_;
  CostRows rows_;      // of one tensor
  CostRows together_;  // of several in one call
  CostGrid grid_;      // of rows_
};

}  // namespace gradcast
