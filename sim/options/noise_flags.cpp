#include "sim/options/noise_flags.hpp"

#include "sim/base/units.hpp"

namespace gradcast {
namespace {

/// The most replicas. More would tell little more, because the interval shrinks with their square
/// root.
int parse_replicas(std::string_view text) { return parse_count_to(10'000, text); }

}  // namespace

void add_noise_flags(Flags& flags) {
  flags.add("compute-jitter", "deviation over mean of how long a rank computes, like 5%; lognormal",
            "0%");
  flags.add("network-jitter", "the same of each node's NIC, its bytes and its latency", "0%");
  flags.add("replicas",
            "run so often with other draws: mean, its 95 % interval, quantiles, runs lost", "1");
}

NoiseChoice read_noise(const Flags& flags) {
  NoiseChoice choice;
  choice.noise.compute = flags.value("compute-jitter", parse_percent);
  choice.noise.network = flags.value("network-jitter", parse_percent);
  choice.noise.seed = flags.value("seed", parse_seed);
  choice.replicas = flags.value("replicas", parse_replicas);
  return choice;
}

}  // namespace gradcast
