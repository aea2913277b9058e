#include "sim/validate/widths.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/base/csv.hpp"
#include "sim/base/table.hpp"
#include "sim/base/units.hpp"
#include "sim/forecast/software_spread.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast {
namespace {

/// The networks that share a stack, by the names of their tables.
struct OfStack {
  const char* name;
  const char* where;
  std::set<std::string> networks;
  bool rccl = false;
};
const OfStack kOfStacks[] = {
    {"stack-nccl", "On InfiniBand or RoCE.", {"InfiniBand, RoCE"}},
    {"stack-nccl-efa", "On EFA.", {"EFA"}},
    {"stack-nccl-node", "Inside one node.", {"one node, vTrain's tables", "one node, others"}},
    {"stack-nccl-slingshot", "On Slingshot, through libfabric.", {"Slingshot through libfabric"}},
    {"stack-nccl-tcp",
     "On TCP, through sockets or GPUDirect.",
     {"TCP", "TCP past the host (A3 Mega)"}},
    {"stack-nccl-rccl", "By RCCL on several nodes.", {"AMD's GPUs, several nodes"}, true},
    {"stack-nccl-rccl-node", "By RCCL inside one node.", {"AMD's GPUs, one node"}, true},
};

using Rows = std::vector<TodayRow>;

double log_ratio(const TodayRow& row) {
  return std::log(row.measured_seconds / row.forecast_seconds);
}

double mean_of(const Rows& log) {
  double sum = 0;
  for (const TodayRow& row : log) sum += log_ratio(row);
  return sum / static_cast<double>(log.size());
}

std::string first_word(const std::string& name) { return name.substr(0, name.find('-')); }

std::set<std::string> sites_of(const Rows& rows) {
  std::set<std::string> sites;
  for (const TodayRow& row : rows) sites.insert(site_of(row));
  return sites;
}

template <class Chosen>
Rows rows_where(const Rows& rows, Chosen chosen) {
  Rows some;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(some), chosen);
  return some;
}

/// Squares of a site's errors.
struct Squares {
  std::map<std::pair<std::string, int>, Rows> logs{};

  double of_means() const {
    double sum = 0;
    for (const auto& [key, log] : logs) sum += std::pow(mean_of(log), 2);
    return sum / static_cast<double>(logs.size());
  }
  /// None where each log is one row.
  std::optional<double> about_means() const {
    double sum = 0;
    std::size_t free = 0;
    for (const auto& [key, log] : logs) {
      const double mean = mean_of(log);
      for (const TodayRow& row : log) sum += std::pow(log_ratio(row) - mean, 2);
      free += log.size() - 1;
    }
    if (free == 0) return std::nullopt;
    return sum / static_cast<double>(free);
  }
};

SoftwareSpread spread_about(const TodayRow& row, const Widths& widths) {
  SoftwareSpread spread;
  spread.group = row.source;
  spread.physics = spread.forecast = row.forecast_seconds;
  spread.discrepancy = widths.discrepancy;
  spread.scatter = widths.scatter;
  return spread;
}

/// Two digits: more are not known.
double rounded(double share) { return rounded_to(2, share); }

/// "64 rows of 4 sites below 1 MiB (...)", of which a stack's comment says two.
std::string held_text(const Rows& rows, const Rows& all_networks, const char* sizes) {
  if (rows.empty()) return std::string("no row ") + sizes;
  Held held = held_without_own_site(rows, all_networks);
  const double percent = 100. * static_cast<double>(held.rows) / static_cast<double>(rows.size());
  const auto middle = held.ratios.begin() + static_cast<std::ptrdiff_t>(held.ratios.size() / 2);
  std::nth_element(held.ratios.begin(), middle, held.ratios.end());
  return std::to_string(held.rows) + " of " + std::to_string(rows.size()) + " rows of " +
         std::to_string(sites_of(rows).size()) + " sites " + sizes + " (" + fixed(percent, 0) +
         " %; high end over low end: " + fixed(*middle, 2) + ")";
}

std::string text_of(const OfStack& of, const Rows& all_rows) {
  const Rows rows =
      rows_where(all_rows, [&](const TodayRow& row) { return of.networks.contains(row.software); });
  const auto small = [](const TodayRow& row) { return row.is_small(); };
  const auto large = [](const TodayRow& row) { return !row.is_small(); };
  const Rows small_rows = rows_where(rows, small), all_small = rows_where(all_rows, small);
  const Rows large_rows = rows_where(rows, large), all_large = rows_where(all_rows, large);
  const Widths of_small = widths_of(small_rows, all_small);
  const Widths of_large = widths_of(large_rows, all_large);
  Stack stack;
  stack.discrepancy = rounded(of_large.discrepancy);
  stack.scatter = rounded(of_large.scatter);
  stack.small_discrepancy = rounded(of_small.discrepancy);
  stack.small_scatter = rounded(of_small.scatter);
  return stack_csv(
      stack,
      {std::string("NCCL alone, as nccl-tests runs it: no framework around a collective. ") +
           of.where,
       "Made by scripts/validate from traces/measured-nccl-*.csv.",
       "A row's error is the logarithm of measured over forecast time. discrepancy is the root "
       "mean square of the logs' mean errors, scatter that of errors about their log's mean.",
       "A log is one source on one number of nodes. Each site (a cluster) weighs the same.",
       "Where fewer than " + std::to_string(kFewestSites) +
           " sites have rows of a size, its widths are the larger of its own and of all networks'.",
       "With its own site left out, intervals of 90 % hold " +
           held_text(large_rows, all_large, "from 1 MiB") + ", and " +
           held_text(small_rows, all_small, "below") + "."});
}

}  // namespace

std::string site_of(const TodayRow& row) {
  return first_word(row.source) + " " + first_word(row.cluster);
}

bool Widths::hold(const TodayRow& row) const {
  const ForecastInterval interval = interval_of(spread_about(row, *this));
  const Seconds measured{row.measured_seconds};
  return interval.low <= measured && measured <= interval.high;
}

double Widths::ratio() const {
  TodayRow second;
  second.forecast_seconds = 1;
  const ForecastInterval interval = interval_of(spread_about(second, *this));
  return interval.high / interval.low;
}

Widths widths_of(const std::vector<TodayRow>& rows) {
  std::map<std::string, Squares> sites;
  for (const TodayRow& row : rows) sites[site_of(row)].logs[{row.source, row.nodes}].push_back(row);
  Widths widths;
  double scattered = 0;
  for (const auto& [name, site] : sites) {
    widths.discrepancy += site.of_means();
    if (const std::optional<double> about = site.about_means()) {
      widths.scatter += *about;
      ++scattered;
    }
  }
  if (!sites.empty())
    widths.discrepancy = std::sqrt(widths.discrepancy / static_cast<double>(sites.size()));
  if (scattered > 0) widths.scatter = std::sqrt(widths.scatter / scattered);
  return widths;
}

Widths widths_of(const std::vector<TodayRow>& rows, const std::vector<TodayRow>& all_networks) {
  Widths widths = widths_of(rows);
  if (sites_of(rows).size() >= kFewestSites) return widths;
  const Widths all = widths_of(all_networks);
  widths.discrepancy = std::max(widths.discrepancy, all.discrepancy);
  widths.scatter = std::max(widths.scatter, all.scatter);
  return widths;
}

Held held_without_own_site(const std::vector<TodayRow>& rows,
                           const std::vector<TodayRow>& all_networks) {
  Held held;
  for (const std::string& site : sites_of(rows)) {
    const auto elsewhere = [&](const TodayRow& row) { return site_of(row) != site; };
    const Widths widths =
        widths_of(rows_where(rows, elsewhere), rows_where(all_networks, elsewhere));
    for (const TodayRow& row : rows)
      if (site_of(row) == site) {
        if (widths.hold(row)) ++held.rows;
        held.ratios.push_back(widths.ratio());
      }
  }
  return held;
}

std::vector<WidthsFile> widths_files(const Today& today) {
  std::vector<WidthsFile> files;
  // NCCL's networks stand for each other, and RCCL's rows for none of them.
  const Rows of_nccl = rows_where(today.collectives, [](const TodayRow& row) {
    return std::none_of(std::begin(kOfStacks), std::end(kOfStacks), [&](const OfStack& of) {
      return of.rccl && of.networks.contains(row.software);
    });
  });
  for (const OfStack& of : kOfStacks)
    files.push_back(
        {std::string(of.name) + ".csv", text_of(of, of.rccl ? today.collectives : of_nccl)});
  return files;
}

}  // namespace gradcast
