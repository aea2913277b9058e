// The widths of the intervals about collectives by NCCL, from what is left of nccl-tests' times
// after their forecasts: the files platforms/stack-nccl*.csv.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "sim/validate/today.hpp"

namespace gradcast {

/// Errors that forecasts of a kind of network leave, as deviations of the logarithm of measured
/// over forecast time.
struct Widths {
  double discrepancy = 0;  // root mean square of the logs' means
  double scatter = 0;      // root mean square of the rows about their log's mean

  bool hold(const TodayRow& row) const;  // in the interval that a forecast gets
};

/// Logs: rows of one source on as many nodes.
using Logs = std::vector<std::vector<TodayRow>>;
Logs logs_of(const std::vector<TodayRow>& rows);

Widths widths_of(const Logs& logs);

/// The number of rows that lie in intervals whose widths come from all logs but the row's own.
std::size_t held_without_own_log(const Logs& logs);

/// A file of platforms/, and its text.
struct WidthsFile {
  std::string name;
  std::string text;
};
std::vector<WidthsFile> widths_files(const Today& today);

}  // namespace gradcast
