// Accuracy over the time that a training takes.
#include <map>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/report/figures.hpp"
#include "sim/report/trainings.hpp"

namespace gradcast {
namespace {

struct CurvesOfEstimate {
  std::vector<std::string> names;  // in the order of the rows
  std::map<std::string, SeedCurve> curves;
};

CurvesOfEstimate curves_of(const Json& rows, const std::string& estimate) {
  CurvesOfEstimate found;
  for (const Json& row : rows) {
    const auto seconds = number_of(row, "seconds");
    const auto percent = number_of(row, "test_accuracy_percent");
    if (!seconds || !percent || *seconds < 0 || text_of(row, "estimate") != estimate) continue;
    const std::string name = curve_name(row);
    if (!found.curves.contains(name)) found.names.push_back(name);
    found.curves[name][*seconds].push_back(*percent);
  }
  return found;
}

FigurePoint accuracy_point(const std::string& name, double seconds,
                           const std::vector<double>& percents) {
  FigurePoint point = point_of_seeds(seconds, percents);
  point.label = name + ": " + fixed(point.y, 2) + " % after " + seconds_text(seconds) + " s";
  return point;
}

Figure accuracy_figure(const Json& rows, const std::string& estimate, const std::string& words) {
  const CurvesOfEstimate found = curves_of(rows, estimate);
  Figure figure{"accuracy-" + estimate,
                FigureKind::Lines,
                "Test accuracy over the time of a training: " + words,
                "",
                {"time (s)", AxisScale::Linear},
                {"test accuracy (%)", AxisScale::Linear}};
  figure.table.header = {"compressor", "time (s)", "accuracy (%)",
                         "least (%)",  "most (%)", "trainings"};
  FigurePanel panel{"", {}};
  std::string best;
  double highest = -1;
  for (const std::string& name : found.names)
    for (const auto& [seconds, percents] : found.curves.at(name)) {
      const FigurePoint point = accuracy_point(name, seconds, percents);
      series_named(panel, name).points.push_back(point);
      figure.table.rows.push_back({name, seconds_text(seconds), fixed(point.y, 2),
                                   optional_text(point.low), optional_text(point.high),
                                   count_text(static_cast<double>(percents.size()))});
      if (point.y <= highest) continue;
      highest = point.y;
      best = point.label;
    }
  if (panel.series.empty()) return figure;
  figure.summary = "The highest is " + best +
                   ". Lines are medians of the trainings, bands their least and most; the "
                   "forecast's own error is not in them.";
  figure.panels.push_back(std::move(panel));
  return figure;
}

}  // namespace

std::vector<Figure> accuracy_figures(const ResultFile& tta) {
  const auto rows = tta.document.find("curves");
  if (rows == tta.document.end() || !rows->is_array()) return {};
  std::vector<Figure> figures;
  figures.push_back(accuracy_figure(*rows, "fitted", "software costs fitted to published runs"));
  figures.push_back(accuracy_figure(*rows, "physics", "physics alone"));
  std::erase_if(figures, [](const Figure& figure) { return figure.panels.empty(); });
  return figures;
}

}  // namespace gradcast
