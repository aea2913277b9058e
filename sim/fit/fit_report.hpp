// What there is to say of a fit: for people and for programs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/comparison.hpp"
#include "sim/document.hpp"
#include "sim/fit/leave_one_out.hpp"

namespace gradcast {

/// All that a fit of one measured file found.
struct FitStudy {
  std::string measured;  // the file, as named
  const FitStructure* structure = nullptr;
  std::size_t structures_tried = 1;
  Fit fit;                           // on all runs that the model claims
  std::optional<LeaveOut> left_out;  // what was; none: the rows are the fit's own
  std::vector<ComparedRun> rows;     // forecast without their group, else by the fit itself
  std::vector<std::string> groups;   // names of what was left out, by fold
  std::vector<Fit> folds;
  /// The same with nothing fitted: physics alone.
  std::vector<double> unfitted_errors;
  BootstrapInterval unfitted_interval;
  BootstrapInterval interval;  // of the mean absolute error, left out
  std::optional<Nested> nested;
  BootstrapInterval nested_interval;
  std::vector<std::string> structure_names;
};

/// Parameters with their intervals, what cannot be told apart, and how good it is where it was left
/// out.
std::string fit_table(const FitStudy& study);

/// Joined to the summary of the rows.
void add_fit_summary(Json& summary, const FitStudy& study);

}  // namespace gradcast
