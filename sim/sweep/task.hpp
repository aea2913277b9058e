// The forecasts that a sweep's points need, each once. Points share their dense runs, and with
// fitted software every point needs two.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/forecast/evaluation.hpp"
#include "sim/sweep/plan.hpp"

namespace gradcast {

/// One forecast to make. Its key includes everything that decides the forecast: version, engine,
/// flags and the contents of files.
struct SweepTask {
  std::string key;  // SHA-256 in hexadecimal
  Asked asked;
};

/// The numbers of the tasks of one run: by physics alone, and with fitted software.
struct TaskPair {
  std::size_t physics = 0;
  std::optional<std::size_t> fitted{};

  /// With software where there is such a forecast.
  std::size_t answer() const { return fitted.value_or(physics); }
};

/// A run by one schedule.
struct ScheduledTasks {
  Schedule schedule;
  TaskPair own;
  TaskPair dense;  // the same without compression
};

/// The tasks that a point needs.
struct PointTasks {
  std::vector<ScheduledTasks> schedules;  // one, or of the best all among which it is chosen
  std::vector<ScheduledTasks> dense;      // among which the best dense run is; empty: not asked for
};

struct SweepPoint {
  SweepSettings settings;
  Request request;
  std::optional<Cluster> cluster;  // the request's; none where there can be no such cluster
  PointTasks tasks;
  std::string software{};     // of the answer; "": physics alone
  bool costs_fitted = false;  // as costs_fitted() has it
};

struct SweepTasks {
  std::vector<SweepTask> tasks;
  /// A dense run has no density. If dense points differ only in density, the first one stays.
  std::vector<SweepPoint> points;
};

/// Reads the files that points name, point by point. `made_by`: version and commit. Throws
/// UsageError for an unknown name, DataError for a file that cannot be read.
SweepTasks tasks_of(const SweepPlan& plan, const Engine& engine, const std::string& made_by,
                    DataFiles& files);

}  // namespace gradcast
