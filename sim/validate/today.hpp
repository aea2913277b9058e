// The errors of forecasts of today's software: collectives by NCCL, by network, and dense trainings
// on NCCL, by software. No fit has seen these rows, unless the table says so.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/statistics.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast {

/// A measured run beside its forecast. For a collective `bytes` is the size as nccl-tests counts
/// it; for a training it is 0.
struct TodayRow {
  std::string measured;  // the name of the file
  std::string source;
  std::string software;  // the network's of a collective; the stack of a training's forecast
  std::string collective;
  int nodes = 0;
  int ranks = 0;
  double bytes = 0;
  double measured_seconds = 0;
  double forecast_seconds = 0;
  std::string cluster{};

  double ratio() const { return forecast_seconds / measured_seconds; }
  double error_percent() const { return 100 * (ratio() - 1); }
  bool beyond_factor_two() const { return ratio() > 2 || ratio() < 0.5; }
  bool is_small() const { return bytes < static_cast<double>(kSmallCollective.count); }
};

/// Rows that belong together, and the limits of their mean error and bias in percent; 0: no limit.
struct TodayGroup {
  std::string name;
  double mean_limit = 0;
  double bias_limit = 0;
  std::vector<TodayRow> rows{};

  ErrorSummary errors() const;
  double mean() const { return errors().mean_absolute; }
  double bias() const { return errors().bias; }
  double worst() const { return errors().worst; }
  std::size_t beyond() const;
};

/// Why rows are not claimed by the model, and how many.
struct TodayExcluded {
  std::string measured;
  std::string reason;
  std::size_t rows = 0;
};

struct Today {
  std::vector<TodayRow> collectives;
  std::vector<TodayRow> trainings;
  std::vector<TodayExcluded> excluded;
};

/// Forecasts all rows with the engine `analytic`.
Today forecast_today(DataFiles& files);

/// The groups of which the tables and the committed file have the errors.
std::vector<TodayGroup> today_groups(const Today& today);

/// A figure in percent beside its limit, bold where the figure is larger: "**16.0 %** (> 15)", and
/// "14.0 % (<= 15)". Without a limit (0) the figure alone.
std::string beside_limit(double percent, bool with_sign, double limit);

inline constexpr std::string_view kCollectivesBegin =
    "<!-- collectives: made by scripts/validate -->";
inline constexpr std::string_view kCollectivesEnd = "<!-- end of collectives -->";
inline constexpr std::string_view kTrainingsBegin = "<!-- trainings: made by scripts/validate -->";
inline constexpr std::string_view kTrainingsEnd = "<!-- end of trainings -->";

/// The tables for docs/accuracy.md, each between its markers.
std::string collectives_as_markdown(const Today& today);
std::string trainings_as_markdown(const Today& today);

/// traces/validation-today.csv: the errors of each group.
std::string today_as_csv(const Today& today);
/// traces/validation-collectives.csv: every collective whose forecast is off by more than a factor
/// of 2.
std::string beyond_as_csv(const Today& today);

/// The errors that have grown since `file` was written, one per line; "" for none.
std::string today_complaints(const Today& today, const TextFile& file);

}  // namespace gradcast
