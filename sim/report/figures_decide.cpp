// The worth of each change of a run: a bar for each option of `decide`, with its interval.
#include "sim/base/table.hpp"
#include "sim/forecast/verdict.hpp"
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
  FigureSeries today{"today", {}, true};
  std::size_t more = 0;
  std::size_t too_large = 0;
  for (const Json& row : decided.rows) {
    const std::string option = text_of(row, "option");
    const auto number = [&](const char* column) { return optional_text(positive_of(row, column)); };
    figure.table.rows.push_back({option, number("iteration_seconds"), number("samples_per_second"),
                                 number("speedup"), number("speedup_low"), number("speedup_high"),
                                 number("gpu_time_ratio"), text_of(row, "verdict"),
                                 text_of(row, "measure"), text_of(row, "refused")});
    const auto speedup = positive_of(row, "speedup");
    if (!speedup) continue;
    if (text_of(row, "fits") == "no") {  // nobody can have it
      ++too_large;
      continue;
    }
    if (figure.x.categories.size() == kMostBars) {
      ++more;
      continue;
    }
    const Pays pays = pays_in(text_of(row, "verdict")).value_or(Pays::CannotBeTold);
    FigurePoint point{0, *speedup, option};
    point.low = number_of(row, "speedup_low");
    point.high = number_of(row, "speedup_high");
    point.label = option + ": " + times_text(*speedup) + ", " + to_text(pays);
    if (point.low && point.high)
      point.label += " (90 %: " + fixed(*point.low, 2) + " to " + fixed(*point.high, 2) + ")";
    series_named(panel, to_text(pays)).points.push_back(point);
    today.points.push_back({0, 1, option});
    figure.x.categories.push_back(option);  // ranked, whatever their verdicts
  }
  if (panel.series.empty()) return {};
  panel.series.push_back(today);
  figure.panels.push_back(std::move(panel));
  order_series(figure, {to_text(Pays::Yes), to_text(Pays::CannotBeTold), to_text(Pays::No)});
  figure.summary =
      "Each bar is today's run with one change; lines are intervals of 90 %. A change pays surely "
      "only where its whole line lies beyond the dashed one.";
  if (more > 0) figure.summary += " " + std::to_string(more) + " more bars are in the table alone.";
  if (too_large > 0)
    figure.summary += " " + std::to_string(too_large) +
                      (too_large == 1 ? " change does" : " changes do") +
                      " not fit in memory: the table has what they would take.";
  return {figure};
}

}  // namespace gradcast
