#include "sim/validate/stacks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/csv.hpp"
#include "sim/base/table.hpp"
#include "sim/compare/groups.hpp"
#include "sim/compare/setups.hpp"
#include "sim/forecast/interval.hpp"
#include "sim/population/groups.hpp"
#include "sim/validate/today.hpp"
#include "sim/validate/written.hpp"

namespace gradcast {
namespace {

constexpr std::array kColumns = {"group",
                                 "source",
                                 "stack",
                                 "rows",
                                 "physics_mean_absolute_percent",
                                 "mean_absolute_percent",
                                 "bias_percent",
                                 "worst_percent",
                                 "inside_percent",
                                 "median_width_percent",
                                 "interval_score"};

/// Some runs, and what they must reach: mean error, bias, width in percent; 0: no limit.
struct Kind {
  std::string name;
  double mean_limit = 0;
  double bias_limit = 0;
  double width_limit = 0;
  std::vector<ComparedRun> runs{};
};

double mean_score(const std::vector<ComparedRun>& runs) {
  double sum = 0;
  for (const ComparedRun& run : runs)
    sum +=
        interval_score(run.run.iteration, *run.low, *run.high) / static_cast<double>(runs.size());
  return sum;
}

double physics_error(const std::vector<ComparedRun>& runs) {
  double sum = 0;
  for (const ComparedRun& run : runs)
    sum += std::abs(100 * (run.physics / run.run.iteration - 1)) / static_cast<double>(runs.size());
  return sum;
}

template <class Holds>
Kind kind_of(Kind kind, const std::vector<StackSource>& sources, Holds holds) {
  for (const StackSource& source : sources)
    for (const ComparedRun& run : source.runs)
      if (holds(source, run)) kind.runs.push_back(run);
  return kind;
}

std::vector<Kind> kinds_of(const std::vector<StackSource>& sources) {
  const auto by_nccl = [](const StackSource& source) {
    return transport_of(source.stack) == Transport::Nccl;
  };
  return {kind_of({"dense on NCCL", 5, 2, 35}, sources,
                  [&](const StackSource& source, const ComparedRun& run) {
                    return by_nccl(source) && !run.is_compressed();
                  }),
          kind_of({"dense on MPI or Gloo", 0, 0, 0}, sources,
                  [&](const StackSource& source, const ComparedRun& run) {
                    return !by_nccl(source) && !run.is_compressed();
                  }),
          kind_of({"compressed", 20, 0, 90}, sources,
                  [](const StackSource&, const ComparedRun& run) { return run.is_compressed(); })};
}

std::string line_of(const std::string& first_cells, const Kind& kind) {
  const ErrorSummary errors = summary_of(kind.runs).value();
  const Coverage intervals = coverage_of(kind.runs).value();
  return first_cells + " | " + std::to_string(kind.runs.size()) + " | " +
         fixed(physics_error(kind.runs), 1) + " % | " +
         beside_limit(errors.mean_absolute, false, kind.mean_limit) + " | " +
         beside_limit(errors.bias, true, kind.bias_limit) + " | " + fixed(intervals.percent(), 0) +
         " % | " + beside_limit(intervals.median_width_percent, false, kind.width_limit) + " |\n";
}

/// Pairs of a compressed run and the fastest dense one this far apart, in percent, are decidable.
constexpr double kDecidablePercent = 10;

struct Decided {
  std::size_t pairs = 0;
  std::size_t sure_and_right = 0;
  std::size_t sure_and_wrong = 0;
};

Decided decided_in(const std::vector<StackSource>& sources) {
  Decided decided;
  for (const StackSource& source : sources)
    for (const ComparedRun& run : source.runs) {
      if (!run.measured_speedup || !run.is_compressed()) continue;
      if (std::abs(*run.measured_speedup - 1) <= kDecidablePercent / 100) continue;
      ++decided.pairs;
      if (run.pays_sure().empty()) continue;
      const bool right = (run.pays_sure() == "yes") == (*run.measured_speedup > 1);
      ++(right ? decided.sure_and_right : decided.sure_and_wrong);
    }
  return decided;
}

std::string verdicts_text(const std::vector<StackSource>& sources) {
  const auto [pairs, sure_and_right, sure_and_wrong] = decided_in(sources);
  return "\nDoes compressing pay? " + std::to_string(pairs) +
         " compressed runs are more than 10 % faster or slower than their dense run. The verdict "
         "is sure and\nright for " +
         std::to_string(sure_and_right) + ", sure and wrong for " + std::to_string(sure_and_wrong) +
         ", and cannot be told for " + std::to_string(pairs - sure_and_right - sure_and_wrong) +
         ".\n";
}

}  // namespace

std::vector<StackSource> forecast_stacks(DataFiles& files) {
  const Engine& engine = *find_engine("analytic");
  std::vector<StackSource> sources;
  for (const SourceGroup& group : load_source_groups(files)) {
    const std::size_t first = sources.size();
    for (const FitRow& row : group.rows) {
      auto source =
          std::find_if(sources.begin() + static_cast<std::ptrdiff_t>(first), sources.end(),
                       [&](const StackSource& each) { return each.source == row.run.source; });
      if (source == sources.end())
        source = sources.insert(source, {group.name, row.run.source, group.stack, {}});
      const std::string path = "group " + group.name;
      source->runs.push_back(
          compare_run(path, row.run, unseen_request(path, row.run, files), engine, false, files));
    }
  }
  for (StackSource& source : sources) add_speedups(source.runs);
  return sources;
}

std::string stacks_in_words(const std::vector<StackSource>& sources) {
  const std::vector<Kind> kinds = kinds_of(sources);
  const auto words = [](const Kind& kind) {
    return fixed(summary_of(kind.runs).value().mean_absolute, 1) + " % over " +
           std::to_string(kind.runs.size()) + " ";
  };
  const auto inside = [](const Kind& kind) {
    return fixed(coverage_of(kind.runs).value().percent(), 0) + " % inside";
  };
  const Kind& dense = kinds.front();
  const Kind& compressed = kinds.back();
  const Decided decided = decided_in(sources);
  return "- **Abroad**, where nobody fitted anything: off by " + words(dense) +
         "dense runs on NCCL (" + inside(dense) + "), and by " + words(compressed) +
         "compressed\n  runs, most of them on MPI (" + inside(compressed) +
         "). Whether compressing pays: sure and right for " +
         std::to_string(decided.sure_and_right) + " of " + std::to_string(decided.pairs) +
         " runs that differ\n  by more than 10 %, sure and wrong for " +
         std::to_string(decided.sure_and_wrong) + ", else it says what to measure.\n";
}

std::string stacks_as_markdown(const std::vector<StackSource>& sources) {
  std::string text =
      std::string(kStacksBegin) +
      "\n| group of runs | its stack | rows | physics alone | forecast without the group | bias | "
      "inside 90 % | width |\n|---|---|---:|---:|---:|---:|---:|---:|\n";
  std::vector<Kind> groups;
  std::vector<std::string> cells;
  for (const StackSource& source : sources) {
    if (groups.empty() || groups.back().name != source.group) {
      groups.push_back({source.group});
      const bool seen = std::any_of(sources.begin(), sources.end(), [&](const StackSource& other) {
        return other.stack == source.stack && other.group != source.group;
      });
      cells.push_back("| " + source.group + " | " + source.stack +
                      (seen ? "" : " (nobody else measured it)"));
    }
    auto& runs = groups.back().runs;
    runs.insert(runs.end(), source.runs.begin(), source.runs.end());
  }
  for (std::size_t g = 0; g < groups.size(); ++g) text += line_of(cells[g], groups[g]);
  for (const Kind& kind : kinds_of(sources))
    if (!kind.runs.empty()) text += line_of("| **" + kind.name + "** | ", kind);
  return text + verdicts_text(sources) + std::string(kStacksEnd);
}

std::string stacks_as_csv(const std::vector<StackSource>& sources) {
  std::string text = csv_comments(
      {"Runs of the groups of traces/stack-groups.csv, forecast by stacks that have not seen their "
       "group.",
       "interval_score: mean of the 90 % interval's width and 20 times what a run lies outside, on "
       "the logarithm of time.",
       "Made by scripts/validate; scripts/test fails where an error or a score has grown by more "
       "than a tenth."});
  text += csv_line({kColumns.begin(), kColumns.end()});
  for (const StackSource& source : sources) {
    const ErrorSummary errors = summary_of(source.runs).value();
    const Coverage intervals = coverage_of(source.runs).value();
    text += csv_line({source.group, source.source, source.stack, std::to_string(source.runs.size()),
                      fixed(physics_error(source.runs), 2), fixed(errors.mean_absolute, 2),
                      fixed(errors.bias, 2), fixed(errors.worst, 2), fixed(intervals.percent(), 1),
                      fixed(intervals.median_width_percent, 2), fixed(mean_score(source.runs), 3)});
  }
  return text;
}

std::string stacks_complaints(const std::vector<StackSource>& sources, const TextFile& file) {
  std::vector<ErrorsNow> errors;
  for (const StackSource& source : sources)
    errors.push_back({source.source,
                      {{"mean_absolute_percent", summary_of(source.runs).value().mean_absolute},
                       {"interval_score", mean_score(source.runs)}}});
  CsvReader before(file, kColumns);
  return grown_errors(errors, before, "source", "traces/validation-stacks.csv");
}

}  // namespace gradcast
