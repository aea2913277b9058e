// What one compressor costs: its rows of a cost table, chosen once and asked for many sizes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/inputs/cost_grid.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {

/// What k is counted of in a bucket of several tensors: all of them as one, or each.
enum class SelectionScope { Merged, PerTensor };

/// "merged" or "per-tensor". Throws ValueError.
SelectionScope parse_selection(std::string_view text);
std::string to_text(SelectionScope selection);

/// The compressors that a table has rows of, in the order of `gradcast list`.
std::vector<std::string> compressors_in(const CostTable& table);

class CompressorCosts {
 public:
  /// Throws DataError where the table has no such rows, or has them with holes.
  CompressorCosts(const CostTable& table, const CostChoice& choice);

  /// One tensor at a call, or several merged into one.
  CostEstimate of(std::int64_t elements, double density, int workers) const;

  /// k of each tensor. In one call where the table has rows of as many tensors with as many
  /// elements, else a call each.
  CostEstimate of_each(const std::vector<std::int64_t>& tensors, double density, int workers) const;

  /// What was chosen where the choice left it open.
  const std::string& mode() const { return choice_.mode; }
  const std::string& implementation() const { return choice_.implementation; }

  /// The rows of single tensors that answers are made from.
  const std::vector<CostRow>& rows() const { return rows_; }

 private:
  CostEstimate answer(const CostGrid& grid, const std::vector<CostRow>& rows, std::int64_t elements,
                      std::int64_t wanted, double density, int workers) const;
  CostGrid finished(CostGrid grid) const;

  std::string table_;  // its name, for messages
  CostChoice choice_;
  std::vector<CostRow> rows_;      // of one tensor
  std::vector<CostRow> together_;  // of several in one call
  CostGrid grid_;                  // of rows_
};

}  // namespace gradcast
