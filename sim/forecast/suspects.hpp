// What would explain a forecast that is too fast: each of some properties of a cluster alone, at
// the value that makes the forecast the measurement. A question to whoever knows the cluster, not a
// fit.
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

/// Those whose value is still a likely one: a negotiation of up to 5 ms a tensor, a shared PCIe
/// path of 1 GB/s or more, a backward slowed down to half its speed at most, a NIC of half its
/// goodput or more. By the closed form; empty where that cannot run the scenario or is not too
/// fast.
std::vector<Suspect> suspects_of(const Scenario& scenario, Seconds measured);

/// The properties that are tried, and how far: "per_tensor_negotiation up to 5ms, ...".
std::string tried_suspects();

/// "per_tensor_negotiation 0.74ms or pcie_bandwidth 3.1GBps"; "" for none.
std::string to_text(const std::vector<Suspect>& suspects);

}  // namespace gradcast
