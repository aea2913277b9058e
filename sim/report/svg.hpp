// A figure as a static SVG. A page shows it without JavaScript, and in print.
#pragma once
#include <string>
#include <vector>

#include "sim/report/figure.hpp"
#include "sim/report/palette.hpp"

namespace gradcast {

enum class SvgUse {
  Embedded,    // in a page: takes the page's text colour, light or dark
  Standalone,  // a file of its own: dark on white, with its fonts
};

/// The result is well-formed XML for any names. The palette must have every series' name.
std::string svg_of(const Figure& figure, const Palette& palette, SvgUse use);

/// Several figures in one file of its own, one below the other.
std::string svg_of(const std::vector<Figure>& figures, const Palette& palette);

}  // namespace gradcast
