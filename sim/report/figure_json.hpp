// Figures as JSON, for the script of a page.
#pragma once
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/report/figure.hpp"
#include "sim/report/palette.hpp"

namespace gradcast {

/// Values of a point that are zero, empty or absent are left out, and so is the x or y that an axis
/// of categories does not use. Tables are left out too, because the page has them.
Json figure_json(const Figure& figure, const Palette& palette);

/// The figure with its table.
Json figure_json_with_table(const Figure& figure, const Palette& palette);

}  // namespace gradcast
