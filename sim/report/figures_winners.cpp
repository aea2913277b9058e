// The map of winners: one cell for each pair of workers and bandwidth.
#include <algorithm>
#include <map>

#include "sim/base/table.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {
namespace {

struct WinnerCell {
  std::string model;
  double workers = 0;
  std::string bandwidth;
  double bits_per_second = 0;
  std::string winner;
  double speedup = 1;                    // over dense
  std::optional<double> margin_percent;  // over dense; of dense, over the best compressor
  std::optional<Pays> verdict{};         // does any compressor pay?

  /// True if the verdict says what the winner says.
  bool sure() const { return verdict == (winner == "dense" ? Pays::No : Pays::Yes); }
};

Figure map_figure(const std::string& id, const std::string& title, std::vector<WinnerCell> cells) {
  Figure figure{id,
                FigureKind::Map,
                title,
                "",
                {"workers", AxisScale::Category},
                {"NIC bandwidth", AxisScale::Category}};
  figure.table.header = {"model",      "workers", "bandwidth", "winner", "speedup over dense",
                         "margin (%)", "verdict"};
  // Categories appear in the order of the cells, so the cells are sorted: small ones first.
  std::stable_sort(cells.begin(), cells.end(), [](const WinnerCell& a, const WinnerCell& b) {
    return std::pair(a.workers, a.bits_per_second) < std::pair(b.workers, b.bits_per_second);
  });
  std::vector<std::string> models;
  std::vector<std::pair<double, std::string>> bandwidths;
  const auto add_once = [](auto& list, const auto& entry) {
    if (std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(entry);
  };
  for (const WinnerCell& cell : cells) {
    add_once(figure.x.categories, count_text(cell.workers));
    add_once(bandwidths, std::pair(cell.bits_per_second, cell.bandwidth));
  }
  std::sort(bandwidths.begin(), bandwidths.end());
  for (const auto& [rate, text] : bandwidths) figure.y.categories.push_back(text);
  for (const WinnerCell& cell : cells)
    if (std::find(models.begin(), models.end(), cell.model) == models.end())
      models.push_back(cell.model);
  std::sort(models.begin(), models.end());
  std::map<std::string, std::size_t> wins;
  std::map<Pays, std::size_t> told;
  for (const std::string& model : models) {
    FigurePanel panel{model, {}};
    for (const WinnerCell& cell : cells) {
      if (cell.model != model) continue;
      FigurePoint point;
      point.x_text = count_text(cell.workers);
      point.y_text = cell.bandwidth;
      point.text = times_text(cell.speedup);
      point.muted = !cell.sure();
      point.label = model + ", " + point.x_text + " workers, " + cell.bandwidth + ": " +
                    cell.winner + ", " + point.text + " of dense" +
                    (cell.sure() ? "" : ", cannot be told");
      series_named(panel, cell.winner).points.push_back(point);
      figure.table.rows.push_back({model, point.x_text, cell.bandwidth, cell.winner,
                                   fixed(cell.speedup, 3),
                                   cell.margin_percent ? fixed(*cell.margin_percent, 1) : "",
                                   cell.verdict ? to_text(*cell.verdict) : ""});
      ++wins[cell.winner];
      ++told[cell.sure() ? *cell.verdict : Pays::CannotBeTold];
    }
    figure.panels.push_back(std::move(panel));
  }
  std::vector<std::pair<std::string, std::size_t>> ranked(wins.begin(), wins.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  figure.summary = "Compression surely pays in " + std::to_string(told[Pays::Yes]) + " of " +
                   std::to_string(cells.size()) + " settings and surely does not pay in " +
                   std::to_string(told[Pays::No]) + "; in " +
                   std::to_string(told[Pays::CannotBeTold]) +
                   " (pale) it cannot be told. By the forecast itself";
  for (std::size_t i = 0; i < ranked.size() && i < 4; ++i)
    figure.summary +=
        (i == 0 ? " " : ", ") + ranked[i].first + " wins " + std::to_string(ranked[i].second);
  figure.summary += ".";
  figure.summary += cut_to_fit(figure);
  return figure;
}

/// Models with a single setting make no map.
bool drawable(const std::vector<WinnerCell>& cells) {
  return std::any_of(cells.begin(), cells.end(), [&](const WinnerCell& cell) {
    return cell.workers != cells.front().workers || cell.bandwidth != cells.front().bandwidth;
  });
}

/// The winner in one setting, and the verdict: does any compressor pay? A compressor that surely
/// pays wins over a faster one that may not. The margin is that of the winner over dense, or of
/// dense over the best compressor. Which of two compressors is faster matters less.
WinnerCell winner_cell(const PointGroup& group, double workers, const std::string& bandwidth,
                       Estimate AnsweredPoint::*which) {
  WinnerCell cell;
  const AnsweredPoint* dense = nullptr;
  const AnsweredPoint* sparse = nullptr;  // the fastest
  const auto faster = [&](const AnsweredPoint* a, const AnsweredPoint* b) {
    return b == nullptr || a->seconds_held(which) < b->seconds_held(which);
  };
  const auto surely = [](const AnsweredPoint* point) {
    return point != nullptr && point->verdict == Pays::Yes;
  };
  for (const AnsweredPoint* point : group.points) {
    if (point->workers != workers || point->bandwidth != bandwidth || !(point->*which).seconds ||
        !(point->*which).speedup)
      continue;
    if (point->dense()) {
      if (faster(point, dense)) dense = point;
      continue;
    }
    const Pays pays = point->verdict.value_or(Pays::CannotBeTold);
    cell.verdict = either_of(cell.verdict.value_or(Pays::No), pays);
    if (surely(point) != surely(sparse) ? surely(point) : faster(point, sparse)) sparse = point;
  }
  if (dense == nullptr || sparse == nullptr) return cell;  // nobody to win against
  const AnsweredPoint* first = faster(sparse, dense) ? sparse : dense;
  const AnsweredPoint* other = first == dense ? sparse : dense;
  cell.workers = workers;
  cell.bandwidth = bandwidth;
  cell.bits_per_second = first->bits_per_second;
  cell.winner = first->compressor;
  cell.speedup = first->dense() ? 1 : *(first->*which).speedup;
  cell.margin_percent = 100 * (other->seconds_held(which) / first->seconds_held(which) - 1);
  return cell;
}

std::vector<WinnerCell> winner_cells(const std::vector<AnsweredPoint>& points,
                                     Estimate AnsweredPoint::*which) {
  std::vector<AnsweredPoint> unbound = points;  // groups by everything but the bandwidth
  for (AnsweredPoint& point : unbound) point.bandwidth.clear();
  std::vector<WinnerCell> cells;
  for (const PointGroup& group : groups_of(unbound)) {
    PointGroup whole{group.title, {}};
    std::map<std::pair<double, std::string>, bool> settings;
    for (const AnsweredPoint* point : group.points) {
      whole.points.push_back(&points[static_cast<std::size_t>(point - unbound.data())]);
      settings[{point->workers, whole.points.back()->bandwidth}] = true;
    }
    for (const auto& [setting, here] : settings) {
      WinnerCell cell = winner_cell(whole, setting.first, setting.second, which);
      cell.model = group.title;
      if (!cell.winner.empty()) cells.push_back(cell);
    }
  }
  return cells;
}

}  // namespace

std::vector<Figure> winner_figures(const std::vector<AnsweredPoint>& all) {
  const std::vector<AnsweredPoint> points = at_density(all, shown_density(all));
  const std::vector<WinnerCell> fitted = winner_cells(points, &AnsweredPoint::fitted);
  const std::vector<WinnerCell> physics = winner_cells(points, &AnsweredPoint::physics);
  const bool both = drawable(fitted);
  std::vector<Figure> figures;
  if (both) figures.push_back(map_figure("winners-fitted", "Who wins", fitted));
  if (drawable(physics))
    figures.push_back(
        map_figure("winners", both ? "Who wins: physics alone" : "Who wins", physics));
  if (figures.size() == 2) figures[1].again = true;
  return figures;
}

std::vector<Figure> winner_map_figures(const ResultFile& breakeven) {
  const auto found = breakeven.document.find("map");
  if (found == breakeven.document.end() || !found->is_array()) return {};
  std::vector<WinnerCell> physics;
  std::vector<WinnerCell> fitted;
  for (const Json& row : *found) {
    WinnerCell cell;
    cell.model = text_of(row, "model");
    cell.workers = positive_of(row, "workers").value_or(1);
    cell.bandwidth = text_of(row, "nic_bandwidth");
    cell.bits_per_second = bits_per_second_of(cell.bandwidth);
    cell.verdict = pays_in(text_of(row, "verdict"));
    const auto add = [&](std::vector<WinnerCell>& cells, const std::string& which) {
      cell.winner = text_of(row, which + "winner");
      cell.margin_percent = number_of(row, which + "margin_percent");
      const auto speedup = positive_of(row, which + "speedup_over_dense");
      cell.speedup = speedup.value_or(1);
      if (!cell.winner.empty() && speedup) cells.push_back(cell);
    };
    add(physics, "physics_");
    if (!text_of(row, "agree").empty()) add(fitted, "");  // there are two forecasts to agree
  }
  std::vector<Figure> figures;
  if (!fitted.empty()) figures.push_back(map_figure("map-fitted", "Who wins", fitted));
  if (!physics.empty())
    figures.push_back(
        map_figure("map", fitted.empty() ? "Who wins" : "Who wins: physics alone", physics));
  if (figures.size() == 2) figures[1].again = true;
  return figures;
}

}  // namespace gradcast
