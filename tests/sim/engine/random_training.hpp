// Random choices of sharding and number types.
#pragma once
#include <string>
#include <vector>

#include "sim/network/collective_time.hpp"
#include "sim/network/rank_groups.hpp"
#include "sim/plan/scenario.hpp"
#include "tests/sim/engine/random_choice.hpp"

namespace gradcast::scenarios {

inline NumberType draw_type() {
  return one_of<NumberType>({NumberType::Fp32, NumberType::Bf16, NumberType::Fp16});
}

inline void draw_types(Model& model) {
  for (GradientTensor& tensor : model.tensors) {
    tensor.type = tensor.gradient_type = tensor.sum_type = draw_type();
    if (chance(30)) tensor.sum_type = NumberType::Fp32;
  }
}

/// All but one may be frozen.
inline void draw_frozen(Model& model) {
  const auto trained =
      static_cast<std::size_t>(number(0, static_cast<int>(model.tensors.size()) - 1));
  for (std::size_t i = 0; i < model.tensors.size(); ++i)
    model.tensors[i].frozen = i != trained && chance(30);
}

inline void draw_units(Model& model) {
  const int each = number(1, 4);
  for (std::size_t i = 0; i < model.tensors.size(); ++i)
    model.tensors[i].unit = "u" + std::to_string(static_cast<int>(i) / each);
}

/// Whether the collective can exchange among replicas of shards.
inline bool exchanges(const Scenario& scenario, int shards) {
  const Collective* collective = scenario.collective;
  if (collective == nullptr) return true;
  if (collective->before != nullptr) return false;
  try {
    phases_in({shards, scenario.cluster.ranks() / shards}, *collective, layout_of(scenario.cluster),
              {.payload = Bytes{1}, .elements = 1});
    return true;
  } catch (const ValueError&) {
    return false;
  }
}

/// `apart`: scatters and exchanges among replicas may not be on their way at the same time.
inline void draw_sharding(Scenario& scenario, bool apart) {
  if (scenario.queue == Queue::Priority || scenario.fusion.kind == Fusion::Kind::MgWfbp ||
      scenario.fusion.kind == Fusion::Kind::Omgs)
    return;
  const int ranks = scenario.cluster.ranks();
  std::vector<int> groups;
  for (int group = 2; group <= ranks; ++group) {
    const bool hybrid = group < ranks;
    if (ranks % group != 0 || (!hybrid && scenario.sparse())) continue;
    if (hybrid && (!exchanges(scenario, group) || (apart && scenario.overlap))) continue;
    groups.push_back(group);
  }
  if (groups.empty()) return;
  if (apart) scenario.pipeline = false;
  scenario.sharding.group = one_of(groups);
  scenario.sharding.kind = one_of<Sharding>({Sharding::Zero1, Sharding::Zero2, Sharding::Fsdp});
  scenario.sharding.reshard_after_forward = chance(70);
  if (scenario.overlap && chance(50)) scenario.sharding.prefetch = number(0, 4);
  draw_units(scenario.model.change());
  scenario.owners_broadcast = scenario.sharding.group % 2 == 0;  // no draw, as below
  // No draw, so that all scenarios stay as they are but for their copies.
  if (scenario.sharding.kind != Sharding::Fsdp || scenario.sharding.group % 2 != 0) return;
  scenario.cluster.shard_copy_passes = 3.5;
  scenario.gpu_memory = BytesPerSecond{1e10};
}

inline void draw_training(Scenario& scenario, bool apart) {
  if (scenario.payload.count > 0) return;
  if (chance(30)) draw_types(scenario.model.change());
  if (chance(20)) draw_frozen(scenario.model.change());
  if (chance(40)) draw_sharding(scenario, apart);
  if (chance(25)) scenario.accumulation = number(2, 3);
  const bool any_time = scenario.queue == Queue::Fifo && !scenario.fusion.needs_times();
  scenario.synchronise =
      any_time ? one_of<Synchronise>({Synchronise::Usual, Synchronise::Every, Synchronise::Last})
               : Synchronise::Last;
}

}  // namespace gradcast::scenarios
