// The quantities over which a break-even is searched: how each is written, its range, and how it
// changes a run.
#pragma once
#include <string>
#include <string_view>

#include "sim/breakeven/crossings.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {

enum class Quantity {
  NicBandwidth,  // bits a second, goodput of a NIC
  Nodes,         // GPUs per node stay
  Density,       // share of the elements that is kept
  /// The compressor's encoding and decoding times divided by the cost table's; with a fitted table,
  /// including all that it has besides kernels.
  KernelCost,
};

/// "nic-bandwidth", "nodes", "density" or "kernel-cost". Throws ValueError.
Quantity parse_quantity(std::string_view text);
std::string to_text(Quantity quantity);

/// One value as a flag takes it: "38.2Gbps", "3", "0.002", "2.4". Throws ValueError.
double parse_value(Quantity quantity, std::string_view text);
/// The value with four significant digits, in the same spelling.
std::string value_text(Quantity quantity, double value);

/// The default range: 1 to 400 Gb/s, 1 to 64 nodes, densities of 1e-5 to 0.1, 0.01 to 100 times the
/// kernel cost.
LookedAt usual_range(Quantity quantity);

/// Gives a run that value, as its flag would. Kernel cost multiplies the cost table's times of
/// encoding and decoding. Throws ValueError if the run's cluster cannot have the value.
void set_value(Scenario& scenario, Quantity quantity, double value);

/// A platform file says what its nodes and links are. Throws ValueError, as a flag would.
void require_settable(Scenario scenario, Quantity quantity);

/// The value that a run has by itself. `scenario` is the run's.
double own_value(Quantity quantity, const Scenario& scenario);

}  // namespace gradcast
