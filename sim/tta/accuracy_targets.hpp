// The accuracies at which trainings are compared.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/tta/trained_setups.hpp"

namespace gradcast {

/// As it was asked for.
struct AccuracyTarget {
  bool below_best = false;  // so many points below the best, else so many percent
  double value = 0;
};

/// "80,85", "best-1": one point below the best that dense reached, or any where there is no dense.
/// Throws ValueError.
std::vector<AccuracyTarget> parse_targets(std::string_view text);

/// The targets in percent: rising, each once. Throws ValueError where one is not above 0.
std::vector<double> percent_of(const std::vector<AccuracyTarget>& targets,
                               const TrainedSetups& setups);

}  // namespace gradcast
