#include "sim/compare/report.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/base/time_unit.hpp"
#include "sim/compare/groups.hpp"
#include "sim/compare/tables.hpp"

namespace gradcast {
namespace {

std::string optional_fixed(const std::optional<double>& value) {
  return value ? fixed(*value, 2) : "-";
}

/// A collective alone has no efficiency.
std::string efficiency(const MeasuredRun& run, double share) {
  return run.payload.count > 0 ? "-" : fixed(100 * share, 1);
}

/// The model with what the legend says of its row: "resnet-50 !".
std::string marked_model(const ComparedRun& run) {
  return by_model().of(run) + (run.outside_model.empty() ? "" : " !") +
         (run.extrapolated.empty() ? "" : " ^") + (run.outside.empty() ? "" : " ?");
}

/// The unit of times; seconds have three digits after the point here.
TimeUnit unit_of(const std::vector<ComparedRun>& runs) {
  Shortest shortest;
  for (const ComparedRun& run : runs) {
    shortest.add(run.run.iteration);
    shortest.add(run.predicted());
  }
  TimeUnit unit = shortest.unit();
  if (unit.seconds()) unit.digits = 3;
  return unit;
}

/// "measured" in seconds, "measured us" in another unit.
std::string headed(const char* what, const TimeUnit& unit) {
  return unit.seconds() ? what : unit.headed(what);
}

std::string interval(const ComparedRun& run, const TimeUnit& unit) {
  return run.has_interval() ? unit.number(*run.low) + " to " + unit.number(*run.high) : "-";
}

std::string speedup_range(const ComparedRun& run) {
  const auto& interval = run.speedup_interval;
  return interval ? fixed(interval->low, 2) + " to " + fixed(interval->high, 2) : "-";
}

std::string verdict_or_dash(const ComparedRun& run) {
  const std::string verdict = run.verdict();
  return verdict.empty() ? "-" : verdict;
}

/// A column and its content.
struct Column {
  std::string header;
  std::function<std::string(const ComparedRun&)> text;
};

/// True where one compressor ran at more than one density.
bool several_densities(const std::vector<ComparedRun>& runs) {
  std::map<std::string, std::set<double>> densities;
  for (const ComparedRun& run : runs) densities[run.run.compressor].insert(run.run.density);
  return std::any_of(densities.begin(), densities.end(),
                     [](const auto& of) { return of.second.size() > 1; });
}

std::vector<Column> naming_columns(const std::vector<ComparedRun>& runs, const TimeUnit& unit) {
  std::vector<Column> columns{{"model", marked_model}};
  if (const Aspect source = by_source(); values_of(runs, source).size() > 1)
    columns.push_back({source.name, source.of});
  for (const Aspect& aspect : differing_aspects(runs)) columns.push_back({aspect.name, aspect.of});
  const Aspect algorithm = by_algorithm(runs);
  columns.push_back({algorithm.name, [algorithm](const ComparedRun& run) {
                       return run.run.payload.count > 0 ? run.run.collective : algorithm.of(run);
                     }});
  if (several_densities(runs))
    columns.push_back({"density", [](const ComparedRun& run) {
                         return run.run.density < 1 ? number_to_text(run.run.density) : "-";
                       }});
  if (std::any_of(runs.begin(), runs.end(), [](const auto& r) { return r.run.parameter; }))
    columns.push_back({"parameter", [](const ComparedRun& run) {
                         return run.run.parameter ? number_to_text(*run.run.parameter) : "-";
                       }});
  columns.push_back({headed("compute*", unit), [unit](const ComparedRun& run) {
                       return unit.seconds() ? fixed(run.run.compute.count(), 4)
                                             : unit.number(run.run.compute);
                     }});
  columns.push_back({headed("measured", unit),
                     [unit](const ComparedRun& run) { return unit.number(run.run.iteration); }});
  return columns;
}

void add_forecast_columns(std::vector<Column>& columns, const std::vector<ComparedRun>& runs,
                          const TimeUnit& unit) {
  columns.push_back({headed("forecast", unit),
                     [unit](const ComparedRun& run) { return unit.number(run.predicted()); }});
  if (std::any_of(runs.begin(), runs.end(), [](const ComparedRun& r) { return r.has_interval(); }))
    columns.push_back(
        {"90 % interval", [unit](const ComparedRun& run) { return interval(run, unit); }});
  columns.push_back(
      {"error %", [](const ComparedRun& run) { return with_sign(run.error_percent(), 1); }});
  columns.push_back({headed("unexplained", unit), [unit](const ComparedRun& run) {
                       return with_sign(unit.per_second * run.unexplained().count(), unit.digits);
                     }});
  columns.push_back({"eff.% meas", [](const ComparedRun& run) {
                       return efficiency(run.run, run.measured_efficiency());
                     }});
  columns.push_back({"eff.% fcst", [](const ComparedRun& run) {
                       return efficiency(run.run, run.predicted_efficiency());
                     }});
}

/// Another time divided by the run's forecast; "-" if unknown.
std::string times(const std::optional<Seconds>& other, const ComparedRun& run) {
  return other ? fixed(*other / run.predicted(), 2) : "-";
}

void add_what_if_columns(std::vector<Column>& columns, const TimeUnit& unit) {
  columns.push_back({headed("forecast", unit), [unit](const ComparedRun& run) {
                       return unit.number(run.own_costs_forecast.value_or(run.predicted()));
                     }});
  columns.push_back({headed("what if", unit),
                     [unit](const ComparedRun& run) { return unit.number(run.predicted()); }});
  columns.push_back(
      {"x forecast", [](const ComparedRun& run) { return times(run.own_costs_forecast, run); }});
  columns.push_back({"x measured", [](const ComparedRun& run) {
                       return run.what_if_costs.empty() ? "-" : times(run.run.iteration, run);
                     }});
}

std::string rows_table(const std::vector<ComparedRun>& runs) {
  const bool what_if = !what_if_costs_of(runs).empty();
  const TimeUnit unit = unit_of(runs);
  std::vector<Column> columns = naming_columns(runs, unit);
  if (what_if)
    add_what_if_columns(columns, unit);
  else
    add_forecast_columns(columns, runs, unit);
  if (values_of(runs, by_algorithm(runs)).size() > 1) {
    columns.push_back({"x dense meas", [](const ComparedRun& run) {
                         return optional_fixed(run.measured_speedup);
                       }});
    columns.push_back({what_if ? "x dense what if" : "x dense fcst", [](const ComparedRun& run) {
                         return optional_fixed(run.predicted_speedup);
                       }});
    if (std::any_of(runs.begin(), runs.end(),
                    [](const ComparedRun& run) { return run.speedup_interval.has_value(); }))
      columns.insert(columns.end(),
                     {{"x dense 90 %", speedup_range}, {"verdict", verdict_or_dash}});
  }
  TextTable table;
  for (const Column& column : columns) table.header.push_back(column.header);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i > 0 && !belong_together(runs[i], runs[i - 1])) table.rows.push_back({});
    std::vector<std::string> row;
    for (const Column& column : columns) row.push_back(column.text(runs[i]));
    table.rows.push_back(std::move(row));
  }
  return to_text(table);
}

/// "! Outside the model, ...: no layer-wise schedule", one line a text; where there are several,
/// each names its rows.
std::string marks(const std::vector<ComparedRun>& runs, const std::string& what,
                  const std::function<std::string(const ComparedRun&)>& text_of) {
  std::vector<std::pair<std::string, std::vector<std::string>>> rows_of;
  const Aspect algorithm = by_algorithm(runs);
  for (const ComparedRun& run : runs) {
    const std::string text = text_of(run);
    if (text.empty()) continue;
    auto found = std::find_if(rows_of.begin(), rows_of.end(),
                              [&](const auto& entry) { return entry.first == text; });
    if (found == rows_of.end()) found = rows_of.insert(found, {text, {}});
    const std::string row = by_model().of(run) + " with " + algorithm.of(run);
    if (std::find(found->second.begin(), found->second.end(), row) == found->second.end())
      found->second.push_back(row);
  }
  std::string lines;
  for (const auto& [why, rows] : rows_of)
    lines += what + (rows_of.size() > 1 ? " (" + join(rows) + ")" : "") + ": " + why + "\n";
  return lines;
}

/// The legend of the columns and marks.
std::string legend(const std::vector<ComparedRun>& runs) {
  const Aspect compressor{"compressor", [](const ComparedRun& run) { return run.run.compressor; }};
  std::vector<std::string> evidence;
  for (const std::string& name : values_of(runs, compressor))
    for (const ComparedRun& run : runs)
      if (run.run.compressor == name && !run.evidence.empty()) {
        evidence.push_back(name + " " + run.evidence);
        break;
      }
  const bool speedups = values_of(runs, by_algorithm(runs)).size() > 1;
  std::string text =
      "Seconds an iteration. * One iteration of one GPU alone, taken from the measurement: an "
      "input,\nnot a forecast.";
  if (what_if_costs_of(runs).empty())
    text += " Unexplained: measured - forecast. Eff.: scaling efficiency, compute over\niteration.";
  else
    text +=
        " Forecast: with the costs that the row was measured with. X forecast: how many\n"
        "times as fast as that the other costs are. X measured: as fast as what was measured, and "
        "in it is\nwhat the forecast leaves unexplained. Neither is an error, and rows that "
        "compress nothing are\nordinary forecasts.";
  if (speedups) text += " X dense: how many times as fast as the fastest dense run of its set-up.";
  text += "\n";
  if (!evidence.empty()) text += "The compressors' own time is " + join(evidence) + ".\n";
  return text +
         marks(runs, "! Outside what the model claims, counted nowhere",
               [](const ComparedRun& run) { return run.outside_model; }) +
         marks(runs, "^ Extrapolated", [](const ComparedRun& run) { return run.extrapolated; }) +
         marks(runs, "? Costs beyond the cost table",
               [](const ComparedRun& run) { return run.outside; }) +
         marks(runs, "Assumed", [](const ComparedRun& run) { return run.run.assumed; });
}

}  // namespace

std::string what_if_costs_of(const std::vector<ComparedRun>& runs) {
  std::vector<std::string> costs;
  for (const ComparedRun& run : runs)
    if (!run.what_if_costs.empty() &&
        std::find(costs.begin(), costs.end(), run.what_if_costs) == costs.end())
      costs.push_back(run.what_if_costs);
  return join(costs);
}

std::string comparison_table(const std::vector<ComparedRun>& runs, const ComparisonView& view) {
  const std::string what_if = what_if_costs_of(runs);
  std::string text =
      (what_if.empty() ? "Forecast against measurement: " + view.name
                       : "What if compressing cost as " + what_if + " says: " + view.name) +
      ", engine " + view.engine + "\n\n" + rows_table(runs) + "\n" + legend(runs);
  if (!what_if.empty()) return text;
  std::vector<std::string> parts{summary_text(runs)};
  if (view.split) parts.push_back(split_text(runs));
  if (view.explain) parts.push_back(suspects_text(runs));
  parts.push_back(verdicts_text(runs));
  parts.push_back(rankings_text(runs));
  parts.push_back(speedups_text(runs));
  for (const std::string& part : parts)
    if (!part.empty()) text += "\n" + part;
  return text;
}

double parse_max_error(std::string_view text) {
  const std::string_view number = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  try {
    if (const double percent = parse_number(number); percent > 0) return percent;
  } catch (const ValueError&) {
    // said below, with the sign that was typed
  }
  throw ValueError("'" + std::string(text) + "' is not an error above zero, like '20%'");
}

void require_within(double most, const std::vector<ComparedRun>& runs) {
  for (const ComparedRun& run : runs)
    if (run.counts() && std::abs(run.error_percent()) > most)
      throw Error(ExitCode::BeyondMaxError,
                  run.run.source + ", " + by_model().of(run) + " with " + run.run.compressor +
                      ": error " + with_sign(run.error_percent(), 1) +
                      " %, more than --max-error " + number_to_text(most) + " %");
}

}  // namespace gradcast
