#include "sim/report/figure_json.hpp"

#include <cmath>

#include "sim/base/clean_text.hpp"
#include "sim/base/units.hpp"
#include "sim/report/escape.hpp"

namespace gradcast {
namespace {

const char* kind_name(FigureKind kind) {
  switch (kind) {
    case FigureKind::Bars:
      return "bars";
    case FigureKind::Scatter:
      return "scatter";
    case FigureKind::Map:
      return "map";
    case FigureKind::Lanes:
      return "lanes";
    case FigureKind::Ridges:
      return "ridges";
    case FigureKind::Lines:
      break;
  }
  return "lines";
}

const char* scale_name(AxisScale scale) {
  switch (scale) {
    case AxisScale::Log2:
      return "log2";
    case AxisScale::Bytes:
      return "bytes";
    case AxisScale::Log10:
      return "log10";
    case AxisScale::Category:
      return "category";
    case AxisScale::Linear:
      break;
  }
  return "linear";
}

/// The longest name in a legend or a cell. Longer ones are cut for drawing, and are whole in the
/// tables.
constexpr std::size_t kLongestName = 200;

std::string drawn(const std::string& text) { return shortened(clean_text(text), kLongestName); }

/// Six digits: more than a screen can show. This halves the page.
Json short_number(double value) {
  const double rounded = rounded_to(6, value);
  if (rounded == std::floor(rounded) && std::abs(rounded) < 1e9)
    return static_cast<std::int64_t>(rounded);
  return rounded;
}

Json axis_json(const Axis& axis) {
  Json json = {{"label", axis.label}, {"scale", scale_name(axis.scale)}};
  if (!axis.categories.empty()) {
    json["categories"] = Json::array();
    for (const std::string& category : axis.categories)
      json["categories"].push_back(drawn(category));
  }
  return json;
}

Json point_json(const Figure& figure, const FigurePoint& point) {
  Json json = Json::object();
  if (figure.x.scale != AxisScale::Category) json["x"] = short_number(point.x);
  if (figure.y.scale != AxisScale::Category) json["y"] = short_number(point.y);
  const auto add_text = [&](const char* name, const std::string& text) {
    if (!text.empty()) json[name] = drawn(text);
  };
  add_text("x_text", point.x_text);
  add_text("y_text", point.y_text);
  if (point.low) json["low"] = short_number(*point.low);
  if (point.high) json["high"] = short_number(*point.high);
  add_text("label", point.label);
  add_text("text", point.text);
  if (figure.kind == FigureKind::Lanes) {
    // Dates are large numbers that are close together, so they need more digits.
    json["x"] = point.x;
    json["until"] = point.until;
  }
  if (point.muted) json["muted"] = true;
  return json;
}

}  // namespace

Json figure_json(const Figure& figure, const Palette& palette) {
  Json colors = Json::object();
  Json marks = Json::object();
  Json patterns = Json::object();
  Json panels = Json::array();
  for (const FigurePanel& panel : figure.panels) {
    Json list = Json::array();
    for (const FigureSeries& series : panel.series) {
      if (!series.reference) {
        const Look& look = palette.of(series.name);
        colors[drawn(series.name)] = look.color;
        marks[drawn(series.name)] = look.mark;
        patterns[drawn(series.name)] = look.pattern;
      }
      Json points = Json::array();
      for (const FigurePoint& point : series.points) points.push_back(point_json(figure, point));
      list.push_back(
          {{"name", drawn(series.name)}, {"reference", series.reference}, {"points", points}});
    }
    panels.push_back({{"title", drawn(panel.title)}, {"series", list}});
  }
  Json json;
  json["id"] = figure.id;
  json["kind"] = kind_name(figure.kind);
  json["title"] = drawn(figure.title);
  std::string words = figure.summary;
  std::erase(words, '`');  // a screen reader would spell them
  json["summary"] = shortened(clean_text(words), 2000);
  json["x"] = axis_json(figure.x);
  json["y"] = axis_json(figure.y);
  json["stacked"] = figure.stacked;
  json["guides"] = figure.guides;
  json["colors"] = colors;
  json["marks"] = marks;
  json["patterns"] = patterns;
  json["panels"] = panels;
  return json;
}

Json figure_json_with_table(const Figure& figure, const Palette& palette) {
  Json json = figure_json(figure, palette);
  json["table"] = {{"header", figure.table.header}, {"rows", figure.table.rows}};
  return json;
}

}  // namespace gradcast
