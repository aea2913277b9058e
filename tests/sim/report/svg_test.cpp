// Pictures: well formed, of finite numbers, and what stands where.
#include "sim/report/svg.hpp"

#include <catch2/catch.hpp>

#include "sim/base/clean_text.hpp"
#include "sim/report/escape.hpp"
#include "sim/report/scale.hpp"
#include "sim/report/svg_painter.hpp"
#include "tests/sim/report/well_formed.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const std::string kHostile =
    "</script><b x=\"'\">]]>&\x01\xff\xed\xa0\x80" + std::string(10'000, 'w');

FigurePoint at(double x, double y, const std::string& x_text = "a",
               const std::string& y_text = "b") {
  FigurePoint point{x, y, x_text, y_text};
  point.label = x_text + kHostile;
  point.text = "1.5x";
  point.until = x + 1;
  return point;
}

Figure figure_of(FigureKind kind, AxisScale x, AxisScale y) {
  Figure figure{"one", kind, kHostile, kHostile, {"workers", x}, {kHostile, y}};
  figure.guides = {5, 10};
  FigureSeries named{"topk", {at(1, 2), at(4, 8, kHostile), at(16, 3)}};
  named.points[1].low = 7;
  named.points[1].high = 9;
  named.points[2].muted = true;
  FigureSeries hostile{kHostile, {at(2, 1), at(8, 5)}};
  FigureSeries reference{"ideal", {at(1, 1), at(16, 1)}, true};
  figure.panels = {{"first", {named, hostile, reference}}, {kHostile, {named}}, {"", {}}};
  return figure;
}

std::string svg(const Figure& figure, SvgUse use = SvgUse::Embedded) {
  return svg_of(figure, Palette({figure}), use);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t times = 0;
  for (std::size_t i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++times;
  return times;
}

}  // namespace

TEST_CASE("every kind of picture is well-formed XML of finite numbers, whatever the names are",
          "[report]") {
  for (const FigureKind kind : {FigureKind::Lines, FigureKind::Bars, FigureKind::Scatter,
                                FigureKind::Map, FigureKind::Lanes})
    for (const AxisScale scale : {AxisScale::Linear, AxisScale::Log2, AxisScale::Bytes,
                                  AxisScale::Log10, AxisScale::Category})
      for (const bool stacked : {false, true})
        for (const SvgUse use : {SvgUse::Embedded, SvgUse::Standalone}) {
          Figure figure = figure_of(kind, scale, scale);
          figure.stacked = stacked;
          const std::string drawn = svg(figure, use);
          CAPTURE(static_cast<int>(kind), static_cast<int>(scale));
          CHECK(xml_fault(drawn) == "");
          CHECK(count(drawn, "nan") == 0);
          CHECK(count(drawn, "\"inf") + count(drawn, "-inf") == 0);
          CHECK(drawn.size() < 200'000);  // names of 10,000 letters are cut to the readable part
          CHECK_THAT(drawn, Contains("role=\"img\"") && Contains("<desc id=\"one-d\">"));
        }
}

TEST_CASE("an empty figure is drawn too", "[report]") {
  for (const FigureKind kind : {FigureKind::Lines, FigureKind::Bars, FigureKind::Scatter,
                                FigureKind::Map, FigureKind::Lanes})
    CHECK(xml_fault(svg({"empty", kind, "t", "s"})) == "");
}

TEST_CASE("what a logarithmic axis cannot show is left out", "[report]") {
  Figure figure{"one", FigureKind::Lines,      "t",
                "s",   {"x", AxisScale::Log2}, {"y", AxisScale::Log10}};
  figure.panels = {{"", {{"topk", {{0, 1}, {1, 0}, {2, -1}, {4, 1}, {8, 10}}}}}};
  const std::string drawn = svg(figure);
  CHECK(xml_fault(drawn) == "");
  CHECK(count(drawn, "fill=\"#0072b2\"") == 3);  // two marks, and the legend's
}

TEST_CASE("a series has one colour in every figure, and its mark", "[report]") {
  Figure one{"one", FigureKind::Lines, "t", "s"};
  one.panels = {{"", {{"zeta", {{1, 1}}}, {"gaussian", {{1, 1}}}}}};
  Figure two{"two", FigureKind::Bars, "t", "s"};
  two.panels = {{"", {{"gaussian", {{1, 1}}}, {"alpha", {{1, 1}}}, {"zeta", {{1, 1}}}}}};
  const Palette palette({one, two});
  CHECK(palette.of("gaussian").color == "#009e73");
  CHECK(palette.of("zeta").color != palette.of("alpha").color);
  const Palette other_order({two, one});
  CHECK(palette.of("zeta").color == other_order.of("zeta").color);
}

TEST_CASE("an embedded picture takes the page's colours, a standalone one brings paper",
          "[report]") {
  const Figure figure = figure_of(FigureKind::Lines, AxisScale::Log2, AxisScale::Linear);
  CHECK_THAT(svg(figure), !Contains("fill=\"#fff\"/>") && Contains("currentColor"));
  CHECK_THAT(svg(figure, SvgUse::Standalone),
             Contains("fill=\"#fff\"/>") && Contains("color=\"#1b1f24\""));
}

TEST_CASE("cells that are not sure are pale and say so", "[report]") {
  Figure figure{"one", FigureKind::Map, "t", "s"};
  FigurePoint sure = at(0, 0, "4", "10Gbps");
  FigurePoint unsure = at(0, 0, "8", "10Gbps");
  unsure.muted = true;
  figure.panels = {{"", {{"topk", {sure, unsure}}}}};
  const std::string drawn = svg(figure);
  CHECK(count(drawn, "fill-opacity=\"0.25\"") == 1);
  CHECK(count(drawn, ">1.5x<") == 1);
  CHECK(count(drawn, ">1.5x?<") == 1);
}

TEST_CASE("powers of two have ticks, and no more than there is room for", "[report]") {
  const auto texts = [](const Scale& scale, int most) {
    std::vector<std::string> list;
    for (const Tick& tick : ticks_of(scale, most)) list.push_back(tick.text);
    return list;
  };
  CHECK(texts(scale_around(AxisScale::Log2, 4, 256), 8) ==
        std::vector<std::string>{"4", "8", "16", "32", "64", "128", "256"});
  CHECK(texts(scale_around(AxisScale::Log2, 4, 256), 4) ==
        std::vector<std::string>{"4", "16", "64", "256"});
  CHECK(texts(scale_around(AxisScale::Log10, 0.2, 3), 6) ==
        std::vector<std::string>{"0.2", "0.5", "1", "2"});
  CHECK(texts(scale_around(AxisScale::Linear, 0, 97), 6) ==
        std::vector<std::string>{"0", "20", "40", "60", "80", "100"});
  CHECK(tick_text(25'600'000) == "25.6M");
  CHECK(tick_text(-0.0) == "0");
}

// 4 to 64 are four doublings: 16 is half way.
TEST_CASE("a logarithmic axis has equal factors at equal distances", "[report]") {
  Scale scale{AxisScale::Log2, 4, 64, 0, 100};
  CHECK(scale.at(16) == Approx(50));
  CHECK_FALSE(scale.shows(0));
}

TEST_CASE("scales of a single number, of none and of huge ones have ends that differ", "[report]") {
  for (const AxisScale kind : {AxisScale::Linear, AxisScale::Log2, AxisScale::Log10})
    for (const auto& [low, high] : std::vector<std::pair<double, double>>{
             {1, 1}, {0, 0}, {-3, -3}, {1e300, -1e300}, {1e-15, 1e15}, {0.1, 0.1}}) {
      const Scale scale = scale_around(kind, low, high);
      CAPTURE(static_cast<int>(kind), low, high);
      CHECK(scale.low < scale.high);
      CHECK(ticks_of(scale, 6).size() <= 12);
    }
}

TEST_CASE("a text that does not fit is cut with an ellipsis", "[report]") {
  CHECK(fitted("gaussian", 11, 200) == "gaussian");
  const std::string cut = fitted("inception-resnet-v2-atrous", 11, 60);
  CHECK_THAT(cut, Catch::StartsWith("incep") && Catch::EndsWith("\xE2\x80\xA6"));
  CHECK(text_width(cut, 11) <= 60);
}

TEST_CASE("characters that XML forbids become replacement characters", "[report]") {
  const std::string replaced = "\xEF\xBF\xBD";
  CHECK(clean_text("a\x01"
                   "b") == "a" + replaced + "b");
  CHECK(clean_text("\xff") == replaced);
  CHECK(clean_text("\xC0\xAF") == replaced + replaced);                 // an overlong slash
  CHECK(clean_text("\xED\xA0\x80") == replaced + replaced + replaced);  // half of a surrogate pair
  CHECK(clean_text("\xE2\x82") == replaced + replaced);  // the beginning of a euro sign
  CHECK(clean_text("\xE2\x82\xAC \xF0\x9F\x98\x80") == "\xE2\x82\xAC \xF0\x9F\x98\x80");
  CHECK(clean_text("a\xE2\x80\xAE"
                   "b") == "a" + replaced + replaced + replaced + "b");  // turns the text round
  CHECK(escape_markup("<a href='x'>&\"") == "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
  CHECK(escape_script_json("</script>&") == "\\u003c/script\\u003e\\u0026");
  CHECK(escape_data_uri("a,b\n\"#%") == "a,b%0A%22%23%25");
  CHECK(shortened("\xC3\xA4\xC3\xB6\xC3\xBC", 2) == "\xC3\xA4\xE2\x80\xA6");
  CHECK(shortened("abc", 3) == "abc");
}

// Two series with intervals at the same x: their bars stand 5 pixels apart.
TEST_CASE("intervals of two series are bars that do not hide each other", "[report]") {
  Figure figure{"one", FigureKind::Lines, "t", "s"};
  FigurePoint point{1, 5};
  point.low = 4;
  point.high = 6;
  FigurePoint next{2, 5};
  figure.panels = {{"", {{"topk", {point, next}}, {"dgc", {point, next}}}}};
  const std::string drawn = svg(figure);
  CHECK(count(drawn, "fill-opacity=\".15\"") == 0);
  std::vector<double> places;
  for (std::size_t i = 0; i < drawn.size();) {
    const std::size_t end = drawn.find("stroke-opacity=\".6\"", i);
    if (end == std::string::npos) break;
    const std::size_t from = drawn.rfind("d=\"M", end) + 4;
    places.push_back(std::stod(drawn.substr(from)));
    i = end + 1;
  }
  REQUIRE(places.size() == 2);
  CHECK(places[1] - places[0] == Approx(5));
}

TEST_CASE("a series of many points has a band", "[report]") {
  Figure figure{"one", FigureKind::Lines, "t", "s"};
  FigureSeries series{"topk"};
  for (int i = 1; i <= 13; ++i) {
    FigurePoint point{static_cast<double>(i), 5};
    point.low = 4;
    point.high = 6;
    series.points.push_back(point);
  }
  figure.panels = {{"", {series}}};
  CHECK(count(svg(figure), "fill-opacity=\".15\"") == 1);
}
