// How good a structure is, told by runs that it was not fitted on.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sim/fit/fit.hpp"

namespace gradcast {

/// What is left out together.
enum class LeaveOut { Row, Model, Source };

/// "row", "model" or "source". Throws ValueError.
LeaveOut parse_leave_out(std::string_view text);
std::string to_text(LeaveOut what);

/// The runs' groups, in the order of their first run: indices of rows. Of those that the model
/// claims only, unless `all`.
std::vector<std::vector<std::size_t>> groups_of(const std::vector<FitRow>& rows, LeaveOut what,
                                                bool all = false);

/// What the model claims: no run is fitted that the file says lies outside of it.
std::vector<const FitRow*> claimed(const std::vector<FitRow>& rows);

/// Called after each fit of many, with how many are done and how many there are.
using FitProgress = std::function<void(std::size_t done, std::size_t all)>;

struct LeftOut {
  std::vector<Fit> fits;               // one a group: without it
  std::vector<std::size_t> fit_of;     // by row: the fit that has not seen it
  std::vector<FitForecast> forecasts;  // by row
};

/// Fits the structure without each group and forecasts that group, runs outside of the model
/// included, on which nothing is fitted. Throws ValueError where there is
/// but one.
LeftOut leave_one_out(const std::vector<FitRow>& rows, LeaveOut what, const FitStructure& structure,
                      const FitOptions& options, const Engine& engine,
                      const FitProgress& progress = {});

/// The choice of a structure is part of a fit: here each group is forecast by the structure that
/// was best, by leave-one-out, among the other groups alone.
struct Nested {
  std::vector<double> errors_percent;  // by row; 0 of those that the model does not claim
  std::vector<std::string> chosen;     // by group
  /// Plain leave-one-out mean absolute errors, in percent, by structure.
  std::vector<double> mean_absolute;
};

/// By the engine of the search. Needs three groups; throws ValueError for fewer.
Nested nested_leave_one_out(const std::vector<FitRow>& rows, LeaveOut what,
                            const std::vector<FitStructure>& structures, const FitOptions& options,
                            const FitProgress& progress = {});

/// Of the mean absolute error: 95 % of draws of whole groups, and of rows within them, lie in it.
struct BootstrapInterval {
  double low = 0;
  double high = 0;
};

/// `errors`: by row. `groups`: rows that were left out together, which err together.
BootstrapInterval bootstrap_mean_absolute(const std::vector<double>& errors,
                                          const std::vector<std::vector<std::size_t>>& groups,
                                          std::uint64_t seed);

}  // namespace gradcast
