// Scaling efficiency over workers, speedup over dense, and iteration time over density.
#include <algorithm>
#include <set>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {
namespace {

/// Each of the two estimates has its own figure, because a panel of seven lines is as much as one
/// can read. Fitted comes first, because it is nearer to the measurements. Both have the same axes,
/// so that they can be compared.
struct Which {
  const char* id;     // "" or "-fitted"
  const char* words;  // for the title of the one that is folded
  const Estimate AnsweredPoint::*estimate;
};
constexpr Which kFitted = {"-fitted", "software costs fitted to published runs",
                           &AnsweredPoint::fitted};
constexpr Which kPhysics = {"", "physics alone", &AnsweredPoint::physics};

bool has_fitted(const std::vector<AnsweredPoint>& points) {
  return std::any_of(points.begin(), points.end(),
                     [](const AnsweredPoint& point) { return point.fitted.seconds.has_value(); });
}

/// "Scaling efficiency: physics alone". The forecast with software is the one that counts, and goes
/// without saying.
std::string titled(const std::string& title, const Which& which, bool both) {
  return both && which.estimate == &AnsweredPoint::physics ? title + ": " + which.words : title;
}

std::string density_note(const std::vector<AnsweredPoint>& points, double density) {
  std::set<double> densities;
  for (const AnsweredPoint& point : points)
    if (!point.dense()) densities.insert(point.density);
  return densities.size() > 1 ? " At density " + optional_text(density) + "." : "";
}

/// "resnet-50, 10Gbps, topk on 16 workers"
std::string where(const AnsweredPoint& point) {
  return point.model + ", " + (point.bandwidth.empty() ? "" : point.bandwidth + ", ") +
         (point.others.empty() ? "" : point.others + ", ") + point.compressor + " on " +
         count_text(point.workers) + (point.workers == 1 ? " worker" : " workers");
}

FigurePoint efficiency_point(const AnsweredPoint& point, const Estimate& estimate) {
  FigurePoint drawn;
  drawn.x = point.workers;
  drawn.y = 100 * *estimate.efficiency;
  // The longer an iteration takes, the less efficient it is, in proportion.
  if (estimate.low && estimate.high) {
    drawn.low = drawn.y * *estimate.seconds / *estimate.high;
    drawn.high = drawn.y * *estimate.seconds / *estimate.low;
  }
  drawn.label = point.compressor + ", " + count_text(point.workers) +
                " workers: " + fixed(drawn.y, 1) + " %, " + seconds_text(*estimate.seconds) + " s";
  return drawn;
}

Figure scaling_figure(const std::vector<AnsweredPoint>& all, const Which& which, bool both) {
  const double density = shown_density(all);
  const std::vector<AnsweredPoint> points = at_density(all, density);
  Figure figure{"scaling" + std::string(which.id),
                FigureKind::Lines,
                titled("Scaling efficiency over workers", which, both),
                "",
                {"workers", AxisScale::Log2},
                {"scaling efficiency (%)", AxisScale::Linear}};
  figure.table.header = {"model",    "setting",        "compressor",
                         "workers",  "efficiency (%)", "iteration (s)",
                         "from (s)", "to (s)",         "speedup over dense"};
  const AnsweredPoint* best = nullptr;
  const AnsweredPoint* worst = nullptr;
  double largest = 0;
  for (const AnsweredPoint& point : points) largest = std::max(largest, point.workers);
  for (const PointGroup& group : groups_of(points)) {
    FigurePanel panel{group.title, {}};
    FigureSeries ideal{"ideal", {}, true};
    std::set<double> sizes;
    for (const AnsweredPoint* point : group.points) {
      const Estimate& estimate = point->*which.estimate;
      if (!estimate.seconds || !estimate.efficiency) continue;
      series_named(panel, point->compressor).points.push_back(efficiency_point(*point, estimate));
      sizes.insert(point->workers);
      figure.table.rows.push_back(
          {point->model,
           point->others.empty() ? point->bandwidth : point->bandwidth + ", " + point->others,
           point->compressor, count_text(point->workers), fixed(100 * *estimate.efficiency, 1),
           seconds_text(*estimate.seconds), optional_text(estimate.low),
           optional_text(estimate.high), estimate.speedup ? fixed(*estimate.speedup, 2) : ""});
      if (point->workers != largest) continue;
      const auto beats = [&](const AnsweredPoint* other) {
        return *estimate.efficiency > *(other->*which.estimate).efficiency;
      };
      if (best == nullptr || beats(best)) best = point;
      if (worst == nullptr || !beats(worst)) worst = point;
    }
    for (FigureSeries& series : panel.series)
      std::stable_sort(series.points.begin(), series.points.end(),
                       [](const FigurePoint& a, const FigurePoint& b) { return a.x < b.x; });
    for (const double size : sizes) ideal.points.push_back({size, 100});
    panel.series.push_back(ideal);
    if (!sizes.empty()) figure.panels.push_back(std::move(panel));
  }
  if (best == nullptr) return {};
  figure.summary = "On " + count_text(largest) + " workers efficiency goes from " +
                   share_text(*(worst->*which.estimate).efficiency) + " (" + where(*worst) +
                   ") to " + share_text(*(best->*which.estimate).efficiency) + " (" + where(*best) +
                   "); ideal is 100 %." + density_note(all, density);
  if (best->fitted.low && which.estimate == &AnsweredPoint::fitted)
    figure.summary += " Bars are 90 % intervals.";
  figure.summary += cut_to_fit(figure);
  return figure;
}

Figure speedup_figure(const std::vector<AnsweredPoint>& all, const Which& which, bool both) {
  const double density = shown_density(all);
  const double workers = largest_common_workers(at_density(all, density));
  std::vector<AnsweredPoint> points;
  for (const AnsweredPoint& point : at_density(all, density))
    if (point.workers == workers && !point.dense()) points.push_back(point);
  const std::string speedup =
      "speedup over " + std::string(points.empty() ? "dense" : points.front().opponent());
  Figure figure{
      "speedup" + std::string(which.id),
      FigureKind::Bars,
      titled("S" + speedup.substr(1) + " on " + count_text(workers) + " workers", which, both),
      "",
      {"", AxisScale::Category},
      {speedup, AxisScale::Linear}};
  figure.table.header = {"model", "setting", "compressor", "verdict", speedup, "iteration (s)"};
  const AnsweredPoint* best = nullptr;
  std::map<Pays, std::size_t> told;
  for (const AnsweredPoint& point : points) {
    const Estimate& estimate = point.*which.estimate;
    if (!estimate.speedup || !estimate.seconds) continue;
    const std::string setting =
        point.others.empty() ? point.bandwidth : point.bandwidth + ", " + point.others;
    auto panel = std::find_if(figure.panels.begin(), figure.panels.end(),
                              [&](const FigurePanel& known) { return known.title == setting; });
    if (panel == figure.panels.end())
      panel = figure.panels.insert(figure.panels.end(), FigurePanel{setting, {}});
    FigurePoint bar;
    bar.x_text = point.model;
    bar.y = *estimate.speedup;
    bar.label = where(point) + ": " + times_text(bar.y) + " of dense, " +
                to_text(point.verdict.value_or(Pays::CannotBeTold));
    series_named(*panel, point.compressor).points.push_back(bar);
    figure.table.rows.push_back({point.model, setting, point.compressor,
                                 to_text(point.verdict.value_or(Pays::CannotBeTold)),
                                 fixed(bar.y, 3), seconds_text(*estimate.seconds)});
    if (best == nullptr || bar.y > *(best->*which.estimate).speedup) best = &point;
    ++told[point.verdict.value_or(Pays::CannotBeTold)];
  }
  if (best == nullptr) return {};
  for (FigurePanel& panel : figure.panels) {
    std::vector<std::string> models;
    for (const FigureSeries& series : panel.series)
      for (const FigurePoint& point : series.points)
        if (std::find(models.begin(), models.end(), point.x_text) == models.end())
          models.push_back(point.x_text);
    FigureSeries dense{"dense", {}, true};
    for (const std::string& model : models) {
      FigurePoint one;
      one.x_text = model;
      one.y = 1;
      dense.points.push_back(one);
    }
    panel.series.push_back(dense);
  }
  const std::size_t rows = figure.table.rows.size();
  figure.summary =
      "Compression surely pays in " + std::to_string(told[Pays::Yes]) + " of " +
      std::to_string(rows) + (rows == 1 ? " case" : " cases") + " on " + count_text(workers) +
      " workers and surely does not pay in " + std::to_string(told[Pays::No]) + "; in " +
      std::to_string(told[Pays::CannotBeTold]) + " it cannot be told. The largest forecast, " +
      times_text(*(best->*which.estimate).speedup) + " the speed of " + best->opponent() +
      ", is of " + where(*best) + " (" + to_text(best->verdict.value_or(Pays::CannotBeTold)) +
      ")." + density_note(all, density);
  figure.summary += cut_to_fit(figure);
  return figure;
}

/// Missing data makes an empty figure, which is left out.
std::vector<Figure> of_both(const std::vector<AnsweredPoint>& points,
                            Figure (*make)(const std::vector<AnsweredPoint>&, const Which&, bool)) {
  const bool both = has_fitted(points);
  std::vector<Figure> figures;
  if (both) figures.push_back(make(points, kFitted, both));
  figures.push_back(make(points, kPhysics, both));
  std::erase_if(figures, [](const Figure& figure) { return figure.panels.empty(); });
  if (figures.size() == 2) figures[1].again = true;
  return figures;
}

}  // namespace

std::vector<Figure> scaling_figures(const std::vector<AnsweredPoint>& points) {
  std::set<double> sizes;
  for (const AnsweredPoint& point : points) sizes.insert(point.workers);
  if (sizes.size() < 2) return {};
  return of_both(points, scaling_figure);
}

std::vector<Figure> speedup_figures(const std::vector<AnsweredPoint>& points) {
  return of_both(points, speedup_figure);
}

std::vector<Figure> density_figures(const std::vector<AnsweredPoint>& points) {
  std::set<double> densities;
  for (const AnsweredPoint& point : points)
    if (!point.dense()) densities.insert(point.density);
  if (densities.size() < 2) return {};
  const double workers = largest_common_workers(points);
  std::vector<AnsweredPoint> chosen;
  for (const AnsweredPoint& point : points)
    if (point.workers == workers) chosen.push_back(point);
  const bool software = has_fitted(points);
  const Estimate AnsweredPoint::*const which =
      software ? &AnsweredPoint::fitted : &AnsweredPoint::physics;
  Figure figure{"density",
                FigureKind::Lines,
                "Iteration over density on " + count_text(workers) + " workers" +
                    (software ? "" : ": " + std::string(kPhysics.words)),
                "",
                {"density", AxisScale::Log10},
                {"iteration (s)", AxisScale::Linear}};
  figure.table.header = {"model",   "setting",       "compressor",
                         "density", "iteration (s)", "speedup over dense"};
  const AnsweredPoint* fastest = nullptr;
  for (const PointGroup& group : groups_of(chosen)) {
    FigurePanel panel{group.title, {}};
    for (const AnsweredPoint* point : group.points) {
      const Estimate& estimate = point->*which;
      if (!estimate.seconds) continue;
      if (point->dense()) {
        FigureSeries dense{"dense", {}, true};
        for (const double density : densities) {
          dense.points.push_back({density, *estimate.seconds});
          dense.points.back().label = "dense: " + seconds_text(*estimate.seconds) + " s";
        }
        panel.series.push_back(dense);
      } else {
        FigurePoint drawn{point->density, *estimate.seconds};
        drawn.label = point->compressor + " at " + optional_text(point->density) + ": " +
                      seconds_text(drawn.y) + " s";
        series_named(panel, point->compressor).points.push_back(drawn);
        if (estimate.speedup &&
            (fastest == nullptr || *estimate.speedup > *(fastest->*which).speedup))
          fastest = point;
      }
      figure.table.rows.push_back(
          {point->model,
           point->others.empty() ? point->bandwidth : point->bandwidth + ", " + point->others,
           point->compressor, optional_text(point->density), seconds_text(*estimate.seconds),
           optional_text(estimate.speedup)});
    }
    for (FigureSeries& series : panel.series)
      std::stable_sort(series.points.begin(), series.points.end(),
                       [](const FigurePoint& a, const FigurePoint& b) { return a.x < b.x; });
    figure.panels.push_back(std::move(panel));
  }
  figure.summary = std::to_string(densities.size()) + " densities from " +
                   optional_text(*densities.begin()) + " to " + optional_text(*densities.rbegin()) +
                   "; the dashed line is dense, and a curve is faster where it is below.";
  if (fastest != nullptr)
    figure.summary += " The largest gain is " + times_text(*(fastest->*which).speedup) + ": " +
                      where(*fastest) + " at density " + optional_text(fastest->density) + ".";
  figure.summary += cut_to_fit(figure);
  return {figure};
}

}  // namespace gradcast
