// The report on compared runs: for people, for programs, and as an exit code.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/compare/comparison.hpp"

namespace gradcast {

/// Options of the table.
struct ComparisonView {
  std::string name;    // the measured file's
  std::string engine;  // the one that made the forecasts
  bool explain = false;
  bool split = false;
};

/// The rows, notes on them, summaries, verdicts, rankings and speedups. For a what-if (rows with
/// other costs than they were measured with) only the rows, because it has no errors.
std::string comparison_table(const std::vector<ComparedRun>& runs, const ComparisonView& view);

/// One row of CSV and JSON: the measured file's columns, then the forecast's.
Json row_of(const ComparedRun& compared);

/// Errors of all rows, of each algorithm, model and source, intervals, speedups, rankings,
/// verdicts.
Json summary_json(const std::vector<ComparedRun>& runs);

/// "20" or "20%", above zero. Throws ValueError.
double parse_max_error(std::string_view text);

/// Throws Error (4) if the error of a row that counts is larger than `most`, in percent.
void require_within(double most, const std::vector<ComparedRun>& runs);

/// The costs of a what-if; "" if every row has its own.
std::string what_if_costs_of(const std::vector<ComparedRun>& runs);

}  // namespace gradcast
