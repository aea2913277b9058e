#include "sim/forecast/suspects.hpp"

#include <cmath>

#include "sim/base/text.hpp"
#include "sim/engine/iteration_result.hpp"

namespace gradcast {
namespace {

/// A property that slows a forecast down, from no effect (at 0) to the most that is likely (at 1).
struct Lever {
  std::string_view property;
  std::string_view bound;
  void (*pull)(Cluster& cluster, double how_far);
  std::string (*value)(const Cluster& cluster);
};

/// Goes from one rate down to another, in equal steps of the time that a byte takes.
BytesPerSecond between(BytesPerSecond fast, BytesPerSecond slow, double how_far) {
  return {1 / ((1 - how_far) / fast.value + how_far / slow.value)};
}

/// Two digits, because these are not measurements.
double two_digits(double value) { return rounded_to(2, value); }

std::string rate_text(BytesPerSecond rate) {
  return to_text(BytesPerSecond{two_digits(rate.value)});
}

constexpr Lever kLevers[] = {
    {"per_tensor_negotiation", "up to 5ms",
     [](Cluster& c, double how_far) { c.per_tensor_negotiation = how_far * Seconds{5e-3}; },
     [](const Cluster& c) {
       return to_text(Seconds{two_digits(c.per_tensor_negotiation.count())});
     }},
    {"pcie_bandwidth", "from 1GBps",
     [](Cluster& c, double how_far) { c.pcie_bandwidth = between({1e12}, {1e9}, how_far); },
     [](const Cluster& c) { return rate_text(c.pcie_bandwidth); }},
    {"communication_slowdown", "up to 100%",
     [](Cluster& c, double how_far) { c.communication_slowdown = how_far; },
     [](const Cluster& c) { return percent_to_text(two_digits(c.communication_slowdown)); }},
    {"nic_bandwidth", "from half",
     [](Cluster& c, double how_far) {
       c.nic.bandwidth = between(c.nic.bandwidth, {c.nic.bandwidth.value / 2}, how_far);
     },
     [](const Cluster& c) { return rate_text(c.nic.bandwidth); }},
};

}  // namespace

std::vector<Suspect> suspects_of(const Scenario& scenario, Seconds measured) {
  const Engine& engine = *find_engine("analytic");
  if (!engine.refusal(make_plan(scenario), scenario.cluster, scenario.world).empty()) return {};
  if (run(scenario, engine).iteration >= measured) return {};
  std::vector<Suspect> suspects;
  for (const Lever& lever : kLevers) {
    Scenario pulled = scenario;
    const auto too_fast = [&](double how_far) {
      pulled.cluster = scenario.cluster;
      lever.pull(pulled.cluster, how_far);
      return run(pulled, engine).iteration < measured;
    };
    if (too_fast(1)) continue;
    double low = 0;
    double high = 1;
    constexpr int kHalvings = 12;  // finer than the two digits that are shown
    for (int i = 0; i < kHalvings; ++i)
      (too_fast((low + high) / 2) ? low : high) = (low + high) / 2;
    too_fast(high);
    suspects.push_back({std::string(lever.property), lever.value(pulled.cluster)});
  }
  return suspects;
}

std::string tried_suspects() {
  std::vector<std::string> tried;
  for (const Lever& lever : kLevers)
    tried.push_back(std::string(lever.property) + " " + std::string(lever.bound));
  return join(tried);
}

std::string to_text(const std::vector<Suspect>& suspects) {
  std::vector<std::string> words;
  for (const Suspect& suspect : suspects) words.push_back(suspect.property + " " + suspect.value);
  return join(words, " or ");
}

}  // namespace gradcast
