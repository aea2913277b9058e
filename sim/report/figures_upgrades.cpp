// What a faster network or more nodes gain without compression: a bar for each model and step.
#include <algorithm>
#include <set>

#include "sim/base/table.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {
namespace {

/// Either all steps of the network, or all of the nodes.
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
  FigurePanel panel;
  FigureSeries before{"before", {}, true};
  std::set<std::string> steps;
  for (const Json& upgrade : upgrades) {
    if (!upgrade.is_object() || (text_of(upgrade, "change") == "network") != network) continue;
    const auto gain = positive_of(upgrade, "gain");
    if (!gain) continue;
    const std::string model = text_of(upgrade, "model");
    const std::string from = text_of(upgrade, "from");
    const std::string to = text_of(upgrade, "to");
    const std::string verdict = text_of(upgrade, "verdict");
    FigurePoint bar;
    bar.x_text = from + " to " + to + (network ? "" : " nodes");
    bar.y = *gain;
    bar.low = number_of(upgrade, "gain_low");
    bar.high = number_of(upgrade, "gain_high");
    bar.label = model + ", " + bar.x_text + ": " + times_text(*gain);
    if (bar.low && bar.high)
      bar.label += " (90 %: " + times_text(*bar.low) + " to " + times_text(*bar.high) + ")";
    if (!verdict.empty()) bar.label += ", " + verdict;
    series_named(panel, model).points.push_back(bar);
    if (steps.insert(bar.x_text).second) before.points.push_back({0, 1, bar.x_text});
    figure.table.rows.push_back({model, from, to, text_of(upgrade, "workers"), fixed(*gain, 3),
                                 optional_text(bar.low), optional_text(bar.high), verdict,
                                 text_of(upgrade, "measure")});
  }
  if (panel.series.empty()) return figure;
  panel.series.push_back(before);
  figure.panels.push_back(std::move(panel));
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
