#include "sim/import/text/training_schedule.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

/// Groups of ranks that no data parallelism has, by the names of both trainers.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kOtherGroups = {
    {{"pp", "pipeline"},
     {"tp", "tensor"},
     {"cp", "context"},
     {"ep", "expert"},
     {"etp", "expert tensor"},
     {"dp_shard_mod_ep", "expert"},
     {"dp_shard_in_ep", "expert"},
     {"model_parallel_size", "model"},
     {"tensor_model_parallel_size", "tensor"},
     {"pipeline_model_parallel_size", "pipeline"},
     {"context_parallel_size", "context"},
     {"expert_model_parallel_size", "expert"},
     {"expert_tensor_parallel_size", "expert tensor"},
     {"ds_sequence_parallel_size", "sequence"},
     {"sp", "sequence"}}};

/// Shards of all ranks, or of a node's GPUs, by PyTorch's FSDP2.
void shard_fully(SentAs& sent, std::int64_t shards, std::int64_t replicas, int gpus_per_node) {
  sent.sharding = parse_sharding(replicas > 1 ? "hsdp" : "fsdp");
  if (replicas > 1 && shards != gpus_per_node)
    throw ValueError("shards over " + std::to_string(shards) + " ranks of nodes of " +
                     std::to_string(gpus_per_node) +
                     " GPUs: a measured row can say shards over all ranks or over a node's");
  sent.fusion = parse_fusion("layer");
  sent.stack = "fsdp2-nccl";
  sent.words = "parameters sharded over " + std::to_string(shards) + " ranks" +
               (replicas > 1 ? " of " + std::to_string(replicas) + " nodes" : "") +
               " by FSDP2 (sharding " + to_text(sent.sharding) + ")";
}

SentAs sent_by_torchtitan(const LoggedSetup& setup, std::int64_t ranks, int gpus_per_node) {
  SentAs sent;
  const std::int64_t replicas = std::max<std::int64_t>(1, setup.group("dp_replicate"));
  const bool replicated = setup.parallelised == "DDP" || setup.parallelised == "replicate" ||
                          replicas == ranks;  // shards of one rank are none
  if (replicated) {
    sent.fusion = parse_fusion("ddp");
    sent.stack = "ddp-nccl";
    sent.precision.parameter = NumberType::Fp32;
    sent.words = "the whole model on each rank, by DDP in its buckets";
    sent.assumed = "gradients in fp32: torchtitan's DDP";
    if (setup.parallelised == "replicate") sent.assumed += "; DDP's buckets stand for replicate's";
    return sent;
  }
  shard_fully(sent, ranks / replicas, replicas, gpus_per_node);
  sent.precision.parameter = NumberType::Bf16;
  sent.precision.sum = NumberType::Fp32;
  sent.assumed = "bf16 gathered, fp32 added up, gathered anew for backward: torchtitan's defaults";
  if (setup.float8) sent.assumed += "; float8 is taken as bf16";
  return sent;
}

/// The number that an argument has; `none` for "None", and where the log does not show it.
std::int64_t counted(const LoggedSetup& setup, const char* argument, std::int64_t none) {
  try {
    return parse_count(setup.argument(argument));
  } catch (const ValueError&) {
    return none;
  }
}

/// Megatron's DDP: all gradients after backward, or buckets of a number of elements.
/// `parameters`: of the model.
void bucket(SentAs& sent, const LoggedSetup& setup, std::int64_t ranks, std::int64_t parameters,
            int bytes) {
  sent.overlap = setup.argument("overlap_grad_reduce") == "True";
  sent.fusion = parse_fusion("merged");
  if (!sent.overlap) return;
  const std::int64_t own_choice = std::max<std::int64_t>(40'000'000, 1'000'000 * ranks);
  std::int64_t elements = counted(setup, "ddp_bucket_size", own_choice);
  const std::int64_t buckets = counted(setup, "ddp_num_buckets", 0);
  if (buckets > 0 && parameters > 0) elements = std::max<std::int64_t>(1, parameters / buckets);
  sent.fusion = {Fusion::Kind::Size, Bytes{elements * bytes}};
}

/// Ranks that share shards, where Megatron-LM divides data parallelism into instances. Throws
/// ValueError if a measured row cannot say it: those have shards of a node's ranks in FSDP alone.
std::int64_t ranks_of_instance(const LoggedSetup& setup, std::int64_t ranks, bool fully,
                               int gpus_per_node) {
  constexpr const char* kInstances = "num_distributed_optimizer_instances";
  const std::int64_t instances = counted(setup, kInstances, 1);
  if (instances <= 1) return ranks;
  const std::int64_t shards = ranks / instances;
  const std::string its = kInstances + (" " + std::to_string(instances)) + ": ";
  if (ranks % instances != 0)
    throw ValueError(its + std::to_string(ranks) + " ranks do not divide into so many");
  if (!fully)
    throw ValueError(its + "the optimizer's shards lie on " + std::to_string(shards) + " of " +
                     std::to_string(ranks) + " ranks; a measured row can say shards over all");
  if (shards != gpus_per_node)
    throw ValueError(its + "shards over " + std::to_string(shards) + " ranks of nodes of " +
                     std::to_string(gpus_per_node) +
                     " GPUs; a measured row can say shards over all ranks or over a node's");
  const std::string outer = setup.argument("outer_dp_sharding_strategy");
  if (!outer.empty() && outer != "no_shard")
    throw ValueError("outer_dp_sharding_strategy " + outer +
                     ": the optimizer is sharded over all " +
                     "ranks and parameters over a node's; a measured row can say one of them");
  return shards;
}

SentAs sent_by_megatron(const LoggedSetup& setup, std::int64_t ranks, int gpus_per_node,
                        std::int64_t elements) {
  const auto is = [&](const char* argument) { return setup.argument(argument) == "True"; };
  SentAs sent;
  const std::string type = setup.argument("params_dtype");
  if (type == "torch.bfloat16") sent.precision.parameter = NumberType::Bf16;
  if (type == "torch.float16" || type == "torch.half") sent.precision.parameter = NumberType::Fp16;
  if (type == "torch.float32") sent.precision.parameter = NumberType::Fp32;
  const bool fp32 = is("accumulate_allreduce_grads_in_fp32") || type == "torch.float32";
  if (fp32) sent.precision.gradient = NumberType::Fp32;
  const bool own_fsdp = is("use_megatron_fsdp") || is("use_custom_fsdp");
  const std::string shards = own_fsdp ? setup.argument("data_parallel_sharding_strategy") : "";
  const std::string stage = is("deepspeed") ? setup.argument("zero_stage") : "";
  if (is("use_torch_fsdp2") || shards == "optim_grads_params" || stage == "3") {
    const std::int64_t shards =
        stage == "3" ? ranks : ranks_of_instance(setup, ranks, own_fsdp, gpus_per_node);
    shard_fully(sent, shards, ranks / shards, gpus_per_node);
    if (stage == "3") sent.stack = "deepspeed-zero3";
    if (stage == "3") sent.words = "parameters sharded by DeepSpeed's ZeRO-3 (sharding fsdp)";
    return sent;
  }
  if (is("deepspeed")) {
    sent.sharding = parse_sharding(stage == "1" ? "zero1" : stage == "2" ? "zero2" : "none");
    sent.fusion = parse_fusion("1000MB");
    sent.overlap = false;
    sent.stack = "deepspeed-zero";
    sent.words = "DeepSpeed, ZeRO stage " + (stage.empty() ? "0" : stage) + " (sharding " +
                 to_text(sent.sharding) + ")";
    sent.assumed = "DeepSpeed's defaults: buckets of 1000 MB after backward";
    return sent;
  }
  bucket(sent, setup, ranks, setup.parameters > 0 ? setup.parameters : elements, fp32 ? 4 : 2);
  const bool gradients = shards == "optim_grads";
  const bool optimizer = is("use_distributed_optimizer") || shards == "optim" || gradients;
  if (optimizer) ranks_of_instance(setup, ranks, false, gpus_per_node);
  sent.sharding = parse_sharding(gradients ? "zero2" : optimizer ? "zero1" : "none");
  // Among the stacks here it is the one that scatters gradients and gathers parameters.
  sent.stack = optimizer ? "fsdp2-nccl" : "ddp-nccl";
  sent.words =
      std::string(gradients   ? "optimizer and gradients sharded by Megatron-FSDP (sharding zero2)"
                  : optimizer ? "Megatron-LM's distributed optimizer (sharding zero1)"
                              : "the whole model on each rank, by Megatron-LM's DDP") +
      ", gradients " + (sent.overlap ? "in buckets of " + to_text(sent.fusion) : "in one") +
      (sent.overlap ? " during backward" : " after backward");
  if (setup.arguments.empty()) sent.assumed = "no arguments in the log: Megatron-LM's defaults";
  if (is("overlap_param_gather")) sent.assumed = "gathers of parameters are not hidden by forward";
  return sent;
}

}  // namespace

std::string other_parallelism(const LoggedSetup& setup) {
  for (const auto& [name, what] : kOtherGroups)
    if (const std::int64_t size = setup.group(name); size > 1)
      return std::string(what) + " parallelism over " + std::to_string(size) + " ranks (" +
             std::string(name) + ")";
  return "";
}

SentAs sent_as(Trainer trainer, const LoggedSetup& setup, std::int64_t ranks, int gpus_per_node,
               std::int64_t elements) {
  return trainer == Trainer::Torchtitan ? sent_by_torchtitan(setup, ranks, gpus_per_node)
                                        : sent_by_megatron(setup, ranks, gpus_per_node, elements);
}

}  // namespace gradcast
