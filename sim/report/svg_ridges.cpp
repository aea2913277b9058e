// Histograms one above the other, on one scale, each with its name beside its baseline.
#include <algorithm>

#include "sim/report/svg_painter.hpp"

namespace gradcast {
namespace {

constexpr double kRow = 30;       // pixels from baseline to baseline
constexpr double kOverlap = 2.4;  // the highest ridge, in rows

class RidgesPainter : public Painter {
 public:
  RidgesPainter(const Figure& figure, const Palette& palette) : Painter(figure, palette) {
    Range x;
    Range y;
    for (const FigurePanel& panel : figure.panels)
      for (const FigureSeries& series : panel.series) {
        if (!series.reference && ridge_name_.empty()) ridge_name_ = series.name;
        if (!series.reference) widest_ = std::max(widest_, text_width(series.name, kTickSize));
        for (const FigurePoint& point : series.points) {
          x.add(point.x);
          y.add(point.y);
        }
      }
    x_ = scale_around(AxisScale::Linear, x.low, x.high);
    highest_ = std::max(y.high, 1e-300);
  }

  std::size_t columns() const override { return std::min<std::size_t>(figure_.panels.size(), 2); }
  double left_margin() const override { return std::min(widest_, 130.0) + 10; }
  bool in_legend(const FigureSeries& series) const override { return series.reference; }

  double plot_height(const FigurePanel& panel, double) const override {
    return kRow * (static_cast<double>(ridges_of(panel)) + kOverlap - 1) + 6;
  }

  void paint(Canvas& canvas, const FigurePanel& panel, const Box& plot) const override {
    Scale x = x_;
    x.from = plot.left;
    x.to = plot.right();
    draw_x_axis(canvas, x, plot);
    double baseline = plot.bottom() - kRow * (static_cast<double>(ridges_of(panel)) - 1);
    for (const FigureSeries& series : panel.series) {
      if (series.reference) continue;
      canvas.text(plot.left - 6, baseline, series.name, Anchor::End, kTickSize, left_margin() - 8);
      const std::string& color = palette_.of(ridge_name_).color;
      canvas.path(outline(series, x, baseline) + "Z",
                  "fill=\"" + color + "\" fill-opacity=\".35\" stroke=\"" + color +
                      "\" stroke-width=\"1.2\"",
                  series.name);
      for (const FigureSeries& reference : panel.series)
        if (reference.reference) canvas.path(line(reference, x, baseline), kReferenceLine);
      baseline += kRow;
    }
  }

  void swatch(Canvas& canvas, double x, double y, const FigureSeries&) const override {
    canvas.line(x, y, x + 22, y, kReferenceLine);
  }

 private:
  static std::size_t ridges_of(const FigurePanel& panel) {
    return static_cast<std::size_t>(
        std::count_if(panel.series.begin(), panel.series.end(),
                      [](const FigureSeries& series) { return !series.reference; }));
  }

  double height(double value) const { return std::max(value, 0.0) / highest_ * kRow * kOverlap; }

  std::string line(const FigureSeries& series, const Scale& x, double baseline) const {
    std::string d;
    for (const FigurePoint& point : series.points)
      d += (d.empty() ? "M" : "L") + pixels(x.at(point.x)) + " " +
           pixels(baseline - height(point.y));
    return d;
  }

  std::string outline(const FigureSeries& series, const Scale& x, double baseline) const {
    return line(series, x, baseline) + "L" + pixels(x.at(series.points.back().x)) + " " +
           pixels(baseline) + "L" + pixels(x.at(series.points.front().x)) + " " + pixels(baseline);
  }

  Scale x_;
  double highest_ = 1;
  double widest_ = 20;
  std::string ridge_name_;  // all ridges have the look of the first
};

}  // namespace

std::unique_ptr<Painter> ridges_painter(const Figure& figure, const Palette& palette) {
  return std::make_unique<RidgesPainter>(figure, palette);
}

}  // namespace gradcast
