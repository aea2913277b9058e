// The gain of a faster network or more nodes without compression: a bar for each model and step.
#include <algorithm>

#include "sim/base/table.hpp"
#include "sim/forecast/verdict.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {
namespace {

constexpr const char* kUnjudged = "gain";  // more nodes have no verdict

/// Either all steps of the network, or all of the nodes: a panel each, models by their gain.
Figure steps_figure(const Json& upgrades, bool network) {
  Figure figure{network ? "upgrades" : "upgrades-nodes",
                FigureKind::Bars,
                network ? "What a faster network gains without compression"
                        : "What more nodes gain without compression",
                "",
                {"", AxisScale::Category},
                {"samples a second over those before", AxisScale::Linear}};
  figure.table.header = {"model",     "from", "to",      "GPUs",   "gain",
                         "90 % from", "to ",  "verdict", "measure"};
  for (const Json& upgrade : upgrades) {
    if (!upgrade.is_object() || (text_of(upgrade, "change") == "network") != network) continue;
    const auto gain = positive_of(upgrade, "gain");
    if (!gain) continue;
    const std::string from = text_of(upgrade, "from");
    const std::string to = text_of(upgrade, "to");
    const std::string verdict = text_of(upgrade, "verdict");
    const std::string step = from + " to " + to + (network ? "" : " nodes");
    auto panel = std::find_if(figure.panels.begin(), figure.panels.end(),
                              [&](const FigurePanel& known) { return known.title == step; });
    if (panel == figure.panels.end())
      panel = figure.panels.insert(figure.panels.end(), FigurePanel{step, {}});
    FigurePoint bar;
    bar.x_text = text_of(upgrade, "model");
    bar.y = *gain;
    bar.low = number_of(upgrade, "gain_low");
    bar.high = number_of(upgrade, "gain_high");
    bar.label = bar.x_text + ", " + step + ": " + times_text(*gain);
    if (bar.low && bar.high)
      bar.label += " (90 %: " + times_text(*bar.low) + " to " + times_text(*bar.high) + ")";
    if (!verdict.empty()) bar.label += ", " + verdict;
    series_named(*panel, verdict.empty() ? kUnjudged : verdict).points.push_back(bar);
    figure.table.rows.push_back({bar.x_text, from, to, text_of(upgrade, "workers"), fixed(*gain, 3),
                                 optional_text(bar.low), optional_text(bar.high), verdict,
                                 text_of(upgrade, "measure")});
  }
  order_series(figure, {to_text(Pays::Yes), to_text(Pays::CannotBeTold), to_text(Pays::No)});
  for (FigurePanel& panel : figure.panels) {
    FigureSeries before{"before", {}, true};
    for (FigureSeries& series : panel.series) {
      std::stable_sort(series.points.begin(), series.points.end(),
                       [](const FigurePoint& a, const FigurePoint& b) { return a.y > b.y; });
      for (const FigurePoint& bar : series.points) before.points.push_back({0, 1, bar.x_text});
    }
    panel.series.push_back(std::move(before));
  }
  figure.summary =
      network ? "A bar is a model's speed over that with the slowest network; a line is its "
                "interval of 90 %. A network surely pays where the whole line lies beyond 1."
              : "A bar is a model's samples a second over those on the fewest nodes, by the "
                "slowest network; a line is its interval of 90 %.";
  figure.summary += cut_to_fit(figure);
  return figure;
}

}  // namespace

std::vector<Figure> upgrade_figures(const ResultFile& sweep) {
  const auto summary = sweep.document.find("summary");
  if (summary == sweep.document.end() || !summary->is_object()) return {};
  const auto upgrades = summary->find("upgrades");
  if (upgrades == summary->end() || !upgrades->is_array()) return {};
  std::vector<Figure> figures{steps_figure(*upgrades, true), steps_figure(*upgrades, false)};
  std::erase_if(figures, [](const Figure& figure) { return figure.panels.empty(); });
  return figures;
}

}  // namespace gradcast
