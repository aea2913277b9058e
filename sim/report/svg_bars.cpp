// Bars are horizontal, so that their names fit beside them, uncut, for any number of bars.
#include <algorithm>
#include <cmath>
#include <map>

#include "sim/base/units.hpp"
#include "sim/report/svg_painter.hpp"

namespace gradcast {
namespace {

constexpr double kGap = 8;  // between categories

class BarsPainter : public Painter {
 public:
  BarsPainter(const Figure& figure, const Palette& palette) : Painter(figure, palette) {
    Range values;
    values.add(0);
    for (const FigurePanel& panel : figure.panels) {
      std::map<std::string, double> totals;
      for (const FigureSeries& series : panel.series)
        for (const FigurePoint& point : series.points) {
          values.add(figure.stacked ? totals[point.x_text] += point.y
                                    : point.high.value_or(point.y));
        }
    }
    for (const FigurePanel& panel : figure.panels) {
      std::map<std::string, int> shared;
      for (const FigureSeries& series : panel.series)
        for (const FigurePoint& point : series.points)
          if (!series.reference && ++shared[point.x_text] > 1) alone_ = false;
    }
    values_ = scale_around(AxisScale::Linear, values.low, values.high);
  }

  double left_margin() const override {
    return label_margin(figure_, &FigurePoint::x_text,
                        columns() == 1   ? 240
                        : columns() == 2 ? 190
                                         : 130);
  }
  double right_margin() const override { return 38; }
  std::string top_label() const override { return figure_.x.label; }
  std::string bottom_label() const override { return figure_.y.label; }

  double plot_height(const FigurePanel& panel, double) const override {
    return static_cast<double>(categories(panel).size()) * (band() + kGap) + 4;
  }

  void paint(Canvas& canvas, const FigurePanel& panel, const Box& plot) const override {
    Scale x = values_;
    x.from = plot.left;
    x.to = plot.right();
    draw_x_axis(canvas, x, plot);
    const std::vector<std::string> names = categories(panel);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Box row{plot.left, plot.top + 4 + static_cast<double>(i) * (band() + kGap), plot.width,
                    band()};
      canvas.text(row.left - 6, row.top + row.height / 2 + 4, names[i], Anchor::End, kTickSize,
                  left_margin() - 8);
      if (figure_.stacked)
        stack(canvas, panel, names[i], x, row);
      else
        group(canvas, panel, names[i], x, row);
    }
    const double zero = x.at(0);
    canvas.line(zero, plot.top, zero, plot.bottom(), kAxisLine);
  }

  void swatch(Canvas& canvas, double x, double y, const FigureSeries& series) const override {
    if (series.reference)
      canvas.line(x + 11, y - 7, x + 11, y + 7, kReferenceLine);
    else
      Painter::swatch(canvas, x, y, series);
  }

 private:
  /// The series of the figure that have bars, so that each has the same place in every panel.
  std::vector<std::string> beside() const {
    std::vector<std::string> names;
    for (const FigurePanel& panel : figure_.panels)
      for (const FigureSeries& series : panel.series)
        if (!series.reference && std::find(names.begin(), names.end(), series.name) == names.end())
          names.push_back(series.name);
    return names;
  }

  std::vector<std::string> categories(const FigurePanel& panel) const {
    return categories_of(panel, &FigurePoint::x_text, figure_.x.categories);
  }

  double thickness() const { return figure_.stacked ? 18 : alone_ ? 16 : 12; }
  double band() const {
    return figure_.stacked || alone_ ? thickness()
                                     : thickness() * static_cast<double>(beside().size());
  }

  /// A number that a dashed line would cross is placed behind the line.
  void number_beside(Canvas& canvas, double value, double x, double middle,
                     double dashed = -1) const {
    const std::string text = number_to_text(rounded_to(3, value));
    if (dashed > x && dashed < x + 6 + text_width(text, 10)) x = dashed;
    canvas.text(x + 4, middle + 3.5, text, Anchor::Start, 10);
  }

  void stack(Canvas& canvas, const FigurePanel& panel, const std::string& category, const Scale& x,
             const Box& row) const {
    double total = 0;
    for (const FigureSeries& series : panel.series)
      for (const FigurePoint& point : series.points) {
        if (point.x_text != category) continue;
        const double left = x.at(total);
        total += point.y;
        canvas.block({left, row.top, x.at(total) - left, row.height}, palette_.of(series.name),
                     point.label);
      }
    number_beside(canvas, total, x.at(total), row.top + row.height / 2);
  }

  void group(Canvas& canvas, const FigurePanel& panel, const std::string& category, const Scale& x,
             const Box& row) const {
    const std::vector<std::string> names = beside();
    double dashed = -1;
    for (const FigureSeries& series : panel.series)
      for (const FigurePoint& point : series.points)
        if (series.reference && point.x_text == category) {
          dashed = x.at(point.y);
          canvas.line(dashed, row.top - kGap / 2, dashed, row.bottom() + kGap / 2, kReferenceLine);
        }
    for (const FigureSeries& series : panel.series)
      for (const FigurePoint& point : series.points) {
        if (point.x_text != category || series.reference) continue;
        const auto place =
            alone_ ? 0 : std::find(names.begin(), names.end(), series.name) - names.begin();
        const double top = row.top + thickness() * static_cast<double>(place);
        const double left = std::min(x.at(0), x.at(point.y));
        canvas.block({left, top + 0.5, std::abs(x.at(point.y) - x.at(0)), thickness() - 1},
                     palette_.of(series.name), point.label);
        const double middle = top + thickness() / 2;
        if (point.low && point.high)
          canvas.line(x.at(*point.low), middle, x.at(*point.high), middle,
                      "stroke=\"currentColor\" stroke-width=\"1.4\"");
        number_beside(canvas, point.y, x.at(point.high.value_or(point.y)), middle, dashed);
      }
  }

  Scale values_;
  bool alone_ = true;  // each category has the bar of one series
};

}  // namespace

std::unique_ptr<Painter> bars_painter(const Figure& figure, const Palette& palette) {
  return std::make_unique<BarsPainter>(figure, palette);
}

}  // namespace gradcast
