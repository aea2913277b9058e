// Kernels over the gradient's size: how close they come to the speed of the device's memory.
#include <algorithm>

#include "sim/base/table.hpp"
#include "sim/base/units.hpp"
#include "sim/calibration/tables.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {
namespace {

std::string kernel_of(const Json& row) {
  std::string name = text_of(row, "compressor");
  if (const std::string mode = text_of(row, "mode"); !mode.empty()) name += " " + mode;
  if (const auto number = positive_of(row, "parameter")) name += " " + number_to_text(*number);
  if (const std::string made = text_of(row, "implementation");
      !made.empty() && !made.starts_with("gradcast"))
    name += " (" + made + ")";
  return name;
}

}  // namespace

std::vector<Figure> kernel_figures(const ResultFile& calibrated) {
  Figure figure{"roofline",
                FigureKind::Lines,
                "Kernels against the memory's speed",
                "",
                {"elements", AxisScale::Log10},
                {"GB/s of the fewest bytes", AxisScale::Log10}};
  figure.table.header = {
      "kernel", "elements", "tensors", "density", "encode (us)", "GB/s", "speed of e = g + e (%)"};
  FigurePanel panel;
  FigureSeries roof{"e = g + e", {}, true};
  std::string best;
  double best_share = 0;
  for (const Json& row : calibrated.rows) {
    const auto elements = positive_of(row, "elements");
    const auto seconds = positive_of(row, "encode_seconds");
    const auto share = positive_of(row, "share_of_ceiling");
    if (!elements || !seconds || !share) continue;
    const bool is_roof = text_of(row, "compressor") == "ceiling";
    const double roof_bytes = kCeilingBytes * *elements;
    const double bytes = positive_of(row, "floor_bytes").value_or(roof_bytes);
    const double rate = bytes / *seconds / 1e9;
    const double share_of_speed = *share * bytes / roof_bytes;
    const std::string name = is_roof ? roof.name : kernel_of(row);
    FigurePoint point{*elements, rate};
    point.label = name + ", " + count_text(*elements) +
                  " elements: " + number_to_text(rounded_to(4, rate)) + " GB/s, " +
                  number_to_text(rounded_to(4, 1e6 * *seconds)) + " us";
    figure.table.rows.push_back({name, count_text(*elements), text_of(row, "tensors"),
                                 text_of(row, "density"), fixed(1e6 * *seconds, 1),
                                 number_to_text(rounded_to(4, rate)),
                                 fixed(100 * share_of_speed, 1)});
    (is_roof ? roof : series_named(panel, name)).points.push_back(point);
    if (!is_roof && share_of_speed > best_share) {
      best_share = share_of_speed;
      best = name + " at " + count_text(*elements) + " elements";
    }
  }
  if (panel.series.empty()) return {};
  if (!roof.points.empty()) panel.series.push_back(roof);
  for (FigureSeries& series : panel.series)
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const FigurePoint& a, const FigurePoint& b) { return a.x < b.x; });
  figure.panels.push_back(std::move(panel));
  figure.summary =
      "The dashed roof is e = g + e, which reads and writes 12 bytes an element; the "
      "others are shown with the fewest bytes that each can move. " +
      best + " comes nearest, to " + share_text(best_share) + " of its speed.";
  return {figure};
}

}  // namespace gradcast
