// The result of learning from runs, as people and programs read it, and as files for forecasts.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/fit/fitted_files.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/population/learning.hpp"
#include "sim/population/next_runs.hpp"

namespace gradcast {

struct LearnedAnswer {
  std::string measured;                  // the file, as it was named
  std::string stack;                     // that was the prior, without "stack-"
  std::string why_assumed{};             // in words, where no row and no flag names the stack
  std::vector<std::string> left_open{};  // "collective nccl": chosen by the stack for empty cells
  std::vector<std::string> left_out{};   // rows: "line 7: why"
  std::vector<std::string> notes{};      // doubts about the runs, in words
  LearnedStack learned{};
  std::vector<CheckedRun> checked{};
  std::vector<NextRun> next{};
  std::vector<FittedFile> files{};      // of what was learned
  std::string folder{};                 // that they are written to; "": they are not
  std::vector<std::string> commands{};  // that go on from there
};

/// "my-runs" of "traces/measured-my-runs.csv".
std::string learned_name(const std::string& measured);

/// A sentence that names the clusters of the rows; "" where they are of one.
std::string several_clusters(const std::vector<FitRow>& rows);

/// `platforms/stack-<name>.csv`, and a copy of each cluster that the rows name by a path. Throws
/// ValueError where two clusters would have one name.
std::vector<FittedFile> learned_files(const LearnedStack& learned, const std::string& measured,
                                      const std::string& prior, const std::vector<FitRow>& rows,
                                      DataFiles& files);

/// The command that forecasts the set-up of a row on twice the nodes with what was written into the
/// folder.
std::string simulate_command(const FitRow& row, const std::string& measured,
                             const std::string& folder);

std::string learned_table(const LearnedAnswer& answer);
/// Each row forecast by the others.
std::vector<Json> learned_rows(const LearnedAnswer& answer);
Json learned_summary(const LearnedAnswer& answer);
/// Members "stack", "learned", "measure_next", "notes" and "files" of the document.
Json learned_members(const LearnedAnswer& answer);

}  // namespace gradcast
