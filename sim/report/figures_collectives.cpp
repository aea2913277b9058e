// Figures of `collectives`: bandwidth and time over size, a line for every number of nodes.
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include "sim/base/table.hpp"
#include "sim/base/units.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {
namespace {

std::string nodes_of(const Json& row) {
  const std::string nodes = text_of(row, "nodes");
  return nodes + (nodes == "1" ? " node of " : " nodes of ") + text_of(row, "gpus_per_node");
}

std::string way_of(const Json& row) {
  return text_of(row, "algorithm") + "/" + text_of(row, "protocol");
}

/// Writes the way beside the first point and wherever it changes.
void name_changes(FigureSeries& series, const std::vector<std::string>& ways) {
  for (std::size_t i = 0; i < ways.size(); ++i)
    if (i == 0 || ways[i] != ways[i - 1]) series.points[i].text = ways[i];
}

struct Shown {
  const char* id;
  const char* key;
  const char* title;
  const char* axis;
};
constexpr Shown kCurves[] = {
    {"bandwidth", "busbw_gb_per_second", "bus bandwidth", "bus bandwidth (GB/s)"},
    {"time", "us", "time", "time (us)"}};

Figure figure_of(const std::string& kind, const std::vector<const Json*>& rows,
                 const Shown& shown) {
  Figure figure{kind + "-" + shown.id,      FigureKind::Lines,
                kind + ": " + shown.title,  "",
                {"size", AxisScale::Bytes}, {shown.axis, AxisScale::Log10}};
  figure.table.header = {"nodes", "size", "algorithm", "protocol", "us", "busbw GB/s"};
  FigurePanel panel;
  std::map<std::string, std::vector<std::string>> ways;  // by series
  const Json* best = nullptr;
  for (const Json* row : rows) {
    const auto bytes = positive_of(*row, "bytes");
    const auto us = positive_of(*row, "us");
    const auto bandwidth = positive_of(*row, "busbw_gb_per_second");
    const auto y = positive_of(*row, shown.key);
    if (!bytes || !us || !bandwidth || !y) continue;
    const std::string size = to_text(Bytes{static_cast<std::int64_t>(*bytes)});
    const std::string time = number_to_text(rounded_to(4, *us));
    const std::string rate = number_to_text(rounded_to(4, *bandwidth));
    FigurePoint point{*bytes, *y};
    point.label =
        nodes_of(*row) + ", " + size + ": " + way_of(*row) + ", " + time + " us, " + rate + " GB/s";
    series_named(panel, nodes_of(*row)).points.push_back(point);
    ways[nodes_of(*row)].push_back(way_of(*row));
    figure.table.rows.push_back(
        {nodes_of(*row), size, text_of(*row, "algorithm"), text_of(*row, "protocol"), time, rate});
    if (best == nullptr || *bandwidth > *positive_of(*best, "busbw_gb_per_second")) best = row;
  }
  if (best == nullptr) return figure;
  for (FigureSeries& series : panel.series) name_changes(series, ways[series.name]);
  figure.panels.push_back(std::move(panel));
  figure.summary = "Names stand where the library changes its algorithm or protocol. The most is " +
                   number_to_text(rounded_to(4, *positive_of(*best, "busbw_gb_per_second"))) +
                   " GB/s, of " + nodes_of(*best) + " at " +
                   to_text(Bytes{static_cast<std::int64_t>(*positive_of(*best, "bytes"))}) + ".";
  return figure;
}

}  // namespace

std::vector<Figure> collective_figures(const std::vector<Json>& rows) {
  std::map<std::string, std::vector<const Json*>> by_kind;
  for (const Json& row : rows) by_kind[text_of(row, "kind")].push_back(&row);
  std::vector<Figure> figures;
  for (auto& [kind, its] : by_kind) {
    std::stable_sort(its.begin(), its.end(), [](const Json* a, const Json* b) {
      const auto place = [](const Json& row) {
        return std::tuple{number_of(row, "nodes"), number_of(row, "gpus_per_node"),
                          number_of(row, "bytes")};
      };
      return place(*a) < place(*b);
    });
    for (const Shown& shown : kCurves)
      if (Figure figure = figure_of(kind, its, shown); !figure.panels.empty())
        figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace gradcast
