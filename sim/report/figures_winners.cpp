// The map of winners: one cell for each pair of workers and bandwidth.
#include <algorithm>
#include <map>

#include "sim/base/table.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {
namespace {

struct Cell {
  std::string model;
  double workers = 0;
  std::string bandwidth;
  double bits_per_second = 0;
  std::string winner;
  double speedup = 1;                    // over dense
  std::optional<double> margin_percent;  // over dense; of dense, over the best compressor
  bool sure = true;
};

Figure map_figure(const std::string& id, const std::string& title, std::vector<Cell> cells) {
  Figure figure{id,
                FigureKind::Map,
                title,
                "",
                {"workers", AxisScale::Category},
                {"NIC bandwidth", AxisScale::Category}};
  figure.table.header = {"model",      "workers", "bandwidth", "winner", "speedup over dense",
                         "margin (%)", "sure"};
  // Categories appear in the order of the cells, so the cells are sorted: small ones first.
  std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return std::pair(a.workers, a.bits_per_second) < std::pair(b.workers, b.bits_per_second);
  });
  std::vector<std::string> models;
  std::vector<std::pair<double, std::string>> bandwidths;
  const auto add_once = [](auto& list, const auto& entry) {
    if (std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(entry);
  };
  for (const Cell& cell : cells) {
    add_once(figure.x.categories, count_text(cell.workers));
    add_once(bandwidths, std::pair(cell.bits_per_second, cell.bandwidth));
  }
  std::sort(bandwidths.begin(), bandwidths.end());
  for (const auto& [rate, text] : bandwidths) figure.y.categories.push_back(text);
  for (const Cell& cell : cells)
    if (std::find(models.begin(), models.end(), cell.model) == models.end())
      models.push_back(cell.model);
  std::sort(models.begin(), models.end());
  std::map<std::string, std::size_t> wins;
  std::size_t unsure = 0;
  for (const std::string& model : models) {
    FigurePanel panel{model, {}};
    for (const Cell& cell : cells) {
      if (cell.model != model) continue;
      FigurePoint point;
      point.x_text = count_text(cell.workers);
      point.y_text = cell.bandwidth;
      point.text = times_text(cell.speedup);
      point.muted = !cell.sure;
      point.label = model + ", " + point.x_text + " workers, " + cell.bandwidth + ": " +
                    cell.winner + ", " + point.text + " of dense" +
                    (cell.sure ? "" : ", within the forecast's own error");
      series_named(panel, cell.winner).points.push_back(point);
      figure.table.rows.push_back(
          {model, point.x_text, cell.bandwidth, cell.winner, fixed(cell.speedup, 3),
           cell.margin_percent ? fixed(*cell.margin_percent, 1) : "", cell.sure ? "yes" : "no"});
      ++wins[cell.winner];
      if (!cell.sure) ++unsure;
    }
    figure.panels.push_back(std::move(panel));
  }
  std::vector<std::pair<std::string, std::size_t>> ranked(wins.begin(), wins.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  figure.summary = "Of " + std::to_string(cells.size()) + " settings";
  for (std::size_t i = 0; i < ranked.size() && i < 4; ++i)
    figure.summary +=
        (i == 0 ? " " : ", ") + ranked[i].first + " wins " + std::to_string(ranked[i].second);
  figure.summary +=
      "; in " + std::to_string(unsure) + " (pale) the margin is within the forecast's own error.";
  figure.summary += cut_to_fit(figure);
  return figure;
}

/// Models with a single setting make no map.
bool drawable(const std::vector<Cell>& cells) {
  return std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) {
    return cell.workers != cells.front().workers || cell.bandwidth != cells.front().bandwidth;
  });
}

/// The fastest in one setting, and whether it is sure that compressing pays or not. The margin is
/// that of the fastest over dense, or of dense over the best compressor. The order of two
/// compressors matters less.
Cell cell_of(const PointGroup& group, double workers, const std::string& bandwidth,
             Estimate AnsweredPoint::*which) {
  Cell cell;
  const AnsweredPoint* dense = nullptr;
  const AnsweredPoint* sparse = nullptr;  // the fastest
  const auto faster = [&](const AnsweredPoint* a, const AnsweredPoint* b) {
    return b == nullptr || a->seconds_held(which) < b->seconds_held(which);
  };
  for (const AnsweredPoint* point : group.points) {
    if (point->workers != workers || point->bandwidth != bandwidth || !(point->*which).seconds ||
        !(point->*which).speedup)
      continue;
    const AnsweredPoint*& best = point->dense() ? dense : sparse;
    if (faster(point, best)) best = point;
  }
  if (dense == nullptr || sparse == nullptr) return cell;  // nobody to win against
  const AnsweredPoint* first = faster(sparse, dense) ? sparse : dense;
  const AnsweredPoint* other = first == dense ? sparse : dense;
  cell.workers = workers;
  cell.bandwidth = bandwidth;
  cell.bits_per_second = first->bits_per_second;
  cell.winner = first->compressor;
  cell.speedup = first->dense() ? 1 : *(first->*which).speedup;
  const double margin = other->seconds_held(which) / first->seconds_held(which) - 1;
  cell.margin_percent = 100 * margin;
  // Physics alone has no error of its own, so it takes that of the fitted forecast of the same
  // point.
  if (const auto error = first->fitted.half_width()) cell.sure = margin > *error;
  return cell;
}

std::vector<Cell> cells_of(const std::vector<AnsweredPoint>& points,
                           Estimate AnsweredPoint::*which) {
  std::vector<AnsweredPoint> unbound = points;  // groups by everything but the bandwidth
  for (AnsweredPoint& point : unbound) point.bandwidth.clear();
  std::vector<Cell> cells;
  for (const PointGroup& group : groups_of(unbound)) {
    PointGroup whole{group.title, {}};
    std::map<std::pair<double, std::string>, bool> settings;
    for (const AnsweredPoint* point : group.points) {
      whole.points.push_back(&points[static_cast<std::size_t>(point - unbound.data())]);
      settings[{point->workers, whole.points.back()->bandwidth}] = true;
    }
    for (const auto& [setting, here] : settings) {
      Cell cell = cell_of(whole, setting.first, setting.second, which);
      cell.model = group.title;
      if (!cell.winner.empty()) cells.push_back(cell);
    }
  }
  return cells;
}

}  // namespace

std::vector<Figure> winner_figures(const std::vector<AnsweredPoint>& all) {
  const std::vector<AnsweredPoint> points = at_density(all, shown_density(all));
  const std::vector<Cell> fitted = cells_of(points, &AnsweredPoint::fitted);
  const std::vector<Cell> physics = cells_of(points, &AnsweredPoint::physics);
  const bool both = drawable(fitted);
  std::vector<Figure> figures;
  if (both)
    figures.push_back(
        map_figure("winners-fitted", "Who wins: software costs fitted to published runs", fitted));
  if (drawable(physics))
    figures.push_back(
        map_figure("winners", both ? "Who wins: physics alone" : "Who wins", physics));
  return figures;
}

std::vector<Figure> winner_map_figures(const ResultFile& breakeven) {
  const auto found = breakeven.document.find("map");
  if (found == breakeven.document.end() || !found->is_array()) return {};
  std::vector<Cell> physics;
  std::vector<Cell> fitted;
  for (const Json& row : *found) {
    Cell cell;
    cell.model = text_of(row, "model");
    cell.workers = positive_of(row, "workers").value_or(1);
    cell.bandwidth = text_of(row, "nic_bandwidth");
    cell.bits_per_second = bits_per_second_of(cell.bandwidth);
    cell.sure = text_of(row, "sure") != "no";
    const auto add = [&](std::vector<Cell>& cells, const std::string& which) {
      cell.winner = text_of(row, which + "winner");
      cell.margin_percent = number_of(row, which + "margin_percent");
      const auto speedup = positive_of(row, which + "speedup_over_dense");
      cell.speedup = speedup.value_or(1);
      if (!cell.winner.empty() && speedup) cells.push_back(cell);
    };
    add(physics, "");
    add(fitted, "fitted_");
  }
  std::vector<Figure> figures;
  if (!fitted.empty())
    figures.push_back(
        map_figure("map-fitted", "Who wins: software costs fitted to published runs", fitted));
  if (!physics.empty())
    figures.push_back(
        map_figure("map", fitted.empty() ? "Who wins" : "Who wins: physics alone", physics));
  return figures;
}

}  // namespace gradcast
