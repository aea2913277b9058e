// Lines with bars or bands, and forecasts against measurements.
#include <algorithm>

#include "sim/base/units.hpp"
#include "sim/report/svg_painter.hpp"

namespace gradcast {
namespace {

std::string step_to(const std::string& d, double x, double y) {
  return (d.empty() ? "M" : "L") + pixels(x) + " " + pixels(y);
}

/// Keeps a text legible where it crosses lines: in the colour of a page, else white.
const std::string kHalo = "style=\"paint-order:stroke;stroke:var(--paper,#fff);stroke-width:3px\"";
constexpr double kNameSize = 10;         // text beside a point
constexpr std::size_t kMostMarks = 40;   // per series: more would be a thick line
constexpr std::size_t kMostBarred = 12;  // points with a bar each; a longer series has a band
constexpr double kBeside = 5;            // pixels between the bars of two series

class LinesPainter : public Painter {
 public:
  LinesPainter(const Figure& figure, const Palette& palette) : Painter(figure, palette) {
    Range x;
    Range y;
    for (const FigurePanel& panel : figure.panels)
      for (const FigureSeries& series : panel.series)
        for (const FigurePoint& point : series.points) {
          x.add(point.x);
          y.add(point.y);
          y.add(point.low.value_or(point.y));
          y.add(point.high.value_or(point.y));
        }
    if (figure.y.scale == AxisScale::Linear) y.add(0);
    x_ = scale_around(figure.x.scale, x.low, x.high);
    y_ = scale_around(figure.y.scale, y.low, y.high);
  }

  double plot_height(const FigurePanel&, double) const override {
    return figure_.panels.size() == 1 ? 340 : 200;
  }

  void paint(Canvas& canvas, const FigurePanel& panel, const Box& plot) const override {
    const auto [x, y] = scales(plot);
    draw_y_axis(canvas, y, plot);
    draw_x_axis(canvas, x, plot);
    for (const FigureSeries& series : panel.series)
      band(canvas, series, beside(x, panel, series), y);
    for (const FigureSeries& series : panel.series)
      line(canvas, series, beside(x, panel, series), y);
    names(canvas, panel, x, y, plot);
    for (const FigureSeries& series : panel.series) {
      const Scale there = beside(x, panel, series);
      if (!series.reference && series.points.size() <= kMostMarks)
        for (const FigurePoint& point : series.points)
          if (x.shows(point.x) && y.shows(point.y))
            canvas.mark(there.at(point.x), y.at(point.y), palette_.of(series.name), point.label);
    }
  }

  void swatch(Canvas& canvas, double x, double y, const FigureSeries& series) const override {
    if (series.reference) {
      canvas.line(x, y, x + 22, y, kReferenceLine);
      return;
    }
    const Look& look = palette_.of(series.name);
    canvas.line(x, y, x + 22, y, "stroke=\"" + look.color + "\" stroke-width=\"2\"");
    canvas.mark(x + 11, y, look);
  }

 private:
  std::pair<Scale, Scale> scales(const Box& plot) const {
    Scale x = x_;
    x.from = plot.left;
    x.to = plot.right();
    Scale y = y_;
    y.from = plot.bottom();
    y.to = plot.top;
    return {x, y};
  }

  static bool barred(const FigureSeries& series) {
    return series.points.size() <= kMostBarred &&
           std::any_of(series.points.begin(), series.points.end(),
                       [](const FigurePoint& point) { return point.low && point.high; });
  }

  /// Series with bars stand a little to the side of each other, so that no bar hides another.
  static Scale beside(Scale x, const FigurePanel& panel, const FigureSeries& series) {
    if (!barred(series)) return x;
    const auto before = std::count_if(panel.series.data(), &series, barred);
    const auto all = std::count_if(panel.series.begin(), panel.series.end(), barred);
    const double shift = kBeside * (static_cast<double>(before) - static_cast<double>(all - 1) / 2);
    x.from += shift;
    x.to += shift;
    return x;
  }

  void band(Canvas& canvas, const FigureSeries& series, const Scale& x, const Scale& y) const {
    std::string there;
    std::vector<const FigurePoint*> back;
    for (const FigurePoint& point : series.points) {
      if (!point.low || !point.high || !x.shows(point.x) || !y.shows(*point.low)) continue;
      there += step_to(there, x.at(point.x), y.at(*point.high));
      back.insert(back.begin(), &point);
    }
    if (barred(series)) {
      std::string bars;
      for (const FigurePoint* point : back)
        bars += step_to("", x.at(point->x), y.at(*point->low)) + "V" + pixels(y.at(*point->high));
      canvas.path(bars, "stroke=\"" + palette_.of(series.name).color +
                            "\" stroke-width=\"1.6\" stroke-opacity=\".6\"");
      return;
    }
    if (back.size() < 2) return;
    for (const FigurePoint* point : back)
      there += step_to(there, x.at(point->x), y.at(*point->low));
    canvas.path(there + "Z",
                "fill=\"" + palette_.of(series.name).color + "\" fill-opacity=\".15\"");
  }

  /// The texts of points, above or below them, in their series' colour. One that would lie over
  /// another is left out: the mark's title has it.
  void names(Canvas& canvas, const FigurePanel& panel, const Scale& x, const Scale& y,
             const Box& plot) const {
    std::vector<Box> taken;
    const auto is_free = [&](const Box& box) {
      return box.left >= plot.left && box.right() <= plot.right() && box.top >= plot.top &&
             box.bottom() <= plot.bottom() &&
             std::none_of(taken.begin(), taken.end(), [&](const Box& other) {
               return box.left < other.right() && other.left < box.right() &&
                      box.top < other.bottom() && other.top < box.bottom();
             });
    };
    for (const FigureSeries& series : panel.series)
      for (const FigurePoint& point : series.points) {
        if (point.text.empty() || !x.shows(point.x) || !y.shows(point.y)) continue;
        const double width = text_width(point.text, kNameSize);
        for (const double below : {-5., 7. + kNameSize}) {
          const Box box{x.at(point.x) - width / 2, y.at(point.y) + below - kNameSize, width,
                        kNameSize};
          if (!is_free(box)) continue;
          taken.push_back(box);
          canvas.text(x.at(point.x), box.bottom(), point.text, Anchor::Middle, kNameSize, 1e9,
                      "fill=\"" + palette_.of(series.name).color + "\" " + kHalo);
          break;
        }
      }
  }

  void line(Canvas& canvas, const FigureSeries& series, const Scale& x, const Scale& y) const {
    std::string d;
    for (const FigurePoint& point : series.points)
      if (x.shows(point.x) && y.shows(point.y)) d += step_to(d, x.at(point.x), y.at(point.y));
    if (d.empty()) return;
    canvas.path(d, series.reference ? kReferenceLine
                                    : "fill=\"none\" stroke=\"" + palette_.of(series.name).color +
                                          "\" stroke-width=\"1.8\"");
  }

  Scale x_;
  Scale y_;
};

class ScatterPainter : public Painter {
 public:
  ScatterPainter(const Figure& figure, const Palette& palette) : Painter(figure, palette) {
    Range range;
    for (const FigurePanel& panel : figure.panels)
      for (const FigureSeries& series : panel.series)
        for (const FigurePoint& point : series.points) {
          range.add(point.x);
          range.add(point.y);
          range.add(point.low.value_or(point.y));
          range.add(point.high.value_or(point.y));
        }
    scale_ = scale_around(figure.x.scale, range.low, range.high);
  }

  double width() const override { return figure_.panels.size() == 1 ? 600 : 960; }
  double right_margin() const override { return 52; }
  double plot_height(const FigurePanel&, double width) const override { return width; }

  void paint(Canvas& canvas, const FigurePanel& panel, const Box& plot) const override {
    Scale x = scale_;
    x.from = plot.left;
    x.to = plot.right();
    Scale y = scale_;
    y.from = plot.bottom();
    y.to = plot.top;
    draw_y_axis(canvas, y, plot);
    draw_x_axis(canvas, x, plot);
    canvas.line(plot.left, plot.bottom(), plot.right(), plot.top, kReferenceLine);
    for (const double percent : figure_.guides) guide(canvas, x, y, percent);
    for (const FigureSeries& series : panel.series)
      for (const FigurePoint& point : series.points) {
        if (!x.shows(point.x) || !y.shows(point.y)) continue;
        const Look& look = palette_.of(series.name);
        if (point.low && point.high && y.shows(*point.low))
          canvas.line(x.at(point.x), y.at(*point.low), x.at(point.x), y.at(*point.high),
                      "stroke=\"" + look.color + "\" stroke-width=\"1.4\" stroke-opacity=\".6\"");
        canvas.mark(x.at(point.x), y.at(point.y), look, point.label, point.muted ? 0.35 : 1);
      }
  }

  void swatch(Canvas& canvas, double x, double y, const FigureSeries& series) const override {
    canvas.mark(x + 11, y, palette_.of(series.name));
  }

 private:
  /// Guides at so many percent above and below the diagonal, as far as both ends are on the paper.
  /// Only the outermost has a label, because the others are too close.
  void guide(Canvas& canvas, const Scale& x, const Scale& y, double percent) const {
    const double more = 1 + percent / 100;
    const double less = 1 - percent / 100;
    if (less <= 0 || scale_.low / less >= scale_.high) return;
    canvas.line(x.at(scale_.low), y.at(scale_.low * more), x.at(scale_.high / more),
                y.at(scale_.high), kGuide);
    canvas.line(x.at(scale_.low / less), y.at(scale_.low), x.at(scale_.high),
                y.at(scale_.high * less), kGuide);
    if (percent < *std::max_element(figure_.guides.begin(), figure_.guides.end())) return;
    const std::string text = number_to_text(percent) + " %";
    canvas.text(x.at(scale_.high / more) - 2, y.to - 5, "+" + text, Anchor::End, kTickSize);
    canvas.text(x.to + 4, y.at(scale_.high * less) + 4, "\xE2\x88\x92" + text, Anchor::Start,
                kTickSize);
  }

  inline static const std::string kGuide =
      "stroke=\"currentColor\" stroke-opacity=\".4\" stroke-dasharray=\"2 3\"";
  Scale scale_;
};

}  // namespace

std::unique_ptr<Painter> lines_painter(const Figure& figure, const Palette& palette) {
  return std::make_unique<LinesPainter>(figure, palette);
}

std::unique_ptr<Painter> scatter_painter(const Figure& figure, const Palette& palette) {
  return std::make_unique<ScatterPainter>(figure, palette);
}

}  // namespace gradcast
