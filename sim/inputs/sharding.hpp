// Placement of a model: all of it on every rank, or shards of it (ZeRO, FSDP), and the ranks that
// share a copy.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/inputs/cluster.hpp"
#include "sim/inputs/model.hpp"

namespace gradcast {

/// Kind of state that is kept in shards. S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward
/// Training Trillion Parameter Models", SC 2020, stages 1 to 3; Y. Zhao et al., "PyTorch FSDP",
/// VLDB 2023.
enum class Sharding {
  None,   // nothing: data parallelism as DDP has it
  Zero1,  // the optimizer's state
  Zero2,  // and gradients
  Fsdp,   // and parameters (ZeRO-3), unit by unit
};

/// A sharding with the ranks that share a copy, as it was asked for. `Hsdp` is FSDP whose shards
/// are those of a node and whose replicas are the nodes.
struct ShardingChoice {
  Sharding kind = Sharding::None;
  bool hybrid = false;  // hsdp: a node's GPUs share a copy where no group is given
  int group = 0;        // ranks that share a copy; 0: all, or a node's
  /// FSDP: fewest parameters of a unit. 0: the units that the model names.
  std::int64_t unit_elements = 0;
  /// FSDP: units gathered ahead of the one that is computed. Not given: one if communication
  /// overlaps, else none.
  std::optional<int> prefetch{};
  /// FSDP: true if a unit's parameters are dropped after its forward.
  bool reshard_after_forward = true;

  friend bool operator==(const ShardingChoice&, const ShardingChoice&) = default;
};

/// "none", "zero1", "zero2", "fsdp" or "hsdp". Throws ValueError.
ShardingChoice parse_sharding(std::string_view text);
std::string to_text(const ShardingChoice& sharding);

/// Parameters of a unit: "20M", "1B", "300000". Throws ValueError.
std::int64_t parse_unit_size(std::string_view text);

/// Units to gather ahead: 0 to 64. Throws ValueError.
int parse_prefetch(std::string_view text);

/// Number of ranks that share a copy; 1 without sharding. Throws ValueError if the group does not
/// divide the ranks, or if a node's GPUs are meant and nodes differ.
int shards_of(const ShardingChoice& sharding, const Cluster& cluster);

/// Micro-steps after which gradients are sent.
enum class Synchronise {
  Usual,  // every micro-step where gradients are sharded (ZeRO-2, FSDP), else the last
  Every,
  Last,
};

/// "usual", "every" or "last". Throws ValueError.
Synchronise parse_synchronise(std::string_view text);
std::string to_text(Synchronise synchronise);

/// The optimizer, which decides what state is kept of each element.
enum class Optimizer { Sgd, Momentum, Adam };

/// "sgd", "momentum" or "adam". Throws ValueError.
Optimizer parse_optimizer(std::string_view text);
std::string to_text(Optimizer optimizer);

/// Activations that backward computes again, instead of being kept (activation checkpointing).
enum class Recompute {
  None,
  Full,  // each unit but the last, from its input, as PyTorch's `checkpoint_wrapper` of each unit
};

/// "none" or "full". Throws ValueError.
Recompute parse_recompute(std::string_view text);
std::string to_text(Recompute recompute);

/// The types of a run, where they are not the model's.
struct Precision {
  std::optional<NumberType> parameter{};  // gathered in it; its gradients have it too
  std::optional<NumberType> gradient{};
  std::optional<NumberType> sum{};         // in which gradients are added up, and so sent
  std::optional<NumberType> activation{};  // not given: that of the parameters

  friend bool operator==(const Precision&, const Precision&) = default;
};

/// Gives a model's tensors the types of a run.
void set_types(Model& model, const Precision& precision);

/// Bytes of state beside parameter and gradient: fp32 moments, and a master copy in fp32 of
/// parameters that have fewer bytes (ZeRO, section 3.1: 12 for Adam in mixed precision).
int state_bytes(Optimizer optimizer, int bytes_of_parameter);

/// Bytes of memory traffic of an update, a parameter. In one kernel (`fused`) it reads the
/// parameter, the gradient and fp32 moments, and writes all but the gradient; in bf16 with a
/// parameter in fp32 beside it, that is as much. Else each of PyTorch's operators reads and writes
/// fp32 (torch/optim of 2.13): one for SGD; four for momentum with weight decay; eight for AdamW.
int update_bytes(Optimizer optimizer, bool fused);

}  // namespace gradcast
