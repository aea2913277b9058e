// Planners that choose which gradient tensors to send together. They weigh the startup of a
// collective against waiting for more of backward. `fusion.hpp` has the merging that needs no
// times.
#pragma once
#include <functional>
#include <vector>

#include "sim/inputs/fusion.hpp"
#include "sim/inputs/iteration_trace.hpp"

namespace gradcast {

/// The time of a collective that a merging planner assumes: startup + bytes * per_byte.
struct PlannerNetwork {
  Seconds startup{0};
  Seconds per_byte{0};
};

/// MG-WFBP: S. Shi, X. Chu and B. Li, "MG-WFBP: Efficient Data Communication for Distributed
/// Synchronous SGD Algorithms", INFOCOM 2019, Algorithm 1. For dense gradients of fp32 whose
/// collectives run one at a time while backward goes on.
///
/// From the last tensor on, a bucket takes in the next tensor that backward reaches, if that is
/// ready before the bucket's collective could have started and spent its startup: waiting then
/// costs less than a second startup. A collective that waits for the network is always worth
/// filling, so that even without a startup tensors are merged, at no gain and no loss.
///
/// One pass is enough, because a merge only changes what comes later. Throws DataError if the trace
/// belongs to another model.
std::vector<Bucket> merge_mg_wfbp(const Model& model, const IterationTrace& trace,
                                  const PlannerNetwork& network);

/// Horovod's tensor fusion (horovod/common: RunLoopOnce in operations.cc, FuseResponses in
/// controller.cc). A background thread wakes up every `cycle` and takes all gradients that are
/// ready by then. It goes through them in their order, and a bucket takes in the next one as long
/// as it stays within `most` bytes; one that is larger goes alone. `ready`: by tensor, since
/// backward began.
///
/// The thread runs whatever backward does, so that its first wake-up may be anywhere. Here cycles
/// begin with backward, so that the first ends a whole `cycle` later. A cycle does not wait for the
/// collectives of the one before: with NCCL the thread only launches them.
std::vector<Bucket> merge_in_cycles(const Model& model, const std::vector<Seconds>& ready,
                                    Seconds cycle, Bytes most);

/// The end of the cycle that takes what is ready then, since backward began.
Seconds end_of_cycle(Seconds ready, Seconds cycle);

/// The times of a bucket in a sparse run.
struct BucketCost {
  Seconds encode{0};
  Seconds communicate{0};
  Seconds decode{0};
};

/// The merging that OMGS-SGD asks for (S. Shi, Q. Wang, X. Chu, B. Li, Y. Qin, R. Liu and X. Zhao,
/// "Communication-Efficient Distributed Deep Learning with Merged Gradient Sparsification on GPUs",
/// INFOCOM 2020), solved exactly where theirs is a greedy rule without decoding: of all partitions
/// of the tensors, in backward order, into buckets that follow one another, the one after which the
/// last decode ends first, and of equals the one with the fewest buckets. Ends within a billionth
/// of each other are equal, for sums differ by as much in the order they are made.
///
/// The iteration is that of `make_plan` with overlap. The compute stream runs backward, and the
/// encode of a bucket right after the backward of its last tensor; after all of these it decodes,
/// bucket by bucket, each after its collective. The network takes the buckets in the same order,
/// one at a time, each after its encode. So a decode overlaps with later collectives and never
/// delays an encode, which is what a plan does and what engines run: nothing is left out.
///
/// `cost` is asked once for each of the L (L + 1) / 2 possible buckets of L tensors; its times are
/// finite and not below zero, else std::logic_error. Throws DataError where the trace is of another
/// model.
std::vector<Bucket> merge_omgs(const Model& model, const IterationTrace& trace,
                               const std::function<BucketCost(const Bucket&)>& cost);

}  // namespace gradcast
