// A study of one measured file: the fit and its parameters, forecasts of left-out runs, a choice
// among structures, and the forecasts of physics alone.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/compare/comparison.hpp"
#include "sim/fit/leave_one_out.hpp"

namespace gradcast {

/// The default structures of a measured file: `fit-x` for `measured-x`, else `fit-default`.
std::string structures_for(const std::string& measured, const DataFiles& files);

struct StudyOptions {
  FitOptions search;
  const Engine* engine = nullptr;    // makes the forecasts
  std::optional<LeaveOut> left_out;  // none: the rows are the fit's own
  bool nested = true;                // also choose among all structures, where three groups allow
  std::size_t processes = 1;         // fits without some runs, side by side
  /// Called as the work proceeds, with what is being done, how much of it is done, and how much
  /// there is.
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress{};
  /// True ends the leaving out. The study is then of what is done.
  std::function<bool()> stop = [] { return false; };
};

/// A mean absolute error in percent, with its bootstrap interval.
struct MeanError {
  double mean = 0;
  BootstrapInterval interval;
};

/// Holds pointers into the rows and structures from which it was made.
struct FitStudy {
  std::string measured;  // the file, as named
  const FitStructure* structure = nullptr;
  Fit fit;                           // on all runs that the model claims
  std::optional<LeaveOut> left_out;  // the kind of groups left out
  std::vector<ComparedRun> rows;     // forecast without their group, else by the fit itself
  std::vector<std::string> groups;   // names of the groups left out, by fold
  std::vector<Fit> folds;
  std::size_t folds_missing = 0;  // stopped before they were done; their rows are missing too
  bool stopped = false;           // these, or the choice among structures
  MeanError unfitted;             // physics alone, of the same runs
  MeanError fitted;
  struct Chosen {
    MeanError error;
    double worst_percent = 0;
    std::vector<std::string> by_fold;
    /// Each structure that was tried: its name, and its mean absolute error on left-out runs.
    std::vector<std::pair<std::string, double>> tried;
  };
  std::optional<Chosen> nested;
  std::size_t structures_tried = 1;
};

/// Throws ValueError for groups that cannot be left out, and if the model claims no run. Throws
/// Error (Interrupted) if it was stopped before anything was forecast.
FitStudy study_of(const std::string& measured, const std::vector<FitRow>& rows,
                  const FitStructures& structures, const FitStructure& structure,
                  const StudyOptions& options);

}  // namespace gradcast
