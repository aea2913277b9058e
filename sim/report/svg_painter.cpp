#include "sim/report/svg_painter.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace gradcast {

std::size_t Painter::columns() const {
  const std::size_t panels = figure_.panels.size();
  if (panels <= 3) return std::max<std::size_t>(panels, 1);
  return panels == 4 ? 2 : 3;
}

void Painter::swatch(Canvas& canvas, double x, double y, const FigureSeries& series) const {
  canvas.block({x + 4, y - 6, 14, 12}, palette_.of(series.name));
}

void draw_x_axis(Canvas& canvas, const Scale& scale, const Box& plot) {
  for (const Tick& tick : ticks_of(scale, static_cast<int>(plot.width / 46))) {
    const double x = scale.at(tick.value);
    canvas.line(x, plot.top, x, plot.bottom(), kGridLine);
    canvas.text(x, plot.bottom() + 15, tick.text, Anchor::Middle, kTickSize);
  }
  canvas.line(plot.left, plot.bottom(), plot.right(), plot.bottom(), kAxisLine);
}

void draw_y_axis(Canvas& canvas, const Scale& scale, const Box& plot) {
  for (const Tick& tick : ticks_of(scale, static_cast<int>(plot.height / 28))) {
    const double y = scale.at(tick.value);
    canvas.line(plot.left, y, plot.right(), y, kGridLine);
    canvas.text(plot.left - 6, y + 4, tick.text, Anchor::End, kTickSize);
  }
}

void Range::add(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

std::vector<std::string> categories_of(const FigurePanel& panel, std::string FigurePoint::*which,
                                       const std::vector<std::string>& listed) {
  if (!listed.empty()) return listed;
  std::vector<std::string> categories;
  std::set<std::string> seen;
  for (const FigureSeries& series : panel.series)
    for (const FigurePoint& point : series.points)
      if (seen.insert(point.*which).second) categories.push_back(point.*which);
  return categories;
}

double label_margin(const Figure& figure, std::string FigurePoint::*which, double most) {
  double widest = 20;
  for (const FigurePanel& panel : figure.panels)
    for (const std::string& category : categories_of(panel, which))
      widest = std::max(widest, text_width(category.substr(0, 200), kTickSize));
  return std::min(widest, most) + 10;
}

}  // namespace gradcast
