#include "sim/decide/fitting.hpp"

#include <optional>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/plan/memory.hpp"

namespace gradcast {
namespace {

/// A trace's times grow with the batch. This many times its batch, that is no longer a forecast.
constexpr int kMostTimes = 16;

/// The largest batch. nullopt: the run is impossible, or its activations are not known.
std::optional<int> largest(const Request& asked, Bytes usable, DataFiles& files) {
  try {
    const Scenario scenario = make_scenario(with_defaults(asked, files), files);
    return largest_batch(scenario, memory_of(scenario, make_plan(scenario)), usable);
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

/// Shardings that may leave room for a larger batch, "" for today's. FSDP over many nodes may be
/// slow for its long rings: then HSDP is worth its memory, and is not tried elsewhere.
std::vector<std::string> shardings_to_try(const Scenario& now) {
  std::vector<std::string> tried{""};
  const bool sharded = now.sharding.kind == Sharding::Fsdp;
  if (!sharded && now.cluster.ranks() > 1) tried.emplace_back("fsdp");
  if (sharded && now.replicas() == 1 && now.cluster.nodes > 1 && now.cluster.gpus_per_node > 1)
    tried.emplace_back("hsdp");
  return tried;
}

/// No run has batch 0: where nothing fits, the name says no batch.
std::string name_of(const FittingBatch& way) {
  const std::string batch = std::to_string(way.batch);
  if (way.with.empty())
    return way.batch == 0 ? "largest batch" : "largest batch (" + batch + " a GPU)";
  return way.batch == 0 ? way.with : way.with + " at batch " + batch;
}

}  // namespace

std::vector<FittingBatch> fitting_batches(const Request& asked, const Scenario& now, Bytes usable,
                                          DataFiles& files) {
  const bool recomputes = now.recompute != Recompute::None;
  std::vector<FittingBatch> all;
  for (const std::string& sharding : shardings_to_try(now))
    for (const bool recompute : {false, true}) {
      if (recompute && recomputes) continue;
      FittingBatch way;
      Option& option = way.option;
      option.change = Change::Batch;
      option.request = asked;
      std::vector<std::string> words;
      if (!sharding.empty()) {
        option.request.sharding = parse_sharding(sharding);
        option.request.sharding_given = true;
        option.flags.emplace_back("sharding", sharding);
        set_software(option, files);
        if (!option.refused.empty()) continue;
        words.emplace_back(sharding == "hsdp" ? "HSDP" : "FSDP");
      }
      if (recompute) {
        option.request.recompute = Recompute::Full;
        option.flags.emplace_back("recompute", "full");
        words.emplace_back("recomputation");
      }
      const std::optional<int> batch = largest(option.request, usable, files);
      if (!batch) continue;
      way.with = join(words, " and ");
      way.batch = *batch;
      set_batch(option, *batch, now);
      option.name = name_of(way);
      if (*batch == 0) option.refused = "not even one sample fits in memory";
      if (*batch > kMostTimes * now.batch())
        option.refused = "it fits, but a batch of more than " + std::to_string(kMostTimes) +
                         " times today's has times that nobody knows";
      all.push_back(std::move(way));
    }
  return all;
}

}  // namespace gradcast
