// Accuracies of several trainings as lines: a line a setup, a point each evaluation, over the
// seeds.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/report/figure.hpp"

namespace gradcast {

/// What all seeds of a setup showed at each place of x.
using SeedCurve = std::map<double, std::vector<double>>;

/// "topk 0.001", "gaussian (code) 0.001": compressor, mode and density of a row.
std::string curve_name(const Json& row);

/// The median of `values`, in a band from the least to the most.
FigurePoint point_of_seeds(double x, const std::vector<double>& values);

}  // namespace gradcast
