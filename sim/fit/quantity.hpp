// What can be estimated from measured runs: the physical numbers that a forecast rests on.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/scenario.hpp"

namespace gradcast {

/// A quantity as a number in which times are linear or nearly so: seconds, seconds a byte for
/// rates, shares as they are.
struct FitQuantity {
  std::string_view name;  // a property of clusters by its own name, or one of a compressor's costs
  std::string_view help;
  enum class Of { Cluster, Costs } of = Of::Cluster;
  /// Two of them on one run add up (overheads); of the others a run has one.
  bool adds_up = false;
  double (*parse)(std::string_view text) = nullptr;  // throws ValueError
  std::string (*print)(double number, int digits) = nullptr;
  void (*set)(Scenario& scenario, double number) = nullptr;
  /// Something stands for nothing at all, as 'none' does of a rate: then 0.
  double (*get)(const Scenario& scenario) = nullptr;
  bool inverse = false;  // a rate: the longer the time of a byte, the lower

  /// With so many significant digits.
  std::string text(double number, int digits = kAllDigits) const { return print(number, digits); }
  /// "3ms to 4ms", the lower value first; no time is below 0.
  std::string range(double least, double most, int digits = kAllDigits) const;

  static constexpr int kAllDigits = 17;
};

const std::vector<FitQuantity>& all_fit_quantities();

/// Throws ValueError, with a suggestion.
const FitQuantity& find_fit_quantity(std::string_view name);

}  // namespace gradcast
