#include "sim/breakeven/quantity.hpp"

#include <array>
#include <cmath>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/cluster_faults.hpp"
#include "sim/inputs/cluster_values.hpp"

namespace gradcast {
namespace {

struct Named {
  Quantity quantity;
  std::string_view name;
};

constexpr std::array<Named, 4> kQuantities{{{Quantity::NicBandwidth, "nic-bandwidth"},
                                            {Quantity::Nodes, "nodes"},
                                            {Quantity::Density, "density"},
                                            {Quantity::KernelCost, "kernel-cost"}}};

constexpr double kBitsPerByte = 8;

std::string rate_text(double bits_per_second) {
  return to_text(BytesPerSecond{bits_per_second / kBitsPerByte});
}

double parse_factor(std::string_view text) {
  const double factor = parse_number(text);
  if (factor > 0) return factor;
  throw ValueError("'" + std::string(text) + "' is not a factor; write a number above 0 like 2.5");
}

}  // namespace

Quantity parse_quantity(std::string_view text) {
  std::vector<std::string> known;
  for (const Named& named : kQuantities) {
    if (named.name == text) return named.quantity;
    known.emplace_back(named.name);
  }
  throw ValueError("'" + std::string(text) + "' cannot be varied" + did_you_mean(text, known) +
                   " (known: " + join(known) + ")");
}

std::string to_text(Quantity quantity) {
  for (const Named& named : kQuantities)
    if (named.quantity == quantity) return std::string(named.name);
  return "";
}

double parse_value(Quantity quantity, std::string_view text) {
  switch (quantity) {
    case Quantity::NicBandwidth:
      return parse_rate(text).value * kBitsPerByte;
    case Quantity::Nodes:
      return parse_count(text);
    case Quantity::Density:
      return parse_density(text);
    case Quantity::KernelCost:
      break;
  }
  return parse_factor(text);
}

std::string value_text(Quantity quantity, double value) {
  const double rounded = rounded_to(4, value);
  if (quantity == Quantity::NicBandwidth) return rate_text(rounded);
  return number_to_text(quantity == Quantity::Nodes ? value : rounded);
}

LookedAt usual_range(Quantity quantity) {
  switch (quantity) {
    case Quantity::NicBandwidth:
      return {1e9, 400e9};
    case Quantity::Nodes:
      return {1, 64, true};
    case Quantity::Density:
      return {1e-5, 0.1};
    case Quantity::KernelCost:
      break;
  }
  return {0.01, 100};
}

void set_value(Scenario& scenario, Quantity quantity, double value) {
  switch (quantity) {
    case Quantity::NicBandwidth:
      set_property(scenario.cluster, "nic_bandwidth", rate_text(value));
      scenario.stated.emplace_back("nic_bandwidth");  // as if typed: its file's doubt is gone
      break;
    case Quantity::Nodes:
      set_property(scenario.cluster, "nodes", number_to_text(value));
      break;
    case Quantity::Density:
      scenario.density = value;
      break;
    case Quantity::KernelCost:
      scenario.codec.encode_factor = scenario.codec.decode_factor = value;
      break;
  }
  require_possible(scenario.cluster);
}

void require_settable(Scenario scenario, Quantity quantity) {
  if (!scenario.cluster.platform_file.empty())
    set_value(scenario, quantity, 2 * own_value(quantity, scenario) + 1);
}

double own_value(Quantity quantity, const Scenario& scenario) {
  switch (quantity) {
    case Quantity::NicBandwidth:
      return scenario.cluster.nic.bandwidth.value * kBitsPerByte;
    case Quantity::Nodes:
      return scenario.cluster.nodes;
    case Quantity::Density:
      return scenario.density;
    case Quantity::KernelCost:
      break;
  }
  return 1;
}

}  // namespace gradcast
