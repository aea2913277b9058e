// Rows and columns of nccl-tests' tables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradcast {

/// A row of a table, perhaps cut off: other processes print between the parts of it.
struct NcclTableRow {
  std::int64_t bytes = 0;
  bool reduces = false;  // column redop names an operation
  bool cut = false;
  bool commas = false;                 // its numbers have decimal commas
  std::vector<std::string> numbers{};  // from column root on, or from time on where that is missing
};

/// Adds the numbers at the beginning of `words` to the row. False if something else follows them:
/// the row was cut there, perhaps inside a word, as in "-1node7:12:34 [0] NCCL INFO". A time stamp
/// ("2025-03-04 12:33:21") is the row's end.
bool take_numbers(NcclTableRow& row, std::span<const std::string_view> words);

/// "60,82".
bool has_decimal_comma(std::string_view word);

/// Whether words begin like a row: two whole numbers and a type.
bool begins_row(const std::vector<std::string_view>& words);

/// The columns behind `redop`, by the line that names them; without one, those of most versions.
struct NcclTableColumns {
  std::optional<bool> root{};                // not given: no line names columns
  bool cpu_time = false;                     // -C 1: the time in which a call returned
  bool counts_wrong = true;                  // else the last column of a place is a rounding error
  std::vector<std::size_t> places = {0, 4};  // times out of place and in place, behind root
  std::size_t numbers = 8;                   // of a whole row, without root
};

/// The columns of "#  size  count  type  redop  root  time  algbw  busbw  #wrong ...".
NcclTableColumns nccl_columns_in(std::string_view header);

/// A row's time out of place; where that is missing, the one in place.
struct NcclTimedRow {
  std::int64_t bytes;
  double seconds;
  double algorithm, bus;  // GB/s
  bool reduces;
  bool has_root;           // column root is there, and
  std::int64_t root = -1;  // -1: the collective has none
};

/// `ranks`: of a collective. nullopt with `why` for a row that has no such time.
std::optional<NcclTimedRow> timed(const NcclTableRow& row, const NcclTableColumns& columns,
                                  int ranks, std::string& why);

/// Bus over algorithm bandwidth of a collective among so many ranks (nccl-tests' PERFORMANCE.md).
double bus_factor(std::string_view collective, int ranks);

/// Whether a row's bandwidths are those of the collective among so many ranks, as far as their two
/// decimals tell. Up to 2020 the two bandwidths of a gather or scatter were one.
bool fits_ranks(const NcclTimedRow& row, std::string_view collective, int ranks);

}  // namespace gradcast
