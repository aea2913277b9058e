// A figure as a static SVG. A page shows it without JavaScript, and in print.
#pragma once
#include <string>

#include "sim/report/figure.hpp"
#include "sim/report/palette.hpp"

namespace gradcast {

enum class SvgUse {
  Embedded,    // in a page: takes the page's text colour, light or dark
  Standalone,  // a file of its own: dark on white, with its fonts
};

/// The result is well-formed XML for any names. The palette must have every series' name.
std::string svg_of(const Figure& figure, const Palette& palette, SvgUse use);

}  // namespace gradcast
