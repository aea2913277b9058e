#include "sim/options/training_flags.hpp"

#include "sim/base/units.hpp"

namespace gradcast {

void add_training_flags(Flags& flags) {
  flags.add("synchronise",
            "of several micro-steps: every or last, whose gradients are sent; usual: every where "
            "gradients are sharded (zero2, fsdp, hsdp), else last",
            "usual");
  flags.add("sharding",
            "what a rank keeps a shard of: none, zero1 (the optimizer's state), zero2 (gradients "
            "too), fsdp (parameters too), hsdp (as fsdp inside each node, with nodes as replicas)",
            "none");
  flags.add("shard-group",
            "how many neighbouring ranks share a copy of what is sharded (default: all; with hsdp "
            "those of a node)");
  flags.add("unit-size",
            "of fsdp and hsdp: parameters of a unit, at least, like 20M (default: the units "
            "that the model names)");
  flags.add("prefetch",
            "of fsdp and hsdp: how many units are gathered ahead of the one that is computed "
            "(default: 1 with overlap, else 0)");
  flags.add("reshard-after-forward",
            "of fsdp and hsdp: whether a unit's parameters are dropped after its forward, and "
            "gathered again for backward",
            "yes");
  flags.add("parameter-type",
            "type of the parameters, and of their gradients: fp32, bf16 or fp16 (default: the "
            "model's)");
  flags.add("gradient-type", "type of the gradients (default: that of the parameters)");
  flags.add("sum-type",
            "type in which gradients are added up, and so sent where they are not compressed "
            "(default: that of the gradients)");
  flags.add("optimizer", "sgd, momentum or adam: what it keeps counts for memory, not for time",
            "momentum");
}

void read_training(const Flags& flags, Request& request) {
  request.synchronise = flags.value("synchronise", parse_synchronise);
  request.sharding = flags.value("sharding", parse_sharding);
  if (flags.given("shard-group")) request.sharding.group = flags.value("shard-group", parse_count);
  if (flags.given("unit-size"))
    request.sharding.unit_elements = flags.value("unit-size", parse_unit_size);
  if (flags.given("prefetch")) request.sharding.prefetch = flags.value("prefetch", parse_prefetch);
  request.sharding.reshard_after_forward = flags.value("reshard-after-forward", parse_yes_no);
  const auto type = [&](const char* flag, std::optional<NumberType>& asked) {
    if (flags.given(flag)) asked = flags.value(flag, parse_tensor_type);
  };
  type("parameter-type", request.precision.parameter);
  type("gradient-type", request.precision.gradient);
  type("sum-type", request.precision.sum);
  request.optimizer = flags.value("optimizer", parse_optimizer);
}

}  // namespace gradcast
