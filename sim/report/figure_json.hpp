// Figures as JSON: what the script of a page reads.
#pragma once
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/report/figure.hpp"
#include "sim/report/palette.hpp"

namespace gradcast {

/// What is nought, empty or absent in a point is left out; so is what its axis does not use: x or y
/// of a category. Tables are not in it: they stand in the page.
Json figure_json(const Figure& figure, const Palette& palette);

/// The same with its table.
Json figure_json_with_table(const Figure& figure, const Palette& palette);

}  // namespace gradcast
