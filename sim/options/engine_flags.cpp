#include "sim/options/engine_flags.hpp"

#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Engine& engine : all_engines()) names.emplace_back(engine.name);
  return names;
}

/// The most replicas. More would tell little more, because the interval shrinks with their square
/// root.
int parse_replicas(std::string_view text) { return parse_count_to(10'000, text); }

}  // namespace

void add_engine_flag(Flags& flags) {
  flags.add("engine", join(names(), " or "), std::string(all_engines()[0].name));
}

const Engine& chosen_engine(const Flags& flags) {
  const std::string name = flags.text("engine");
  const Engine* engine = find_engine(name);
  if (engine == nullptr)
    throw UsageError("--engine: unknown engine '" + name + "'" + did_you_mean(name, names()) +
                     " (known: " + join(names()) + ")");
  if (!engine->built())
    throw MissingError("engine '" + name + "' is not in this build: it needs " +
                       std::string(engine->needs));
  return *engine;
}

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
