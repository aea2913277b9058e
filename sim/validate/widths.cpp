#include "sim/validate/widths.hpp"

#include <algorithm>
#include <cmath>
#include <map>
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
};
const OfStack kOfStacks[] = {
    {"stack-nccl",
     "On InfiniBand, RoCE or EFA, and inside a node.",
     {"InfiniBand, RoCE", "EFA (p5.48xlarge)", "one node, vTrain's tables", "one node, others"}},
    {"stack-nccl-slingshot", "On Slingshot, through libfabric.", {"Slingshot through libfabric"}},
    {"stack-nccl-tcp",
     "On TCP, through sockets or GPUDirect.",
     {"TCP", "TCP past the host (A3 Mega)"}},
};

double log_ratio(const TodayRow& row) {
  return std::log(row.measured_seconds / row.forecast_seconds);
}

double mean_of(const std::vector<TodayRow>& log) {
  double sum = 0;
  for (const TodayRow& row : log) sum += log_ratio(row);
  return sum / static_cast<double>(log.size());
}

/// Two digits: more are not known.
double rounded(double share) { return rounded_to(2, share); }

std::string text_of(const OfStack& of, const Logs& logs) {
  std::size_t rows = 0;
  for (const auto& log : logs) rows += log.size();
  const std::size_t held = held_without_own_log(logs);
  const Widths widths = widths_of(logs);
  Stack stack;
  stack.discrepancy = rounded(widths.discrepancy);
  stack.scatter = rounded(widths.scatter);
  const double percent = 100. * static_cast<double>(held) / static_cast<double>(rows);
  return stack_csv(
      stack,
      {std::string("NCCL alone, as nccl-tests runs it: no framework around a collective. ") +
           of.where,
       "Made by scripts/validate from " + std::to_string(rows) + " rows of " +
           std::to_string(logs.size()) +
           " logs: traces/measured-nccl-tests.csv and measured-nccl-p5.csv, where each number of "
           "nodes is a log.",
       "Of the logarithm of measured over forecast time, discrepancy is the root mean square of "
       "the logs' means, scatter that of rows about their log's mean.",
       "Where both come from all logs but the row's own, intervals of 90 % hold " +
           std::to_string(held) + " of the " + std::to_string(rows) + " rows (" +
           fixed(percent, 0) + " %)."});
}

}  // namespace

bool Widths::hold(const TodayRow& row) const {
  SoftwareSpread spread;
  spread.group = row.source;
  spread.physics = spread.forecast = row.forecast_seconds;
  spread.discrepancy = discrepancy;
  spread.scatter = scatter;
  const ForecastInterval interval = interval_of(spread);
  const Seconds measured{row.measured_seconds};
  return interval.low <= measured && measured <= interval.high;
}

Logs logs_of(const std::vector<TodayRow>& rows) {
  std::map<std::pair<std::string, int>, std::vector<TodayRow>> logs;
  for (const TodayRow& row : rows) logs[{row.source, row.nodes}].push_back(row);
  Logs all;
  for (auto& [key, log] : logs) all.push_back(std::move(log));
  return all;
}

Widths widths_of(const Logs& logs) {
  Widths widths;
  std::size_t rows = 0;
  for (const auto& log : logs) {
    const double mean = mean_of(log);
    widths.discrepancy += mean * mean;
    for (const TodayRow& row : log) widths.scatter += std::pow(log_ratio(row) - mean, 2);
    rows += log.size();
  }
  widths.discrepancy = std::sqrt(widths.discrepancy / static_cast<double>(logs.size()));
  widths.scatter = std::sqrt(widths.scatter / static_cast<double>(rows));
  return widths;
}

std::size_t held_without_own_log(const Logs& logs) {
  std::size_t held = 0;
  for (std::size_t left_out = 0; left_out < logs.size(); ++left_out) {
    Logs others = logs;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    const Widths widths = widths_of(others);
    held += static_cast<std::size_t>(
        std::count_if(logs[left_out].begin(), logs[left_out].end(),
                      [&](const TodayRow& row) { return widths.hold(row); }));
  }
  return held;
}

std::vector<WidthsFile> widths_files(const Today& today) {
  std::vector<WidthsFile> files;
  for (const OfStack& of : kOfStacks) {
    std::vector<TodayRow> rows;
    for (const TodayRow& row : today.collectives)
      if (of.networks.contains(row.software)) rows.push_back(row);
    files.push_back({std::string(of.name) + ".csv", text_of(of, logs_of(rows))});
  }
  return files;
}

}  // namespace gradcast
