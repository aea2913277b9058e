// Results of a process that fits without some runs, as bytes.
#pragma once
#include <string>
#include <vector>

#include "sim/fit/fit.hpp"

namespace gradcast {

struct Fold {
  Fit fit;  // without its structure and rows, which are pointers
  std::vector<FitForecast> forecasts;
};

/// Keep every number to its last bit. Only this program writes and reads them, so nothing is
/// checked.
std::string to_bytes(Fold fold);
Fold fold_from_bytes(const std::string& bytes);

std::string to_bytes(std::vector<double> numbers);
std::vector<double> numbers_from_bytes(const std::string& bytes);

}  // namespace gradcast
