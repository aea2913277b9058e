// The collectives of each step, on one rank and beside those of the others.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/import/kineto/steps.hpp"

namespace gradcast::kineto {

/// One collective of a step on one rank.
struct CollectiveCall {
  Span span;
  Collective what;
  bool of_gradients = false;   // launched by the backward pass, in the data-parallel group
  bool data_parallel = false;  // the trace calls its group so
  Phase phase = Phase::Forward;
  Nanoseconds launched = 0;
  /// Sends gradients: a reduce-scatter of the backward pass, or in a step without one an
  /// all-reduce.
  bool sends = false;
};

struct StepCollectives {
  std::string step;
  std::vector<CollectiveCall> calls;  // by launch
};

/// Whether the description of a process group says that it is the data-parallel one:
/// "DATA_PARALLEL_GROUP", "mesh_dp".
bool names_data_parallel(std::string_view description);

/// Whether the trace names one, beside others that a hybrid has.
bool has_data_parallel_group(const Recording& recording);

/// Collectives of all steps, or of the used ones, in their order. Needs phases.
std::vector<StepCollectives> collectives_of_steps(const Recording& recording, const Steps& steps,
                                                  bool only_used);

/// Elements of the collectives that send a step's gradients, in order; empty where the trace does
/// not say, or has none.
std::vector<std::int64_t> buckets_of(const StepCollectives& step);

/// Whether it is a broadcast of the forward pass, as DDP's are of a model's buffers.
bool broadcasts_buffers(const CollectiveCall& call);

/// True if it tells which parameters ranks used, as DDP with find_unused_parameters=True does.
bool tells_used_parameters(const CollectiveCall& call);

/// Bytes that rank 0 so broadcasts in a step: those of floating-point numbers, and the others.
/// Medians over the steps.
struct BroadcastBytes {
  std::int64_t numbers = 0;
  std::int64_t counters = 0;
};
BroadcastBytes broadcast_in_forward(const std::vector<StepCollectives>& steps);

/// Collectives by kind, medians over the steps.
std::vector<ImportedCollective> summary_of(const std::vector<StepCollectives>& steps);

/// The first difference between the collectives of one step on two ranks, as a clause: their
/// number, a kind, or the elements of an all-reduce. "" if they are the same.
std::string difference(const StepCollectives& here, const StepCollectives& there);

/// Reason why no step has the same collectives on both ranks, as a clause. "" if one step has.
std::string mismatch(const std::vector<StepCollectives>& here,
                     const std::vector<StepCollectives>& there);

/// The collectives of a step on several ranks, brought together: the n-th of a kind on one rank is
/// the n-th of that kind on the others. Each rank's kernel begins when that rank comes, so that the
/// data can move only from the last start on.
struct SharedCall {
  CollectiveKind kind = CollectiveKind::Other;
  Nanoseconds shortest = 0;  // of the ranks' kernels
  Nanoseconds longest = 0;
  Nanoseconds transfer = 0;  // the last start to the first end
  Nanoseconds skew = 0;      // the first start to the last
};

/// Ranks whose collectives differ are not brought together: an empty list. A transfer that would be
/// negative comes of clocks that differ, and is left at 0.
std::vector<SharedCall> shared_calls(const std::vector<StepCollectives>& ranks);

/// A rank's clock is so far ahead of the first one's. A collective ends at the same time on all
/// ranks, so its ends on two ranks tell.
struct ClockOffset {
  Nanoseconds ahead = 0;   // median over the collectives
  Nanoseconds spread = 0;  // median distance from that median
};

/// The offset by all-reduces, else by all collectives: the same ones on both ranks, step by step.
/// None where no step has the same collectives on both.
std::optional<ClockOffset> clock_offset(const std::vector<StepCollectives>& first,
                                        const std::vector<StepCollectives>& rank);

/// Throws DataError with the reason if the collectives tell of anything but data parallelism:
/// all-to-all (experts, embedding tables), send and receive (pipelines), all-reduces within a part
/// of the ranks (tensor parallelism), gathering or scattering that is no fully sharded run
/// (`sharded`: it is one). If the trace names the data-parallel group, only that group's
/// collectives are looked at.
void refuse_hybrids(const Recording& recording, const std::vector<StepCollectives>& steps,
                    int world_size, bool sharded);

}  // namespace gradcast::kineto
