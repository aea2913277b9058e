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
  double discrepancy = 0;  // root mean square of logs' means
  double scatter = 0;      // root mean square of rows about their log's mean

  bool hold(const TodayRow& row) const;  // in the interval that a forecast gets
  double ratio() const;                  // high end of an interval over its low end
};

/// The cluster that a row was measured on: the first words of its source and of its cluster's file.
/// So are all logs of Polaris one site, whatever they sent by.
std::string site_of(const TodayRow& row);

/// Widths of rows of one size band. A log is the rows of one source on as many nodes. Each site
/// weighs the same, however many logs and rows it has.
Widths widths_of(const std::vector<TodayRow>& rows);

/// A kind of network of which fewer sites are known takes the larger of its own widths and all
/// networks'.
inline constexpr std::size_t kFewestSites = 3;
Widths widths_of(const std::vector<TodayRow>& rows, const std::vector<TodayRow>& all_networks);

/// Rows in intervals whose widths come from all sites but the row's own, and how wide these are.
struct Held {
  std::size_t rows = 0;
  std::vector<double> ratios{};  // of each row's interval
};
Held held_without_own_site(const std::vector<TodayRow>& rows,
                           const std::vector<TodayRow>& all_networks);

/// A file of platforms/, and its text.
struct WidthsFile {
  std::string name;
  std::string text;
};
std::vector<WidthsFile> widths_files(const Today& today);

}  // namespace gradcast
