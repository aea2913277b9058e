// Possible explanations of a forecast that is too fast. Some properties of a cluster are tried,
// each alone: the value of the property at which the forecast equals the measurement. This is a
// question to someone who knows the cluster, not a fit.
#pragma once
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {

struct Suspect {
  std::string property;  // of a cluster
  std::string value;
};

/// The explanations whose value is still likely: a negotiation of up to 5 ms a tensor, a shared
/// PCIe path of 1 GB/s or more, a backward slowed down to half its speed at most, a NIC of half its
/// goodput or more. They are found by the closed form. Empty where that cannot run the scenario, or
/// where its forecast is not too fast.
std::vector<Suspect> suspects_of(const Scenario& scenario, Seconds measured);

/// The properties that are tried, with their limits: "per_tensor_negotiation up to 5ms, ...".
std::string tried_suspects();

/// "per_tensor_negotiation 0.74ms or pcie_bandwidth 3.1GBps"; "" for none.
std::string to_text(const std::vector<Suspect>& suspects);

}  // namespace gradcast
