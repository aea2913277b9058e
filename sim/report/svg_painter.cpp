#include "sim/report/svg_painter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "sim/base/clean_text.hpp"
#include "sim/base/units.hpp"
#include "sim/report/escape.hpp"

namespace gradcast {
namespace {

std::string title_of(std::string_view title) {
  return title.empty() ? "" : "<title>" + escape_markup(shortened(title, 300)) + "</title>";
}

/// Shapes by Look::mark, from the middle: circle, square, triangle, diamond, triangle upside down,
/// cross, star.
constexpr std::array<const char*, kMarks> kShapes = {
    "m-3.7 0a3.7 3.7 0 1 0 7.4 0a3.7 3.7 0 1 0-7.4 0z",
    "m-3.4-3.4h6.8v6.8h-6.8z",
    "m0-4.6l4.3 7.8h-8.6z",
    "m0-4.9l4.9 4.9l-4.9 4.9l-4.9-4.9z",
    "m0 4.6l4.3-7.8h-8.6z",
    "m-4.5-1.5h3v-3h3v3h3v3h-3v3h-3v-3h-3z",
    "m0-5.2l1.3 3.4l3.6.2l-2.8 2.3l.9 3.5l-3-1.9l-3 1.9l.9-3.5l-2.8-2.3l3.6-.2z"};

}  // namespace

double text_width(std::string_view text, double size) {
  double width = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;  // inside a character
    if (std::string_view(" iljtf.,:;|!'()[]").find(c) != std::string_view::npos)
      width += 0.34;
    else if (std::string_view("mwMW%@").find(c) != std::string_view::npos)
      width += 0.92;
    else if (static_cast<unsigned char>(c) >= 0x80)
      width += 1;
    else
      width += c >= 'A' && c <= 'Z' ? 0.7 : 0.58;
  }
  return width * size;
}

std::string fitted(std::string_view text, double size, double width) {
  // A text that is far too long need not be measured to its end.
  std::string cut = shortened(text, 200);
  for (std::size_t most = 200; most > 1 && text_width(cut, size) > width;)
    cut = shortened(text, --most);
  return cut;
}

std::string pixels(double value) { return number_to_text(std::round(value * 10) / 10 + 0.0); }

void Canvas::text(double x, double y, std::string_view text, Anchor anchor, double size,
                  double most_width, const std::string& attributes) {
  constexpr std::array<const char*, 3> kAnchors = {"", " text-anchor=\"middle\"",
                                                   " text-anchor=\"end\""};
  const std::string clean = clean_text(text);
  const std::string shown = fitted(clean, size, most_width);
  content_ += "<text x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\"" +
              kAnchors[static_cast<std::size_t>(anchor)] +
              (size == kTickSize ? "" : " font-size=\"" + pixels(size) + "\"") +
              (attributes.empty() ? "" : " " + attributes) + ">" + escape_markup(shown) +
              (shown == clean ? "" : title_of(clean)) + "</text>\n";
}

void Canvas::line(double x1, double y1, double x2, double y2, const std::string& attributes) {
  content_ += "<path d=\"M" + pixels(x1) + " " + pixels(y1) + "L" + pixels(x2) + " " + pixels(y2) +
              "\" " + attributes + "/>\n";
}

void Canvas::path(const std::string& d, const std::string& attributes, std::string_view title) {
  content_ += "<path d=\"" + d + "\" " + attributes;
  content_ += title.empty() ? "/>\n" : ">" + title_of(title) + "</path>\n";
}

void Canvas::mark(double x, double y, const Look& look, std::string_view title, double opacity) {
  path("M" + pixels(x) + " " + pixels(y) + kShapes[static_cast<std::size_t>(look.mark)],
       "fill=\"" + look.color + "\"" +
           (opacity == 1 ? "" : " fill-opacity=\"" + number_to_text(opacity) + "\""),
       title);
}

void Canvas::block(const Box& box, const Look& look, std::string_view title, double opacity) {
  const std::string where = "<rect x=\"" + pixels(box.left) + "\" y=\"" + pixels(box.top) +
                            "\" width=\"" + pixels(std::max(box.width, 0.3)) + "\" height=\"" +
                            pixels(box.height) + "\" ";
  if (look.pattern > 0 && opacity == 1)
    content_ += where + "fill=\"" + look.color + "\"/>" + where + "fill=\"url(#" + id_ + "-p" +
                std::to_string(look.pattern) + ")\"";
  else
    content_ += where + "fill=\"" + look.color + "\"" +
                (opacity == 1 ? "" : " fill-opacity=\"" + number_to_text(opacity) + "\"");
  content_ += title.empty() ? "/>\n" : ">" + title_of(title) + "</rect>\n";
}

std::string Canvas::patterns(const std::string& id) {
  const auto pattern = [&](int number, const std::string& attributes, const std::string& shape) {
    return "<pattern id=\"" + id + "-p" + std::to_string(number) +
           "\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"" + attributes + ">" +
           shape + "</pattern>";
  };
  const std::string stripe =
      "<path d=\"M0 3H6\" stroke=\"#fff\" stroke-opacity=\".5\" "
      "stroke-width=\"1.6\"/>";
  return "<defs>" + pattern(1, " patternTransform=\"rotate(45)\"", stripe) +
         pattern(2, "", "<circle cx=\"3\" cy=\"3\" r=\"1.2\" fill=\"#fff\" fill-opacity=\".6\"/>") +
         pattern(3, " patternTransform=\"rotate(-45)\"", stripe) + "</defs>\n";
}

std::size_t Painter::columns() const {
  const std::size_t panels = figure_.panels.size();
  if (panels <= 3) return std::max<std::size_t>(panels, 1);
  return panels == 4 ? 2 : 3;
}

void Painter::swatch(Canvas& canvas, double x, double y, const FigureSeries& series) const {
  canvas.block({x + 4, y - 6, 14, 12}, palette_.of(series.name));
}

void draw_x_axis(Canvas& canvas, const Scale& scale, const Box& plot) {
  std::string grid;  // one path: pages have hundreds of such lines
  for (const Tick& tick : ticks_of(scale, static_cast<int>(plot.width / 46))) {
    const double x = scale.at(tick.value);
    grid += "M" + pixels(x) + " " + pixels(plot.top) + "V" + pixels(plot.bottom());
    canvas.text(x, plot.bottom() + 15, tick.text, Anchor::Middle, kTickSize);
  }
  if (!grid.empty()) canvas.path(grid, kGridLine);
  canvas.line(plot.left, plot.bottom(), plot.right(), plot.bottom(), kAxisLine);
}

void draw_y_axis(Canvas& canvas, const Scale& scale, const Box& plot) {
  std::string grid;
  for (const Tick& tick : ticks_of(scale, static_cast<int>(plot.height / 28))) {
    const double y = scale.at(tick.value);
    grid += "M" + pixels(plot.left) + " " + pixels(y) + "H" + pixels(plot.right());
    canvas.text(plot.left - 6, y + 4, tick.text, Anchor::End, kTickSize);
  }
  if (!grid.empty()) canvas.path(grid, kGridLine);
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
