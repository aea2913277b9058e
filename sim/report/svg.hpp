// A figure as a static SVG: what a page shows without JavaScript, and what is printed.
#pragma once
#include <string>

#include "sim/report/figure.hpp"
#include "sim/report/palette.hpp"

namespace gradcast {

enum class SvgUse {
  Embedded,    // in a page: takes the page's text colour, light or dark
  Standalone,  // a file of its own: dark on white, with its fonts
};

/// Well-formed XML, whatever the names are. The palette has every series' name.
std::string svg_of(const Figure& figure, const Palette& palette, SvgUse use);

}  // namespace gradcast
