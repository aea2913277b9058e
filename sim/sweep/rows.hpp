// A sweep's points with their answers: rows for people and programs.
#pragma once
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/sweep/store.hpp"
#include "sim/sweep/task.hpp"

namespace gradcast {

/// Every point's forecast, twice where there is fitted software, and whether it pays: an iteration
/// is shorter than the same one without compression. `done` has all tasks of all points.
std::vector<Json> sweep_rows(const SweepPlan& plan, const SweepTasks& tasks,
                             const Evaluations& done);

/// What all rows say together: points, points without an answer, how often each pays, how often the
/// two answers disagree.
Json sweep_summary(const std::vector<Json>& rows);

/// A line a point: what varies, and what a decision needs.
std::string sweep_table(const SweepPlan& plan, const std::vector<Json>& rows);

}  // namespace gradcast
