#include "sim/report/figures.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/base/table.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

void append(std::vector<Figure>& all, std::vector<Figure> more) {
  for (Figure& figure : more) all.push_back(std::move(figure));
}

/// Removes columns without any entry.
void drop_empty_columns(FigureTable& table) {
  for (std::size_t column = table.header.size(); column-- > 0;) {
    if (std::any_of(table.rows.begin(), table.rows.end(),
                    [&](const auto& row) { return !row[column].empty(); }))
      continue;
    const auto drop = [&](std::vector<std::string>& row) {
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    };
    drop(table.header);
    std::for_each(table.rows.begin(), table.rows.end(), drop);
  }
}

/// "scaling", and "scaling-2" of the second.
void make_unique(std::vector<Figure>& figures) {
  std::map<std::string, int> seen;
  for (Figure& figure : figures)
    if (const int number = ++seen[figure.id]; number > 1) figure.id += "-" + std::to_string(number);
}

}  // namespace

std::vector<Figure> figures_of(std::span<const ResultFile> results) {
  const auto each = [&](const char* command, auto make) {
    std::vector<Figure> figures;
    for (const ResultFile& result : results)
      if (result.command == command) append(figures, make(result));
    return figures;
  };
  const auto of_points = [&](auto make) {
    return each("sweep", [&](const ResultFile& sweep) { return make(points_of(sweep)); });
  };
  const auto all_of = [&](const char* command) {
    std::vector<const ResultFile*> found;
    for (const ResultFile& result : results)
      if (result.command == command) found.push_back(&result);
    return found;
  };
  const std::vector<const ResultFile*> trained = all_of("train");

  std::vector<Figure> figures;
  append(figures, each("decide", option_figures));
  append(figures, each("breakeven", stretch_figures));
  append(figures, each("breakeven", winner_map_figures));
  append(figures, each("tta", accuracy_figures));
  append(figures, convergence_figures(trained));
  append(figures, of_points(winner_figures));
  append(figures, each("sweep", upgrade_figures));
  append(figures, of_points(speedup_figures));
  append(figures, of_points(scaling_figures));
  append(figures, simulated_figures(all_of("simulate")));
  append(figures, of_points(breakdown_figures));
  append(figures, each("timeline", timeline_figures));
  append(figures, of_points(density_figures));
  append(figures, u_figures(trained));
  append(figures, each("theory-curve", theory_figures));
  append(figures, each("fit", error_figures));
  append(figures, each("compare", error_figures));
  append(figures, each("collectives",
                       [](const ResultFile& printed) { return collective_figures(printed.rows); }));
  append(figures, each("calibrate", kernel_figures));
  make_unique(figures);
  for (Figure& figure : figures) drop_empty_columns(figure.table);
  return figures;
}

FigureSeries& series_named(FigurePanel& panel, const std::string& name) {
  for (FigureSeries& series : panel.series)
    if (series.name == name) return series;
  return panel.series.emplace_back(FigureSeries{name, {}});
}

void order_series(Figure& figure, const std::vector<std::string>& names) {
  const auto place = [&](const FigureSeries& series) {
    return std::find(names.begin(), names.end(), series.name) - names.begin();
  };
  for (FigurePanel& panel : figure.panels)
    std::stable_sort(
        panel.series.begin(), panel.series.end(),
        [&](const FigureSeries& a, const FigureSeries& b) { return place(a) < place(b); });
}

std::string cut_to_fit(Figure& figure) {
  std::string note;
  if (figure.panels.size() > kMostPanels) {
    note += " " + std::to_string(figure.panels.size() - kMostPanels) +
            " more panels are in the table alone.";
    figure.panels.resize(kMostPanels);
  }
  if (figure.kind != FigureKind::Bars) return note;
  std::size_t bars = 0;
  for (FigurePanel& panel : figure.panels) {
    std::set<std::string> kept;
    std::set<std::string> cut;
    for (FigureSeries& series : panel.series)
      std::erase_if(series.points, [&](const FigurePoint& point) {
        if (kept.contains(point.x_text)) return false;
        (kept.size() < kMostBars ? kept : cut).insert(point.x_text);
        return cut.contains(point.x_text);
      });
    bars += cut.size();
  }
  return bars == 0 ? note
                   : note + " " + std::to_string(bars) + " more bars are in the table alone.";
}

std::string seconds_text(double seconds) { return number_to_text(rounded_to(4, seconds)); }

std::string times_text(double times) { return fixed(times, times < 10 ? 2 : 1) + "x"; }

std::string share_text(double share) {
  return number_to_text(std::round(1000 * share) / 10) + " %";
}

std::string count_text(double count) { return number_to_text(count); }

std::string optional_text(const std::optional<double>& number) {
  return number ? number_to_text(rounded_to(6, *number)) : "";
}

}  // namespace gradcast
