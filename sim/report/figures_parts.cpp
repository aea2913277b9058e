// Bars of the parts of an iteration's time, laid end to end.
#include <algorithm>

#include "sim/base/table.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {
namespace {

using Parts = std::vector<std::pair<std::string, double>>;

Figure parts_figure(const std::string& id, const std::string& title) {
  Figure figure{id, FigureKind::Bars,          title,
                "", {"", AxisScale::Category}, {"iteration (s)", AxisScale::Linear}};
  figure.stacked = true;
  figure.table.header = {"panel", "bar", "part", "seconds", "share (%)"};
  return figure;
}

double total_of(const Parts& parts) {
  double total = 0;
  for (const auto& [name, seconds] : parts) total += seconds;
  return total;
}

/// A bar of the panel's, and its lines of the table.
void add_bar(Figure& figure, FigurePanel& panel, const std::string& bar, const Parts& parts) {
  const double total = total_of(parts);
  for (const auto& [name, seconds] : parts) {
    FigurePoint slice;
    slice.x_text = bar;
    slice.y = seconds;
    slice.label = bar + ": " + name + " " + seconds_text(seconds) + " s of " + seconds_text(total);
    series_named(panel, name).points.push_back(slice);
    figure.table.rows.push_back(
        {panel.title, bar, name, seconds_text(seconds), fixed(100 * seconds / total, 1)});
  }
}

const std::vector<std::string> kOrder = {"forward", "backward", "encode",   "exposed communication",
                                         "decode",  "update",   "overhead", "wait"};

double part_named(const Parts& parts, const std::string& name) {
  for (const auto& [known, seconds] : parts)
    if (known == name) return seconds;
  return 0;
}

/// A row of simulate as a bar. Its name is the compressor, with the file if two bars would have the
/// same name.
std::string bar_of(const ResultFile& file, const Json& row, const std::vector<std::string>& taken) {
  std::string name = text_of(row, "compressor");
  if (const std::string ranks = text_of(row, "ranks"); !ranks.empty()) name += " x" + ranks;
  if (std::find(taken.begin(), taken.end(), name) == taken.end()) return name;
  name += " (" + file.path.substr(file.path.rfind('/') + 1) + ")";
  std::string unique = name;
  for (int i = 2; std::find(taken.begin(), taken.end(), unique) != taken.end(); ++i)
    unique = name + " " + std::to_string(i);
  return unique;
}

}  // namespace

std::vector<Figure> breakdown_figures(const std::vector<AnsweredPoint>& all) {
  const double density = shown_density(all);
  const std::vector<AnsweredPoint> points = at_density(all, density);
  const double workers = largest_common_workers(points);
  Figure figure = parts_figure(
      "breakdown", "Where an iteration's time goes on " + count_text(workers) + " workers");
  const AnsweredPoint* most = nullptr;  // exposed communication as a share
  const auto exposed = [](const AnsweredPoint& point) {
    return part_named(point.parts, "exposed communication") / total_of(point.parts);
  };
  for (const PointGroup& group : groups_of(points)) {
    FigurePanel panel{group.title, {}};
    for (const AnsweredPoint* point : group.points) {
      if (point->workers != workers || point->parts.empty()) continue;
      add_bar(figure, panel, point->compressor, point->parts);
      if (most == nullptr || exposed(*point) > exposed(*most)) most = point;
    }
    if (!panel.series.empty()) figure.panels.push_back(std::move(panel));
  }
  if (most == nullptr) return {};
  order_series(figure, kOrder);
  const bool software = std::any_of(points.begin(), points.end(), [](const AnsweredPoint& point) {
    return point.fitted.seconds.has_value();
  });
  figure.summary = std::string(software ? "" : "Physics alone. ") +
                   "Communication that no computing hides takes the largest share, " +
                   share_text(exposed(*most)) + " of the iteration, in " + most->model +
                   (most->bandwidth.empty() ? "" : " at " + most->bandwidth) + " with " +
                   most->compressor + ".";
  figure.summary += cut_to_fit(figure);
  return {figure};
}

std::vector<Figure> simulated_figures(const std::vector<const ResultFile*>& simulated) {
  Figure figure = parts_figure("iteration", "Where the iteration's time goes");
  std::vector<std::string> sentences;
  for (const ResultFile* file : simulated)
    for (const Json& row : file->rows) {
      const Parts parts = parts_of(row);
      const auto seconds = positive_of(row, "iteration_seconds");
      if (!seconds || parts.empty()) continue;
      const std::string model = text_of(row, "model");
      auto panel = std::find_if(figure.panels.begin(), figure.panels.end(),
                                [&](const FigurePanel& known) { return known.title == model; });
      if (panel == figure.panels.end())
        panel = figure.panels.insert(figure.panels.end(), FigurePanel{model, {}});
      std::vector<std::string> taken;
      for (const FigureSeries& series : panel->series)
        for (const FigurePoint& point : series.points) taken.push_back(point.x_text);
      const std::string bar = bar_of(*file, row, taken);
      add_bar(figure, *panel, bar, parts);
      if (sentences.size() < 6)
        sentences.push_back(model + " with " + bar + ": " + seconds_text(*seconds) + " s, " +
                            share_text(part_named(parts, "exposed communication") / *seconds) +
                            " of it exposed communication.");
    }
  if (figure.panels.empty()) return {};
  order_series(figure, kOrder);
  for (const std::string& sentence : sentences)
    figure.summary += (figure.summary.empty() ? "" : " ") + sentence;
  figure.summary += cut_to_fit(figure);
  return {figure};
}

}  // namespace gradcast
