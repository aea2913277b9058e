// The quantities that can be estimated from measured runs: physical numbers on which a forecast
// depends.
#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/scenario.hpp"

namespace gradcast {

/// A quantity as a number in which times are linear, or nearly so: seconds; seconds a byte for
/// rates; shares as they are.
struct ScenarioQuantity {
  std::string_view name;  // a property of clusters by its own name, or one of a compressor's costs
  std::string_view help;
  enum class Of { Cluster, Costs } of = Of::Cluster;
  /// True for overheads: two of them on one run add up. A run has one of each other quantity.
  bool adds_up = false;
  double (*parse)(std::string_view text) = nullptr;  // throws ValueError
  std::string (*print)(double number, int digits) = nullptr;
  void (*set)(Scenario& scenario, double number) = nullptr;
  /// Returns the scenario's value as such a number; 0 if there is none, as with a rate of 'none'.
  double (*get)(const Scenario& scenario) = nullptr;
  bool inverse = false;         // a rate: the longer the time of a byte, the lower
  bool software = false;        // else it is the hardware's, or the network's
  bool of_collectives = false;  // software that a collective alone pays too
  /// The largest number that physics allows. No draw of an interval lies beyond.
  double most = std::numeric_limits<double>::infinity();
  /// The numbers of situation.hpp on which a software time may depend in ways that nobody modelled:
  /// where a run lies outside of those that were seen, the value says nothing.
  std::string_view seen_by{};

  /// The value as text, with this many significant digits.
  std::string text(double number, int digits = kAllDigits) const { return print(number, digits); }
  /// "3ms to 4ms", the lower value first; no time is below 0.
  std::string range(double least, double most, int digits = kAllDigits) const;

  static constexpr int kAllDigits = 17;
};

const std::vector<ScenarioQuantity>& all_scenario_quantities();

/// Throws ValueError, with a suggestion.
const ScenarioQuantity& find_scenario_quantity(std::string_view name);

}  // namespace gradcast
