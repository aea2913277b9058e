// room: report
// words: sim/report/results.cpp sim/report/points.cpp sim/report/headline.cpp
// words: sim/report/figures_*.cpp
// longest: 8192
// A report made from a document: pictures, sentences and the page.

#include "sim/report/figures.hpp"
#include "sim/report/headline.hpp"
#include "sim/report/html.hpp"
#include "sim/report/palette.hpp"
#include "sim/report/results.hpp"
#include "sim/report/svg.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const std::vector<ResultFile> results{read_result(file_of(bytes, "result.json"))};
  const std::vector<Figure> figures = figures_of(results);
  const Palette palette(figures);
  for (const Figure& figure : figures) {
    const std::string svg = svg_of(figure, palette, SvgUse::Standalone);
    require(svg.find("nan") == std::string::npos || bytes.find("nan") != std::string::npos,
            "a picture has no coordinate that is no number");
  }
  const std::string page =
      html_of({"title", "0", results, headline_of(results), figures}, palette, "", "");
  require(page.find("<script>alert") == std::string::npos, "no text becomes a script");
}

const Harness harness("result", read);

}  // namespace
}  // namespace gradcast::fuzz
