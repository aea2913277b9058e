// The quality of intervals and forecasts on software that others measured: each run of the groups
// of traces/stack-groups.csv, forecast by a stack that was estimated without its group.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/compare/comparison.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {

struct StackSource {
  std::string group;
  std::string source;
  std::string stack;
  std::vector<ComparedRun> runs;
};

/// Forecasts all runs with the engine `analytic`, as `compare` does.
std::vector<StackSource> forecast_stacks(DataFiles& files);

inline constexpr std::string_view kStacksBegin = "<!-- stacks: made by scripts/validate -->";
inline constexpr std::string_view kStacksEnd = "<!-- end of stacks -->";

/// The line of README.md: dense runs, compressed runs, and verdicts.
std::string stacks_in_words(const std::vector<StackSource>& sources);

/// The table of docs/accuracy.md, by group, between its markers.
std::string stacks_as_markdown(const std::vector<StackSource>& sources);

/// traces/validation-stacks.csv: errors and intervals of each source.
std::string stacks_as_csv(const std::vector<StackSource>& sources);

/// The errors that have grown since `file` was written, one per line; "" for none.
std::string stacks_complaints(const std::vector<StackSource>& sources, const TextFile& file);

}  // namespace gradcast
