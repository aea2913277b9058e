// A sweep's points with their answers: rows for people and programs.
#pragma once
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/sweep/store.hpp"
#include "sim/sweep/task.hpp"

namespace gradcast {

/// The answer of every point, physics alone beside it (`physics_...`), and the verdict: does
/// compressing pay over the best dense run, or over the same run without compression
/// (SweepPlan::against)? The answer has software, as that of `simulate`, or it is physics alone,
/// and both are the same. `done` has all tasks of all points.
std::vector<Json> sweep_rows(const SweepPlan& plan, const SweepTasks& tasks,
                             const Evaluations& done);

/// A summary of all rows: points, points without an answer, how often each compressor pays, how
/// often the two answers disagree.
Json sweep_summary(const std::vector<Json>& rows);

/// A table with one line per point: the settings that vary, and the numbers for a decision.
std::string sweep_table(const SweepPlan& plan, const std::vector<Json>& rows);

}  // namespace gradcast
