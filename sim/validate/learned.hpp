// Three runs of one's own: published sources, each with its stack as it was estimated without that
// source. Three of the runs go to `learn`, and what it learns forecasts the others.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {

/// The quality of forecasts of a source's other runs, before or after learning.
struct LearnedForecasts {
  double error_percent = 0;      // mean absolute, in the mean over draws
  std::size_t inside = 0;        // runs whose 90 % interval held the measurement, over all draws
  std::vector<double> widths{};  // of these intervals, in percent of the forecast
};

struct LearnedSource {
  std::string name;
  std::string stack;
  std::size_t rows = 0;
  std::size_t draws = 0;  // of which three runs are given
  LearnedForecasts before{};
  LearnedForecasts after{};
  std::size_t worse = 0;  // draws whose mean error grew
  double worst = 0;       // percentage points by which one grew at most

  double inside_percent(const LearnedForecasts& forecasts) const;
};

/// Twenty draws of each source. About half a minute.
std::vector<LearnedSource> learn_from_three(DataFiles& files);

/// All sources as one: means over draws.
LearnedSource all_of(const std::vector<LearnedSource>& sources);

inline constexpr std::string_view kLearnedBegin = "<!-- three runs: made by scripts/validate -->";
inline constexpr std::string_view kLearnedEnd = "<!-- end of three runs -->";

/// The table of docs/accuracy.md, between its markers.
std::string learned_as_markdown(const std::vector<LearnedSource>& sources);
/// The line of README.md, between the same markers.
std::string learned_in_words(const std::vector<LearnedSource>& sources);
/// traces/validation-learned.csv.
std::string learned_as_csv(const std::vector<LearnedSource>& sources);
/// docs/three-runs.svg: errors and widths by source, before and after.
std::string learned_as_svg(const std::vector<LearnedSource>& sources);

/// A limit that all sources together no longer keep, or an error that has grown since `file` was
/// written, one per line; "" for nothing.
std::string learned_complaints(const std::vector<LearnedSource>& sources, const TextFile& file);

}  // namespace gradcast
