// Errors of many rows, and of those of one algorithm, model, source, ... Only rows that count
// (ComparedRun::counts) are summed up.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/compare/comparison.hpp"

namespace gradcast {

/// What runs are grouped by, and shown in a column of its own where they differ in it.
struct Aspect {
  std::string name;
  std::function<std::string(const ComparedRun& compared)> of;
};

/// The compressor, with its collective, as the file has it, where these rows have one compressor
/// with several: "topk gtopk". (Which collective the program takes by itself is no difference
/// between algorithms.)
Aspect by_algorithm(const std::vector<ComparedRun>& runs);
/// The model, or the bytes of a collective alone.
Aspect by_model();
Aspect by_source();

/// Cluster, ranks, concurrent jobs, fusion.
const std::vector<Aspect>& setup_aspects();

/// In the order of their first row.
std::vector<std::string> values_of(const std::vector<ComparedRun>& runs, const Aspect& aspect);

/// The aspects of a set-up in which these rows differ.
std::vector<Aspect> differing_aspects(const std::vector<ComparedRun>& runs);

/// Of all rows that count; none where no row does.
std::optional<ErrorSummary> summary_of(const std::vector<ComparedRun>& runs);
/// Of those with this value of the aspect.
std::optional<ErrorSummary> summary_of(const std::vector<ComparedRun>& runs, const Aspect& aspect,
                                       const std::string& value);

/// "too slow" where forecasts are longer than what was measured, "too fast" where they are shorter;
/// "" for neither.
std::string bias_in_words(double bias_percent);

/// How often the measured time lay in the forecast's 90 % interval.
struct Coverage {
  std::size_t rows = 0;  // with an interval
  std::size_t inside = 0;
  double median_width_percent = 0;  // of the forecast

  double percent() const { return 100 * static_cast<double>(inside) / static_cast<double>(rows); }
};

/// Of the rows that count and have an interval; none where no row does.
std::optional<Coverage> coverage_of(const std::vector<ComparedRun>& runs);

}  // namespace gradcast
