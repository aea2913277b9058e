// What each change of a run is worth: a bar for each option of `decide`, with its interval.
#include "sim/base/table.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {

std::vector<Figure> option_figures(const ResultFile& decided) {
  Figure figure{"options",
                FigureKind::Bars,
                "What each change is worth",
                "",
                {"one change", AxisScale::Category},
                {"samples a second over today's"}};
  figure.table.header = {"one change", "iteration (s)", "samples/s", "speedup", "90 % from",
                         "to",         "GPU time",      "verdict",   "measure", "left out because"};
  FigurePanel panel;
  FigureSeries speedups{"speedup"};
  FigureSeries today{"today", {}, true};
  for (const Json& row : decided.rows) {
    const std::string option = text_of(row, "option");
    const auto number = [&](const char* column) { return optional_text(positive_of(row, column)); };
    figure.table.rows.push_back({option, number("iteration_seconds"), number("samples_per_second"),
                                 number("speedup"), number("speedup_low"), number("speedup_high"),
                                 number("gpu_time_ratio"), text_of(row, "verdict"),
                                 text_of(row, "measure"), text_of(row, "refused")});
    const auto speedup = positive_of(row, "speedup");
    if (!speedup) continue;
    FigurePoint point{0, *speedup, option};
    point.low = number_of(row, "speedup_low");
    point.high = number_of(row, "speedup_high");
    point.label = option + ": " + times_text(*speedup) + ", " + text_of(row, "verdict");
    if (point.low && point.high)
      point.label += " (90 %: " + fixed(*point.low, 2) + " to " + fixed(*point.high, 2) + ")";
    speedups.points.push_back(point);
    today.points.push_back({0, 1, option});
  }
  if (speedups.points.empty()) return {};
  panel.series = {speedups, today};
  figure.panels.push_back(std::move(panel));
  figure.summary =
      "Each bar is today's run with one change; lines are intervals of 90 %. A change pays surely "
      "only where its whole line lies beyond the dashed one.";
  figure.summary += cut_to_fit(figure);
  return {figure};
}

}  // namespace gradcast
