#include "sim/report/palette.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "kernels/compressor.hpp"

using namespace gradcast;

// 18 names beside 8 colours for names that nobody knows: two of them would look alike.
TEST_CASE("every compressor has a colour of its own", "[report]") {
  Figure figure;
  FigurePanel panel;
  for (const Compressor* compressor : all_compressors())
    panel.series.push_back({std::string(compressor->name)});
  figure.panels.push_back(panel);
  const Palette palette({figure});
  std::set<std::string> colors;
  for (const Compressor* compressor : all_compressors()) {
    CAPTURE(compressor->name);
    CHECK(colors.insert(palette.of(std::string(compressor->name)).color).second);
  }
}
