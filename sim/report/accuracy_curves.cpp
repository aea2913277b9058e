#include "sim/report/accuracy_curves.hpp"

#include <algorithm>

#include "sim/base/statistics.hpp"
#include "sim/report/figures.hpp"
#include "sim/report/results.hpp"

namespace gradcast {

std::string curve_name(const Json& row) {
  const std::string compressor = text_of(row, "compressor");
  const std::string mode = text_of(row, "mode");
  const auto density = positive_of(row, "density");
  std::string name = compressor + (mode.empty() ? "" : " (" + mode + ")");
  if (density && *density < 1) name += " " + count_text(*density);
  return name;
}

FigurePoint point_of_seeds(double x, const std::vector<double>& values) {
  FigurePoint point{x, median(values)};
  if (values.size() > 1) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    point.low = *least;
    point.high = *most;
  }
  return point;
}

}  // namespace gradcast
