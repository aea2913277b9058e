// Trainings over their iterations: the accuracy (Fig. 1 and 6 of Understanding Top-k
// Sparsification), and what workers sent.
#include "sim/base/table.hpp"
#include "sim/report/figures.hpp"
#include "sim/report/trainings.hpp"

namespace gradcast {
namespace {

FigurePanel& panel_of(Figure& figure, const TrainingGroup& group) {
  for (FigurePanel& panel : figure.panels)
    if (panel.title == subject_of(group)) return panel;
  return figure.panels.emplace_back(FigurePanel{subject_of(group), {}});
}

/// Adds the group's line to its panel and to the table. `unit` is said behind a value: " %".
void add_line(Figure& figure, const TrainingGroup& group, const SeedCurve& curve,
              const std::string& unit) {
  if (curve.empty()) return;
  FigureSeries& series = series_named(panel_of(figure, group), group.name);
  for (const auto& [iteration, values] : curve) {
    FigurePoint point = point_of_seeds(iteration, values);
    point.label = group.name + ": " + optional_text(rounded_to(4, point.y)) + unit + " after " +
                  count_text(iteration) + " iterations";
    figure.table.rows.push_back({group.network, group.name, count_text(iteration),
                                 optional_text(point.y), optional_text(point.low),
                                 optional_text(point.high),
                                 count_text(static_cast<double>(values.size()))});
    series.points.push_back(std::move(point));
  }
}

Figure accuracy_over_iterations(const std::vector<TrainingGroup>& groups) {
  Figure figure{"convergence",
                FigureKind::Lines,
                "Test accuracy over iterations",
                "",
                {"iteration", AxisScale::Linear},
                {"test accuracy (%)", AxisScale::Linear}};
  figure.table.header = {"network",   "compressor", "iteration", "accuracy (%)",
                         "least (%)", "most (%)",   "trainings"};
  for (const TrainingGroup& group : groups)
    add_line(figure, group,
             over_iterations(group,
                             [](const ResultFile&, const Json& row) {
                               return number_of(row, "test_accuracy_percent");
                             }),
             " %");
  for (const std::string& sentence : ends_of(groups)) figure.summary += sentence + " ";
  figure.summary +=
      "Lines are medians of the trainings, bands their least and most. A time needs a forecast: "
      "`gradcast tta`.";
  return figure;
}

Figure sent_over_iterations(const std::vector<TrainingGroup>& groups) {
  Figure figure{"sent",
                FigureKind::Lines,
                "Elements that a worker sent, beside the k that its density asks for",
                "Means over workers and the iterations since the last look; 1 is k. What is not "
                "1 is traffic that a forecast of k elements gets wrong.",
                {"iteration", AxisScale::Linear},
                {"sent / k", AxisScale::Log10}};
  figure.table.header = {"network", "compressor", "iteration", "sent / k",
                         "least",   "most",       "trainings"};
  const auto over_k = [](const ResultFile& training, const Json& row) -> std::optional<double> {
    const auto sent = positive_of(row, "sent_elements_mean");
    const auto wanted = number_of_summary(training, "wanted_elements");
    if (!sent || !wanted || *wanted <= 0) return std::nullopt;
    return *sent / *wanted;
  };
  for (const TrainingGroup& group : groups)
    if (!group.dense) add_line(figure, group, over_iterations(group, over_k), " k");
  return figure;
}

}  // namespace

std::vector<Figure> convergence_figures(const std::vector<const ResultFile*>& trained) {
  const std::vector<TrainingGroup> groups = grouped_trainings(trained);
  std::vector<Figure> figures;
  figures.push_back(accuracy_over_iterations(groups));
  figures.push_back(sent_over_iterations(groups));
  std::erase_if(figures, [](const Figure& figure) { return figure.panels.empty(); });
  for (Figure& figure : figures) figure.summary += cut_to_fit(figure);
  return figures;
}

}  // namespace gradcast
