// One iteration as a dependency graph, the same for every rank: data that can be looked at, tested
// without SimGrid, and run by every engine.
#pragma once
#include <string>
#include <vector>

#include "sim/network/rank_groups.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {

enum class StepKind { Overhead, Forward, Backward, Encode, Wait, Collective, Decode, Update };

/// A rank has three, as a GPU has, and a clock. Steps of Compute run in the plan's order, one at a
/// time; of Side the first that is ready, one at a time; of Network in the plan's order or by
/// priority, as many at a time of each communicator as the plan allows; of Clock any number, all
/// that are ready.
enum class Stream { Compute, Side, Network, Clock };

struct PlanStep {
  StepKind kind = StepKind::Forward;
  std::string name;
  std::vector<std::size_t> after;  // earlier steps of the same rank that must be done
  /// Collective: time that its software takes before it begins, as part of it. Wait: the cycle at
  /// whose end it is over, however fast the rank computes.
  Seconds duration{0};
  const Collective* collective = nullptr;  // of collectives
  CollectiveLoad load{};
  RankGroups groups{};              // in which ranks run it
  Stream stream = Stream::Compute;  // collectives are on Network, whatever this says
  int priority = 0;                 // of collectives in a coordinated queue: highest first
  /// Communicator of a collective. Collectives of one go in the plan's order; those of another run
  /// beside them.
  int communicator = 0;
  /// Step of Compute: date of its launch by the host, since the iteration began. It begins no
  /// earlier.
  Seconds launch{0};
};

/// A collective that goes before or after a bucket's own, on what is not compressed.
struct DenseCollective {
  const Collective* collective = nullptr;  // nullptr: none
  CollectiveLoad load{};
  RankGroups groups{};
};

/// Tensors that travel together, with the work of compressing them.
struct PlannedBucket {
  std::size_t tensors = 0;
  std::int64_t elements = 0;  // of its tensors
  std::int64_t share = 0;     // of them, that a rank encodes and sends in its own collective
  std::int64_t selected = 0;  // of the share, that travel
  Bytes payload{};            // one rank's
  Bytes scales{};             // of the payload, that travel by themselves where two messages do
  CostEstimate cost;          // zero for dense
  /// The part that all ranks must agree on before they can encode the rest: an encoding, and
  /// collectives one after another ahead of the bucket's own. PowerSGD agrees on P, quantisers on
  /// the largest of the scales.
  Seconds first_encode{0};
  std::vector<DenseCollective> first{};
  const Collective* collective = nullptr;
  Protocol protocol{};       // that it runs in
  RankGroups groups{};       // that run it: all ranks, or replicas of a shard
  DenseCollective before{};  // encoding
  DenseCollective after{};   // decoding
};

struct Plan {
  std::vector<PlanStep> steps;
  std::vector<PlannedBucket> buckets;
  /// Speed of each rank, 1 as the trace says; its size is the number of ranks. Every rank computes
  /// as slowly as the slowest one is expected to, because all wait for that one.
  std::vector<double> rank_speeds;
  int network_streams = 1;  // collectives of a communicator that a rank may be in at a time
  /// The communicator whose collectives go one at a time all the same: that of broadcasts, since
  /// gloo_broadcast.hpp counts the second one that is under way.
  static constexpr int kOneAtATime = -1;
  /// The step with which cycles begin: waits end at multiples of theirs after its start.
  std::size_t clock = 0;
  /// A collective begins when all ranks are ready for it, by priority.
  bool coordinated = false;
  // Shares by which backward takes longer while the same rank encodes on the side, or is in a
  // collective.
  double encode_slowdown = 0;
  double communication_slowdown = 0;
  double computing_slowdown = 0;  // how much longer a collective takes while its rank computes
  /// A factor on all of the iteration that the steps make but `compute`, which is of one GPU alone.
  double model_factor = 1;
  Seconds compute{0};
  double kind_factor = 1;  // on the whole iteration

  int ranks() const { return static_cast<int>(rank_speeds.size()); }
  int streams_of(int communicator) const {
    return communicator == kOneAtATime ? 1 : network_streams;
  }
};

class KnownCosts;

/// Shortcuts for a caller that makes thousands of plans of one run, such as the search of a fit.
struct PlanShortcuts {
  /// Forward is one step, so is the backward of a bucket, and no step has a name. The sums of times
  /// are rounded in another order; nothing else changes. Plans with cycles stay as they are, where
  /// a rounding may decide which cycle takes a gradient.
  bool coarse = false;
  KnownCosts* costs = nullptr;  // what compressing took in earlier plans of the same run
};

/// Forward, backward (last layer first), encode, collective, decode, update. With overlap a bucket
/// is encoded and sent as soon as backward has filled it; without, after the whole of backward, and
/// then all buckets are encoded, then sent one at a time, then decoded: nothing hides anything.
/// With fusion in cycles a bucket waits for the end of its cycle before it is sent.
/// With a priority queue the iteration is cut elsewhere: it begins with backward and ends with the
/// next forward, whose layers wait for their own update only, with overlap or without. All
/// micro-steps but the last only compute, unless every one synchronises: then each sends, and the
/// next begins when it has received. With ZeRO gradients are reduce-scattered among the ranks that
/// share a copy, and parameters gathered after the update; `fsdp.hpp` plans FSDP. On the compute
/// stream decodes run after backward and all encodes, on the side stream as soon as they can. One
/// rank alone neither compresses nor communicates. Throws DataError if the trace is of another
/// model or the cost table lacks the compressor, ValueError if the collective cannot serve the
/// cluster.
Plan make_plan(const Scenario& scenario, const PlanShortcuts& shortcuts = {});

}  // namespace gradcast
