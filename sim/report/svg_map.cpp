// Draws maps (cells of pairs of categories) and lanes of slices.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "sim/report/svg_painter.hpp"

namespace gradcast {
namespace {

/// Black or white, whichever stands out more from "#rrggbb" (WCAG 2's contrast: they are equal at
/// a luminance of 0.179).
std::string ink_on(const std::string& color) {
  constexpr std::array<double, 3> kWeights = {0.2126, 0.7152, 0.0722};
  double luminance = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    int value = 0;
    std::from_chars(color.data() + 1 + 2 * i, color.data() + 3 + 2 * i, value, 16);
    const double part = value / 255.0;
    luminance +=
        kWeights[i] * (part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return luminance > 0.179 ? "#000" : "#fff";
}

std::size_t place_of(const std::vector<std::string>& categories, const std::string& category) {
  return static_cast<std::size_t>(std::find(categories.begin(), categories.end(), category) -
                                  categories.begin());
}

class MapPainter : public Painter {
 public:
  using Painter::Painter;

  std::size_t columns() const override { return std::min<std::size_t>(figure_.panels.size(), 2); }
  double left_margin() const override { return label_margin(figure_, &FigurePoint::y_text, 110); }
  double plot_height(const FigurePanel& panel, double) const override {
    return kRow * static_cast<double>(rows(panel).size());
  }

  void paint(Canvas& canvas, const FigurePanel& panel, const Box& plot) const override {
    const std::vector<std::string> across =
        categories_of(panel, &FigurePoint::x_text, figure_.x.categories);
    const std::vector<std::string> up = rows(panel);
    const double width = plot.width / static_cast<double>(std::max<std::size_t>(across.size(), 1));
    for (std::size_t i = 0; i < across.size(); ++i)
      canvas.text(plot.left + (static_cast<double>(i) + 0.5) * width, plot.bottom() + 15, across[i],
                  Anchor::Middle, kTickSize, width - 4);
    for (std::size_t i = 0; i < up.size(); ++i)
      canvas.text(plot.left - 6, plot.bottom() - (static_cast<double>(i) + 0.5) * kRow + 4, up[i],
                  Anchor::End, kTickSize, left_margin() - 8);
    for (const FigureSeries& series : panel.series)
      for (const FigurePoint& point : series.points) {
        const Box cell{plot.left + static_cast<double>(place_of(across, point.x_text)) * width,
                       plot.bottom() - (static_cast<double>(place_of(up, point.y_text)) + 1) * kRow,
                       width, kRow};
        paint_cell(canvas, cell, series.name, point);
      }
  }

 private:
  static constexpr double kRow = 36;

  std::vector<std::string> rows(const FigurePanel& panel) const {
    return categories_of(panel, &FigurePoint::y_text, figure_.y.categories);
  }

  void paint_cell(Canvas& canvas, const Box& cell, const std::string& name,
                  const FigurePoint& point) const {
    Look look = palette_.of(name);
    look.pattern = 0;  // the cell has text, which includes the name
    canvas.block({cell.left + 1, cell.top + 1, cell.width - 2, cell.height - 2}, look, point.label,
                 point.muted ? 0.25 : 1);
    const std::string ink = point.muted ? "" : "fill=\"" + ink_on(palette_.of(name).color) + "\"";
    const double middle = cell.left + cell.width / 2;
    canvas.text(middle, cell.top + 15, name, Anchor::Middle, 10, cell.width - 4, ink);
    canvas.text(middle, cell.top + 29, point.text + (point.muted ? "?" : ""), Anchor::Middle, 11,
                cell.width - 4, ink);
  }
};

class LanesPainter : public Painter {
 public:
  LanesPainter(const Figure& figure, const Palette& palette) : Painter(figure, palette) {
    Range time;
    if (figure.x.scale == AxisScale::Linear) time.add(0);
    for (const FigurePanel& panel : figure.panels)
      for (const FigureSeries& series : panel.series)
        for (const FigurePoint& point : series.points) {
          time.add(point.x);
          time.add(point.until);
        }
    time_ = scale_around(figure.x.scale, time.low, time.high);
    time_.high = time.high > time.low ? time.high : time_.high;  // no empty time at the end
  }

  std::size_t columns() const override { return 1; }
  double width() const override { return 960; }
  double left_margin() const override { return label_margin(figure_, &FigurePoint::y_text, 130); }
  double plot_height(const FigurePanel& panel, double) const override {
    return kRow * static_cast<double>(categories_of(panel, &FigurePoint::y_text).size());
  }
  std::string top_label() const override { return ""; }

  void paint(Canvas& canvas, const FigurePanel& panel, const Box& plot) const override {
    Scale x = time_;
    x.from = plot.left;
    x.to = plot.right();
    draw_x_axis(canvas, x, plot);
    const std::vector<std::string> lanes = categories_of(panel, &FigurePoint::y_text);
    for (std::size_t i = 0; i < lanes.size(); ++i)
      canvas.text(plot.left - 6, plot.top + (static_cast<double>(i) + 0.5) * kRow + 4, lanes[i],
                  Anchor::End, kTickSize, left_margin() - 8);
    for (const FigureSeries& series : panel.series) {
      std::vector<FigurePoint> slices = series.points;
      std::stable_sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) {
        return std::pair(a.y_text, a.x) < std::pair(b.y_text, b.x);
      });
      for (std::size_t i = 0; i < slices.size(); ++i) {
        // Slices that are too close to be seen apart become one rectangle, because models have
        // hundreds of layers.
        FigurePoint slice = slices[i];
        while (i + 1 < slices.size() && slices[i + 1].y_text == slice.y_text &&
               x.at(slices[i + 1].x) - x.at(slice.until) < 0.3 &&
               x.at(slices[i + 1].until) - x.at(slice.x) < 2) {
          slice.until = std::max(slice.until, slices[++i].until);
          slice.label = series.name;
        }
        const double top = plot.top + kRow * static_cast<double>(place_of(lanes, slice.y_text));
        canvas.block({x.at(slice.x), top + 3, x.at(slice.until) - x.at(slice.x), kRow - 6},
                     palette_.of(series.name), slice.label);
      }
    }
  }

 private:
  static constexpr double kRow = 28;
  Scale time_;
};

}  // namespace

std::unique_ptr<Painter> map_painter(const Figure& figure, const Palette& palette) {
  return std::make_unique<MapPainter>(figure, palette);
}

std::unique_ptr<Painter> lanes_painter(const Figure& figure, const Palette& palette) {
  return std::make_unique<LanesPainter>(figure, palette);
}

}  // namespace gradcast
