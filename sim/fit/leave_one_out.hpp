// Tests a structure on runs on which it was not fitted.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/fit/fit.hpp"

namespace gradcast {

/// The group that is left out together.
/// Method: a compressor at a density, whatever else its rows differ in.
enum class LeaveOut { Row, Model, Source, Method, Trace };

/// "row", "model", "source", "method" or "trace". Throws ValueError.
LeaveOut parse_leave_out(std::string_view text);
std::string to_text(LeaveOut what);

/// "topk 0.01", "dense".
std::string method_of(const MeasuredRun& run);

/// The groups of the runs, as indices of rows, in the order of their first run. Only runs that the
/// model claims, unless `all`.
std::vector<std::vector<std::size_t>> groups_of(const std::vector<FitRow>& rows, LeaveOut what,
                                                bool all = false);

/// The runs that the model claims. A run that the file puts outside the model is not fitted.
std::vector<const FitRow*> claimed(const std::vector<FitRow>& rows);

/// The processes and callbacks of many fits. Each fit is made in another process, independently of
/// the others. So the number of processes changes no answer.
struct ManyFits {
  std::size_t processes = 1;
  /// Called after each fit, with how many are done and how many there are.
  std::function<void(std::size_t done, std::size_t all)> progress = [](std::size_t, std::size_t) {};
  /// True ends the work. The answer then has the part that is done.
  std::function<bool()> stop = [] { return false; };
};

struct LeftOut {
  std::optional<Fit> whole;            // on all runs that the model claims; none: it was stopped
  std::vector<Fit> fits;               // one a group: without it
  std::vector<bool> done;              // by group: false where it was stopped before
  std::vector<std::size_t> fit_of;     // by row: the fit that has not seen it
  std::vector<FitForecast> forecasts;  // by row, where its fit is done
};

/// Fits the structure on all runs. For each group, fits it without the group and forecasts the
/// group. Runs outside the model are forecast too, but nothing is fitted on them. Throws ValueError
/// if there is only one group.
LeftOut leave_one_out(const std::vector<FitRow>& rows, LeaveOut what, const FitStructure& structure,
                      const FitOptions& options, const Engine& engine, const ManyFits& many = {});

/// The choice of a structure is part of a fit. So each group is forecast by the structure that was
/// best, by leave-one-out, on the other groups alone.
struct Nested {
  std::vector<double> errors_percent;  // by row; 0 of those that the model does not claim
  std::vector<std::string> chosen;     // by group
  /// The mean absolute errors of plain leave-one-out, in percent, by structure.
  std::vector<double> mean_absolute;
};

/// Forecasts with the engine of the search. Needs three groups; throws ValueError for fewer. None
/// if it was stopped: there is no choice by a part of the fits.
std::optional<Nested> nested_leave_one_out(const std::vector<FitRow>& rows, LeaveOut what,
                                           const std::vector<FitStructure>& structures,
                                           const FitOptions& options, const ManyFits& many = {});

/// The bootstrap interval of the mean absolute error: 95 % of draws of whole groups, and of rows
/// within them, lie in it.
struct BootstrapInterval {
  double low = 0;
  double high = 0;
};

/// `errors`: by row. `groups`: rows that were left out together; their errors are related.
BootstrapInterval bootstrap_mean_absolute(const std::vector<double>& errors,
                                          const std::vector<std::vector<std::size_t>>& groups,
                                          std::uint64_t seed);

}  // namespace gradcast
