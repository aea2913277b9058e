// Everything that decides an iteration's time, in one value.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/compressor.hpp"
#include "sim/base/shared.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/cost_table.hpp"
#include "sim/inputs/fusion.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/inputs/model.hpp"
#include "sim/inputs/sharding.hpp"
#include "sim/inputs/world.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/library_rule.hpp"
#include "sim/network/nccl_rule.hpp"

namespace gradcast {

/// Order in which buckets that are ready are sent, and the steps that wait for them.
enum class Queue {
  Fifo,  // as backward fills them; the update waits for all (PyTorch DDP, Horovod)
  /// The bucket nearest to the model's input first, agreed on by all ranks; the next forward begins
  /// layer by layer as updates are done (P3, ByteScheduler). A bucket on its way is not
  /// interrupted.
  Priority,
};

/// "fifo" or "priority". Throws ValueError.
Queue parse_queue(std::string_view text);
std::string to_text(Queue queue);

/// The stream on which compressors run.
enum class EncodeStream { Compute, Side };

/// "compute" or "side". Throws ValueError.
EncodeStream parse_encode_stream(std::string_view text);
std::string to_text(EncodeStream stream);

/// Ways in which PyTorch's DDP brings gradients into its buckets, and their means back.
enum class GradientCopies {
  Each,     // a kernel into the bucket and one out of it, for every tensor
  View,     // gradient_as_bucket_view: the means stay in the bucket, and nothing is copied back
  Batched,  // batched_grad_copy: two kernels for every bucket
};

/// "each", "view" or "batched". Throws ValueError.
GradientCopies parse_gradient_copies(std::string_view text);
std::string to_text(GradientCopies copies);

/// Bytes of a selected element on its way: an fp32 value and an int32 index, or the value alone.
inline constexpr int kBytesOfPair = 8;
inline constexpr int kBytesOfIndex = 4;

/// Values of a run that a question has as its scenario does.
struct RunChoices {
  /// Micro-steps of an iteration: forward and backward each, whose gradients add up.
  int accumulation = 1;
  Synchronise synchronise = Synchronise::Usual;
  ShardingChoice sharding;
  Recompute recompute = Recompute::None;
  /// The trace was taken with the framework at work, such as DDP on one GPU: it has the time that
  /// the framework spends on gradient tensors and FSDP's copies. Neither a cluster's
  /// per_tensor_overhead nor its shard_copy_passes is added.
  bool framework_in_compute = false;
  GradientCopies gradient_copies = GradientCopies::Each;
  /// The cluster's compute_speed makes up for the trace of another GPU, by memory and arithmetic.
  bool speed_derived = false;

  std::string implementation;  // of the compressor; "" leaves the choice to the cost table
  double density = 0.001;      // of sparsifiers: k = density x elements
  /// Sparse compressors: elements that really travel, as a share of k. nullopt: the number in the
  /// cost table, near k. The compressor is asked for k all the same.
  std::optional<double> sent_share;
  SelectionScope selection = SelectionScope::Merged;
  /// True: costs are answered far beyond the cost table too.
  bool extrapolate = false;
  /// False: what the compressor would send is sent, but encode and decode take no time. That is how
  /// fast a compressor could be at best.
  bool compressing = true;
  /// Spread of the ranks' numbers of selected elements: standard deviation over mean, drawn by this
  /// seed.
  double count_spread = 0;
  std::uint64_t seed = 1;

  Fusion fusion;
  bool overlap = false;  // communication with backward
  /// Without overlap: whether a bucket may be on its way while others are encoded and decoded. If
  /// not, encodes, collectives and decodes follow one another.
  bool pipeline = false;
  Queue queue = Queue::Fifo;
  EncodeStream encode_stream = EncodeStream::Compute;
  double encode_slowdown = 0;  // on the side stream: how much longer backward takes meanwhile

  friend bool operator==(const RunChoices&, const RunChoices&) = default;
};

struct Stack;
struct StackTerm;

/// A term of a stack in a scenario.
struct TermUse {
  const StackTerm* term = nullptr;
  double physics = 0;   // the number without the stack
  std::string outside;  // in which numbers the run lies outside of what was seen; "": inside
};

struct Scenario : RunChoices {
  Shared<Model> model;
  /// Trace of the batch that is run, or of one micro-step if there are several.
  Shared<IterationTrace> trace;
  Optimizer optimizer = Optimizer::Momentum;  // the trace's update is its step
  /// ZeRO-1 and ZeRO-2: all ranks get the whole sums, as DeepSpeed does it, and not their shards.
  bool shards_all_reduced = false;
  /// ZeRO-1: each parameter is updated whole by one rank, which broadcasts it, as PyTorch's
  /// ZeroRedundancyOptimizer does after DDP's all-reduces. Else ranks gather each other's shards.
  bool owners_broadcast = false;
  /// Rank 0 broadcasts the model's buffers before forward, as PyTorch's DDP does by itself.
  bool broadcast_buffers = false;
  int network_streams = 1;  // collectives that may be on their way at the same time
  /// Bandwidth of the GPU's memory, for copies of FSDP and DDP; 0: not known, and their bytes take
  /// no time.
  BytesPerSecond gpu_memory{};
  /// One GPU's iteration takes at least this: its arithmetic at the most that any GPU reaches of
  /// its data sheet. 0: not known, or somebody said what it takes.
  Seconds least_compute{};
  /// The GPU's work over what its host takes to launch it, where that is longer and the trace has
  /// been stretched to it; else 1.
  double work_of_launching = 1;
  /// The times are a V100's in fp32, of 2019, and nobody said that the run computes so.
  bool perhaps_in_fp32 = false;
  Shared<CostTable> costs;
  Cluster cluster;
  const Compressor* compressor = nullptr;
  /// nullptr: NCCL's choice for the bucket where `nccl` is a version, `library`'s where there is
  /// one, else the fastest of those that NCCL has.
  const Collective* collective = nullptr;
  std::optional<NcclVersion> nccl{};
  const LibraryRule* library = nullptr;
  double parameter = 0;   // the compressor's number (levels, rank, ...), where it has one
  std::string mode;       // of the compressor; "" leaves the choice to the cost table
  CodecCorrection codec;  // of the compressor's costs
  /// Bytes on the wire per element. Sparsifiers: of a selected element. Casts and quantisers: of a
  /// code; 0 packs codes to the bit. Low rank: 0.
  int wire_bytes_per_element = kBytesOfPair;
  /// 2 sends values and indices, or scales and codes, in a collective each.
  int wire_messages = 1;
  /// Bytes of a collective microbenchmark: no model, nothing but one collective.
  Bytes payload{};
  Outcome outcome = Outcome::AllReduced;  // of it, where a library chooses
  std::vector<double> rank_speeds;        // besides the cluster's; empty: 1
  World world;
  /// Costs of the software beside the hardware; nullptr: physics alone. `apply_stack` keeps here
  /// what it did.
  std::shared_ptr<const Stack> stack;
  std::vector<TermUse> stack_uses;
  /// A factor on all of an iteration but one GPU's compute: the stack's, where it was learned here.
  double model_factor = 1;
  double kind_factor = 1;  // on all of it: what runs of its kind took there over the rest of it
  /// Terms by name whose value was asked for, or stands in the cluster's file: no stack changes
  /// them.
  std::vector<std::string> stated;
  /// Stacks that were measured, as one: where there is no stack it says how wide the interval is.
  /// Those that send by the library that was asked for, or by NCCL as most do; and those that send
  /// by MPI through the host, where no library was asked for.
  std::shared_ptr<const Stack> population;
  std::shared_ptr<const Stack> population_by_mpi;

  /// True if the times are of fp32, carried over to a GPU whose networks run in other
  /// types.
  bool carried_from_fp32() const {
    return speed_derived && trace->in_fp32() && gpu_generation_of(cluster) != GpuGeneration::Volta;
  }

  /// Images a GPU, and what one GPU alone takes: of the whole iteration.
  int batch() const { return trace->batch * accumulation; }
  Seconds compute() const { return trace->iteration_alone(1, accumulation); }

  /// Ranks that share a copy of what is sharded, and copies.
  int shards() const { return shards_of(sharding, cluster); }
  int replicas() const { return cluster.ranks() / shards(); }
  bool broadcasts_parameters() const {
    return owners_broadcast && sharding.kind == Sharding::Zero1;
  }
  /// Whether every rank gets whole sums of gradients.
  bool all_reduces_gradients() const {
    return sharding.kind != Sharding::Fsdp && (shards_all_reduced || broadcasts_parameters());
  }
  /// Units that FSDP gathers ahead of the one that is computed.
  std::size_t prefetch() const {
    return static_cast<std::size_t>(sharding.prefetch.value_or(overlap ? 1 : 0));
  }
  /// Whether gradients are sent in every micro-step.
  bool synchronises_every() const;

  /// Something is encoded and decoded, which takes time.
  bool compresses() const { return compressor->family != Family::Dense; }
  bool sparse() const { return compressor->family == Family::Sparsifier; }
  /// PowerSGD, which sends factors of matrices.
  bool low_rank() const { return compressor->low_rank != nullptr; }

  /// Collective by which encodings travel.
  Aggregation aggregation() const {
    return collective != nullptr ? collective->serves : compressor->aggregation;
  }
  /// True if all ranks select the same elements, so that an all-reduce adds up their values and no
  /// index travels.
  bool sends_values_only() const { return sparse() && aggregation() == Aggregation::AllReduce; }
  /// True if all ranks take the largest of their scales, so that an all-reduce adds up their
  /// levels.
  bool shares_scales() const {
    return compressor->levels() != nullptr && aggregation() == Aggregation::AllReduce;
  }
};

/// Choice of cost rows for the scenario's compressor.
CostChoice cost_choice(const Scenario& scenario);

/// The time of an iteration if every GPU worked alone and the images were shared out by the GPUs'
/// speeds. With equal GPUs it is the iteration of one GPU alone. Divided by the iteration it is the
/// scaling efficiency.
Seconds alone(const Scenario& scenario);

/// The same run without compression: what a speedup is measured against.
Scenario dense_twin(Scenario scenario);

}  // namespace gradcast
