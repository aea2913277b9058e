#include "sim/plan/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "sim/plan/parameter_owners.hpp"
#include "sim/plan/recomputation.hpp"
#include "sim/plan/shard_groups.hpp"
#include "sim/plan/shard_units.hpp"

namespace gradcast {
namespace {

/// Whole sizes of the model.
struct Sizes {
  Bytes parameters{};
  Bytes gradients{};
  Bytes state{};
  std::int64_t trained = 0;  // elements
};

Bytes state_of(const Scenario& scenario, const GradientTensor& tensor) {
  if (tensor.frozen) return {};
  return Bytes{tensor.elements * state_bytes(scenario.optimizer, bytes_of(tensor.type))};
}

/// The state that a rank keeps: of its shard, or of the parameters that it owns, on the rank with
/// most.
Bytes kept_state(const Scenario& scenario, Bytes all, int shards) {
  if (shards == 1 || !scenario.broadcasts_parameters()) return shard_of(all, shards);
  Bytes most{};
  for (const std::vector<std::size_t>& own : parameter_owners(scenario.model, shards)) {
    Bytes its{};
    for (const std::size_t tensor : own)
      its = its + state_of(scenario, scenario.model->tensors[tensor]);
    most = std::max(most, its);
  }
  return most;
}

Sizes sizes_of(const Scenario& scenario) {
  Sizes all;
  for (const GradientTensor& tensor : scenario.model->tensors) {
    all.parameters = all.parameters + tensor.bytes();
    all.gradients = all.gradients + tensor.gradient_bytes();
    if (tensor.frozen) continue;
    all.trained += tensor.elements;
    all.state = all.state + state_of(scenario, tensor);
  }
  return all;
}

Bytes gradient_bytes(const Model& model, const ShardUnit& unit) {
  Bytes sum{};
  for (const std::size_t tensor : unit.tensors) sum = sum + model.tensors[tensor].gradient_bytes();
  return sum;
}

/// The units that are whole at the same time, where they take most.
Bytes whole_units(const Scenario& scenario) {
  const std::vector<ShardUnit> units = shard_units(scenario.model, scenario.sharding.unit_elements);
  const std::size_t together =
      scenario.sharding.reshard_after_forward ? 1 + scenario.prefetch() : units.size();
  Bytes parameters{};
  Bytes gradients{};
  for (std::size_t first = 0; first < units.size(); ++first) {
    Bytes sum{};
    for (std::size_t i = first; i < std::min(first + together, units.size()); ++i)
      sum = sum + units[i].parameters;
    parameters = std::max(parameters, sum);
    gradients = std::max(gradients, gradient_bytes(scenario.model, units[first]));
  }
  return parameters + gradients;
}

/// The buckets that gradients are copied into, where every rank has all gradients.
Bytes bucket_copies(const Scenario& scenario) {
  Bytes all{};
  for (const GradientTensor& tensor : scenario.model->tensors) all = all + tensor.sum_bytes();
  switch (scenario.fusion.kind) {
    case Fusion::Kind::Layer:
      return {};
    case Fusion::Kind::Size: {
      Bytes most{};
      for (const Bucket& bucket : make_buckets(scenario.model, scenario.fusion))
        most = std::max(most, bucket.bytes);
      return most;
    }
    case Fusion::Kind::Cycle:
      return std::min(all, scenario.fusion.size);
    case Fusion::Kind::Ddp:
      return scenario.gradient_copies == GradientCopies::View ? Bytes{} : all;
    case Fusion::Kind::Merged:
    case Fusion::Kind::MgWfbp:
    case Fusion::Kind::Omgs:
      return all;
  }
  throw std::logic_error("unknown fusion");
}

/// Bytes that a rank sends and gets from the others, in all buckets of a micro-step. An all-reduce
/// works in place: the sum takes the place of what was sent.
Bytes compressed_bytes(const Scenario& scenario, const Plan& plan) {
  Bytes sum{};
  for (const PlannedBucket& bucket : plan.buckets) {
    const bool gathers =
        bucket.collective->serves == Aggregation::AllGather && !bucket.collective->sparse;
    const int members = bucket.groups.all() ? plan.ranks() : bucket.groups.length;
    sum = sum + bucket.payload * (gathers ? 1 + members : 1);
  }
  return scenario.synchronises_every() ? Bytes{sum.count / scenario.accumulation} : sum;
}

}  // namespace

const std::vector<MemoryPart>& memory_parts() {
  static const std::vector<MemoryPart> kParts{
      {"parameters", "parameters that it keeps", &MemoryUse::parameters},
      {"gradients", "gradients that it keeps", &MemoryUse::gradients},
      {"optimizer", "the optimizer's state, with a master copy of parameters below fp32",
       &MemoryUse::optimizer},
      {"buckets", "buckets that gradients are copied into", &MemoryUse::buckets},
      {"unsharded", "units or buckets that are whole for a while", &MemoryUse::unsharded},
      {"residual", "residual of error feedback", &MemoryUse::residual},
      {"compressor", "what compressors send and receive", &MemoryUse::compressor},
      {"activations", "what forward keeps for backward", &MemoryUse::activations},
  };
  return kParts;
}

MemoryUse memory_of(const Scenario& scenario, const Plan& plan) {
  MemoryUse use;
  if (scenario.payload.count > 0) return use;
  const Sizes all = sizes_of(scenario);
  const int shards = scenario.shards();
  const Sharding kind = scenario.sharding.kind;
  const bool adds_up = scenario.accumulation > 1 && !scenario.synchronises_every();
  const bool shards_gradients = (kind == Sharding::Zero2 || kind == Sharding::Fsdp) && !adds_up;
  use.parameters = kind == Sharding::Fsdp ? shard_of(all.parameters, shards) : all.parameters;
  use.gradients = shards_gradients ? shard_of(all.gradients, shards) : all.gradients;
  use.optimizer = kept_state(scenario, all.state, shards);
  if (plan.ranks() > 1 && (kind == Sharding::None || kind == Sharding::Zero1))
    use.buckets = bucket_copies(scenario);
  if (shards > 1 && kind == Sharding::Fsdp) use.unsharded = whole_units(scenario);
  if (shards > 1 && kind == Sharding::Zero2 && shards_gradients)
    for (const PlannedBucket& bucket : plan.buckets) {
      const Bytes whole =
          bucket.before.collective == nullptr ? bucket.payload : bucket.before.load.payload;
      use.unsharded = std::max(use.unsharded, whole);
    }
  const std::optional<Bytes> sample = activations_of_sample(scenario.model, scenario.recompute);
  use.activations_known = sample.has_value();
  if (sample) use.activations = *sample * scenario.trace->batch;
  if (!scenario.compresses() || plan.ranks() == 1) return use;
  const int parts = scenario.all_reduces_gradients() ? 1 : shards;
  if (scenario.compressor->family != Family::Cast)
    use.residual = Bytes{(all.trained + parts - 1) / parts * 4};
  use.compressor = compressed_bytes(scenario, plan);
  return use;
}

Bytes usable_memory(Bytes gpu_memory) {
  return Bytes{
      static_cast<std::int64_t>(static_cast<double>(gpu_memory.count) * (1 - kReservedMemory))};
}

std::optional<int> largest_batch(const Scenario& scenario, const MemoryUse& use, Bytes room) {
  const std::optional<Bytes> sample = activations_of_sample(scenario.model, scenario.recompute);
  if (!sample || sample->count == 0) return std::nullopt;
  const std::int64_t left = room.count - (use.total().count - use.activations.count);
  const std::int64_t fits = std::max<std::int64_t>(0, left) / sample->count;
  constexpr std::int64_t kMost = 1'000'000;  // tiny networks: nobody fills a GPU with them
  return static_cast<int>(std::min(fits, kMost)) * scenario.accumulation;
}

}  // namespace gradcast
