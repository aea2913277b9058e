#include "sim/report/svg.hpp"

#include <algorithm>
#include <set>

#include "sim/base/clean_text.hpp"
#include "sim/report/escape.hpp"
#include "sim/report/svg_painter.hpp"

namespace gradcast {
namespace {

constexpr const char* kSvg = "http://www.w3.org/2000/svg";
constexpr double kEdge = 10;
constexpr double kLegendRow = 20;
constexpr double kColumnGap = 14;
constexpr double kTitleHeight = 22;
constexpr double kTicksHeight = 22;
constexpr double kLabelHeight = 20;
constexpr double kWidestName = 190;  // pixels, of an entry's name in a legend

std::unique_ptr<Painter> painter_of(const Figure& figure, const Palette& palette) {
  switch (figure.kind) {
    case FigureKind::Bars:
      return bars_painter(figure, palette);
    case FigureKind::Scatter:
      return scatter_painter(figure, palette);
    case FigureKind::Map:
      return map_painter(figure, palette);
    case FigureKind::Lanes:
      return lanes_painter(figure, palette);
    case FigureKind::Ridges:
      return ridges_painter(figure, palette);
    case FigureKind::Lines:
      break;
  }
  return lines_painter(figure, palette);
}

/// Returns the y below it.
double draw_legend(Canvas& canvas, const Figure& figure, const Painter& painter, double width,
                   double top) {
  constexpr std::size_t kMostEntries = 24;
  std::set<std::string> seen;
  double x = kEdge;
  double y = top + kLegendRow / 2;
  for (const FigurePanel& panel : figure.panels)
    for (const FigureSeries& series : panel.series) {
      if (!painter.in_legend(series)) continue;
      if (!seen.insert(series.name).second || seen.size() > kMostEntries) continue;
      const double needed =
          28 + std::min(text_width(series.name.substr(0, 200), kTextSize), kWidestName) + 16;
      if (x > kEdge && x + needed > width - kEdge) {
        x = kEdge;
        y += kLegendRow;
      }
      painter.swatch(canvas, x, y, series);
      canvas.text(x + 28, y + 4, series.name, Anchor::Start, kTextSize, kWidestName);
      x += needed;
    }
  return y + kLegendRow / 2;
}

/// Returns the y below them.
double draw_panels(Canvas& canvas, const Figure& figure, const Painter& painter, double top) {
  const std::size_t columns = painter.columns();
  const auto gaps = static_cast<double>(columns - 1);
  const double column =
      (painter.width() - 2 * kEdge - gaps * kColumnGap) / static_cast<double>(columns);
  const double plot_width = column - painter.left_margin() - painter.right_margin();
  const bool titles = std::any_of(figure.panels.begin(), figure.panels.end(),
                                  [](const FigurePanel& panel) { return !panel.title.empty(); });
  const std::string label = painter.bottom_label();
  double y = top;
  for (std::size_t first = 0; first < figure.panels.size(); first += columns) {
    double row = 0;
    for (std::size_t i = first; i < std::min(first + columns, figure.panels.size()); ++i) {
      const FigurePanel& panel = figure.panels[i];
      const double left = kEdge + static_cast<double>(i - first) * (column + kColumnGap);
      const Box plot{left + painter.left_margin(), y + (titles ? kTitleHeight : 8), plot_width,
                     painter.plot_height(panel, plot_width)};
      if (titles)
        canvas.text(plot.left, plot.top - 8, panel.title, Anchor::Start, kTextSize,
                    column - painter.left_margin(), "font-weight=\"600\"");
      painter.paint(canvas, panel, plot);
      double bottom = plot.bottom() + kTicksHeight;
      // The lowest panel of each column has the name of the axis.
      if (i + columns >= figure.panels.size() && !label.empty()) {
        canvas.text(plot.right(), bottom + 12, label + " \xE2\x86\x92", Anchor::End, kTickSize,
                    column);
        bottom += kLabelHeight;
      }
      row = std::max(row, bottom - y);
    }
    y += row + 10;
  }
  return y;
}

std::string attribute(const std::string& name, const std::string& value) {
  return " " + name + "=\"" + value + "\"";
}

struct Picture {
  std::string svg;
  double width = 0;
  double height = 0;
};

/// `top`: where it begins in a picture of several.
Picture picture_of(const Figure& figure, const Palette& palette, SvgUse use, double top = 0) {
  const std::unique_ptr<Painter> painter = painter_of(figure, palette);
  Canvas canvas(figure.id);
  const double width = painter->width();
  double y = kEdge;
  if (use == SvgUse::Standalone) {
    canvas.text(kEdge, y + 14, figure.title, Anchor::Start, 15, width - 2 * kEdge,
                "font-weight=\"600\"");
    y += 30;
  }
  y = draw_legend(canvas, figure, *painter, width, y) + 6;
  if (const std::string label = painter->top_label(); !label.empty()) {
    canvas.text(kEdge, y + 12, "\xE2\x86\x91 " + label, Anchor::Start, kTickSize,
                width - 2 * kEdge);
    y += kLabelHeight;
  }
  const double height = draw_panels(canvas, figure, *painter, y) + kEdge / 2;

  std::string svg = "<svg" + attribute("xmlns", kSvg) +
                    (top > 0 ? attribute("y", pixels(top)) : "") +
                    attribute("viewBox", "0 0 " + pixels(width) + " " + pixels(height)) +
                    attribute("width", pixels(width)) + attribute("height", pixels(height)) +
                    attribute("role", "img") +
                    attribute("aria-labelledby", figure.id + "-t " + figure.id + "-d") +
                    attribute("font-family", "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif") +
                    attribute("font-size", pixels(kTickSize)) +  // of most texts
                    attribute("fill", "currentColor") +
                    (use == SvgUse::Standalone ? attribute("color", "#1b1f24") : "") + ">\n";
  svg += "<title id=\"" + figure.id + "-t\">" + escape_markup(shortened(figure.title, 300)) +
         "</title>\n<desc id=\"" + figure.id + "-d\">" +
         escape_markup(shortened(figure.summary, 1000)) + "</desc>\n";
  svg += Canvas::patterns(figure.id);
  if (use == SvgUse::Standalone)
    svg +=
        "<rect width=\"" + pixels(width) + "\" height=\"" + pixels(height) + "\" fill=\"#fff\"/>\n";
  return {svg + canvas.content() + "</svg>\n", width, height};
}

}  // namespace

std::string svg_of(const Figure& figure, const Palette& palette, SvgUse use) {
  return picture_of(figure, palette, use).svg;
}

std::string svg_of(const std::vector<Figure>& figures, const Palette& palette) {
  std::string all;
  double width = 0;
  double height = 0;
  for (const Figure& figure : figures) {
    const Picture picture = picture_of(figure, palette, SvgUse::Standalone, height);
    all += picture.svg;
    width = std::max(width, picture.width);
    height += picture.height;
  }
  return "<svg" + attribute("xmlns", kSvg) +
         attribute("viewBox", "0 0 " + pixels(width) + " " + pixels(height)) +
         attribute("width", pixels(width)) + attribute("height", pixels(height)) + ">\n" + all +
         "</svg>\n";
}

}  // namespace gradcast
