// The errors of many rows, and of groups of them: one algorithm, model, source, ... Only rows that
// count (ComparedRun::counts) are included.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/compare/comparison.hpp"

namespace gradcast {

/// An aspect by which runs are grouped. It has a column of its own where runs differ in it.
struct Aspect {
  std::string name;
  std::function<std::string(const ComparedRun& compared)> of;
  bool of_setup = true;  // the same in all runs of a set-up
};

/// The compressor; if these rows have a compressor with several collectives, also the collective as
/// the file names it: "topk gtopk". (The collective that the program chooses by itself does not
/// make another algorithm.)
Aspect by_algorithm(const std::vector<ComparedRun>& runs);
/// The model, or the bytes of a collective alone.
Aspect by_model();
Aspect by_source();

/// Cluster, ranks, concurrent jobs, ...; and, not of the set-up, fusion and compressing.
const std::vector<Aspect>& setup_aspects();

/// The values of an aspect, in the order of their first row.
std::vector<std::string> values_of(const std::vector<ComparedRun>& runs, const Aspect& aspect);

/// The aspects of a set-up in which these rows differ.
std::vector<Aspect> differing_aspects(const std::vector<ComparedRun>& runs);

/// The summary of all rows that count; none if no row counts.
std::optional<ErrorSummary> summary_of(const std::vector<ComparedRun>& runs);
/// The summary of the rows with this value of the aspect.
std::optional<ErrorSummary> summary_of(const std::vector<ComparedRun>& runs, const Aspect& aspect,
                                       const std::string& value);

/// "too slow" if forecasts are longer than the measured times, "too fast" if they are shorter; ""
/// for neither.
std::string bias_in_words(double bias_percent);

/// Counts the measured times that lay in the forecast's 90 % interval.
struct Coverage {
  std::size_t rows = 0;  // with an interval
  std::size_t inside = 0;
  double median_width_percent = 0;  // relative to the forecast

  double percent() const { return 100 * static_cast<double>(inside) / static_cast<double>(rows); }
};

/// The coverage of the rows that count and have an interval; none if there is no such row.
std::optional<Coverage> coverage_of(const std::vector<ComparedRun>& runs);

}  // namespace gradcast
