#include "sim/validate/learned.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "sim/base/csv.hpp"
#include "sim/base/random.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/table.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/population/learning.hpp"
#include "sim/report/svg.hpp"
#include "sim/validate/written.hpp"

namespace gradcast {
namespace {

constexpr std::uint64_t kDraws = 20;
constexpr std::size_t kGiven = 3;

/// Measured files, and the one source that is taken of a file that has others; "" for all.
constexpr std::pair<const char*, const char*> kMeasured[] = {
    {"measured-csc", ""},
    {"measured-dlperf", ""},
    {"measured-nvidia-horovod", ""},
    {"measured-lambda-resnet50", ""},
    {"measured-nvidia-examples", "nvidia-resnet50"}};

constexpr std::array kLearnedColumns = {"source",
                                        "stack",
                                        "rows",
                                        "before_mean_absolute_percent",
                                        "after_mean_absolute_percent",
                                        "before_inside_percent",
                                        "after_inside_percent",
                                        "before_median_width_percent",
                                        "after_median_width_percent",
                                        "draws",
                                        "draws_worse",
                                        "worse_at_most_points"};

struct Source {
  std::string name;
  std::shared_ptr<const Stack> stack;
  std::vector<FitRow> rows;
};

/// Sources of a measured file, each with its stack as it was estimated without the source's group.
std::vector<Source> sources_of(const char* measured, const std::string& only, DataFiles& files) {
  std::vector<Source> sources;
  const MeasuredRuns runs = load_measured_runs(files.read(kMeasuredRuns, measured));
  for (FitRow& row : fit_rows_of(runs, files)) {
    const MeasuredRun& run = row.run;
    if (!run.outside.empty() || run.stack.empty() || (!only.empty() && run.source != only))
      continue;
    auto known = std::find_if(sources.begin(), sources.end(), [&](const Source& each) {
      return each.name == run.source && each.rows.front().run.stack == run.stack;
    });
    if (known == sources.end()) {
      const Request request = unseen_request(request_of(run, files), run.source, files);
      if (request.stack.empty()) continue;
      const auto stack = stack_of(request, files);
      known = sources.insert(sources.end(), {run.source, stack, {}});
    }
    known->rows.push_back(std::move(row));
  }
  // Three runs are given, and two are forecast at least.
  std::erase_if(sources, [](const Source& each) { return each.rows.size() < kGiven + 2; });
  return sources;
}

/// Places of the rows that are given, by draw, with a fixed seed.
std::vector<std::size_t> drawn(std::size_t rows, std::uint64_t draw) {
  std::vector<std::size_t> order(rows);
  for (std::size_t i = 0; i < rows; ++i) order[i] = i;
  for (std::size_t i = 0; i < kGiven; ++i) {
    const double share = uniform({1, draw, Draw::Shuffle, i});
    std::swap(order[i], order[i + static_cast<std::size_t>(share * static_cast<double>(rows - i))]);
  }
  order.resize(kGiven);
  return order;
}

/// Adds one run's forecast, and returns its absolute error.
double add(LearnedForecasts& forecasts, const CheckedRun& run, const Evaluation& forecast) {
  forecasts.inside += run.holds(forecast) ? 1 : 0;
  forecasts.widths.push_back(
      100 * ((forecast.interval->high - forecast.interval->low) / forecast.result.iteration));
  return std::abs(run.error_percent(forecast));
}

LearnedSource learn_from(const Source& source) {
  const Engine& engine = *find_engine("analytic");
  std::vector<Evaluation> before;
  for (const FitRow& row : source.rows)
    before.push_back(evaluate_on(row.scenario, source.stack, engine));
  LearnedSource learned{source.name, source.rows.front().run.stack, source.rows.size(), kDraws};
  const auto others = static_cast<double>(source.rows.size() - kGiven);
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const std::vector<std::size_t> given = drawn(source.rows.size(), draw);
    std::vector<FitRow> three;
    for (const std::size_t i : given) three.push_back(source.rows[i]);
    const auto stack = std::make_shared<const Stack>(
        StackLearner(*source.stack, three, 1).by_all("three runs").stack);
    double error_before = 0;
    double error_after = 0;
    for (std::size_t i = 0; i < source.rows.size(); ++i) {
      if (std::find(given.begin(), given.end(), i) != given.end()) continue;
      const FitRow& row = source.rows[i];
      const CheckedRun checked{&row, before[i], evaluate_on(row.scenario, stack, engine)};
      error_before += add(learned.before, checked, checked.before) / others;
      error_after += add(learned.after, checked, checked.after) / others;
    }
    learned.before.error_percent += error_before / kDraws;
    learned.after.error_percent += error_after / kDraws;
    if (error_after > error_before) ++learned.worse;
    learned.worst = std::max(learned.worst, error_after - error_before);
  }
  return learned;
}

std::string cells(const LearnedSource& source) {
  const auto pair = [](double one, double other, int digits) {
    return fixed(one, digits) + " | " + fixed(other, digits) + " | ";
  };
  return source.name + " | " + source.stack + " | " + std::to_string(source.rows) + " | " +
         pair(source.before.error_percent, source.after.error_percent, 1) +
         pair(source.inside_percent(source.before), source.inside_percent(source.after), 0) +
         pair(median(source.before.widths), median(source.after.widths), 0) +
         std::to_string(source.worse) + " of " + std::to_string(source.draws) + " | " +
         fixed(source.worst, 1);
}

/// Bars of one number before and after, by source.
Figure bars(const std::string& id, const std::string& title, const std::vector<LearnedSource>& all,
            double (*of)(const LearnedForecasts&)) {
  Figure figure{id, FigureKind::Bars,          title,
                "", {"", AxisScale::Category}, {"percent", AxisScale::Linear}};
  FigureSeries before{"by the stack alone"};
  FigureSeries after{"and three runs of the source"};
  for (const LearnedSource& source : all)
    for (auto [series, forecasts] :
         {std::pair(&before, &source.before), std::pair(&after, &source.after)}) {
      FigurePoint point;
      point.x_text = source.name;
      point.y = of(*forecasts);
      series->points.push_back(std::move(point));
    }
  figure.panels.push_back({"", {before, after}});
  return figure;
}

}  // namespace

double LearnedSource::inside_percent(const LearnedForecasts& forecasts) const {
  return 100 * static_cast<double>(forecasts.inside) / static_cast<double>(forecasts.widths.size());
}

std::vector<LearnedSource> learn_from_three(DataFiles& files) {
  std::vector<LearnedSource> learned;
  for (const auto& [measured, only] : kMeasured)
    for (const Source& source : sources_of(measured, only, files))
      learned.push_back(learn_from(source));
  return learned;
}

LearnedSource all_of(const std::vector<LearnedSource>& sources) {
  LearnedSource all{"all", ""};
  const auto count = static_cast<double>(sources.size());
  for (const LearnedSource& source : sources) {
    all.rows += source.rows;
    all.draws += source.draws;
    all.worse += source.worse;
    all.worst = std::max(all.worst, source.worst);
    for (const auto which : {&LearnedSource::before, &LearnedSource::after}) {
      LearnedForecasts& its = all.*which;
      const LearnedForecasts& added = source.*which;
      its.error_percent += added.error_percent / count;
      its.inside += added.inside;
      its.widths.insert(its.widths.end(), added.widths.begin(), added.widths.end());
    }
  }
  return all;
}

std::string learned_as_markdown(const std::vector<LearnedSource>& sources) {
  std::string text =
      std::string(kLearnedBegin) +
      "\n| source | stack | runs | error before | after | inside 90 % before | after | width "
      "before | after | draws worse | by at most, points |\n"
      "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const LearnedSource& source : sources) text += "| " + cells(source) + " |\n";
  return text + "| " + cells(all_of(sources)) + " |\n" + std::string(kLearnedEnd);
}

std::string learned_in_words(const std::vector<LearnedSource>& sources) {
  const LearnedSource all = all_of(sources);
  return std::string(kLearnedBegin) + "\n- **After three runs of your own** (`gradcast learn`): " +
         fixed(all.after.error_percent, 1) + " %, where it was " +
         fixed(all.before.error_percent, 1) + " % without them, over " + std::to_string(all.rows) +
         " runs of " + std::to_string(sources.size()) + " sources.\n  " +
         fixed(all.inside_percent(all.after), 0) + " % lie inside their 90 % interval.\n" +
         std::string(kLearnedEnd);
}

std::string learned_as_csv(const std::vector<LearnedSource>& sources) {
  std::string text = csv_comments(
      {"Published sources, each with its stack as it was estimated without that source: forecasts "
       "before and after `learn` was given three of the runs, by 20 draws.",
       "Made by scripts/validate; scripts/test --slow fails where an error has grown by more than "
       "a tenth."});
  text += csv_line({kLearnedColumns.begin(), kLearnedColumns.end()});
  for (const LearnedSource& source : sources)
    text += csv_line({source.name, source.stack, std::to_string(source.rows),
                      fixed(source.before.error_percent, 2), fixed(source.after.error_percent, 2),
                      fixed(source.inside_percent(source.before), 1),
                      fixed(source.inside_percent(source.after), 1),
                      fixed(median(source.before.widths), 1), fixed(median(source.after.widths), 1),
                      std::to_string(source.draws), std::to_string(source.worse),
                      fixed(source.worst, 2)});
  return text;
}

std::string learned_as_svg(const std::vector<LearnedSource>& sources) {
  const std::vector<Figure> figures{
      bars("error", "Mean error of forecasts, by source", sources,
           [](const LearnedForecasts& its) { return its.error_percent; }),
      bars("width", "Median width of their 90 % intervals", sources,
           [](const LearnedForecasts& its) { return median(its.widths); })};
  return svg_of(figures, Palette(figures));
}

std::string learned_complaints(const std::vector<LearnedSource>& sources, const TextFile& file) {
  const LearnedSource all = all_of(sources);
  std::string text;
  if (all.after.error_percent >= all.before.error_percent)
    text += "three runs of one's own make forecasts no better\n";
  if (all.inside_percent(all.after) < 85)
    text += "after three runs less than 85 % of the runs lie inside\n";
  if (median(all.after.widths) > 30) text += "after three runs intervals are wider than 30 %\n";
  std::vector<ErrorsNow> errors;
  for (const LearnedSource& source : sources)
    errors.push_back({source.name,
                      {{"after_mean_absolute_percent", source.after.error_percent},
                       {"after_median_width_percent", median(source.after.widths)}}});
  CsvReader before(file, kLearnedColumns);
  return text + grown_errors(errors, before, "source", "traces/validation-learned.csv");
}

}  // namespace gradcast
