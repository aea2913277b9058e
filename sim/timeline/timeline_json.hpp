// Timelines as Chrome trace JSON, with the names of PyTorch's profiler, for Perfetto,
// chrome://tracing and tools that read such traces.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/network/collective.hpp"
#include "sim/timeline/timeline.hpp"

namespace gradcast {

/// The part of the file besides the events.
struct TimelineHead {
  Json other;              // otherData
  std::vector<int> ranks;  // to be written, rising
  bool gzip = false;
};

/// A process is a rank, its threads are the rank's lanes; one more process, numbered as many as
/// there are ranks, has a counter for each link, in Gbps. Events stand by process, thread, time,
/// the longer first. Times are microseconds with three decimals, from whole nanoseconds.
///
/// Every slice has `cat` "kernel" and args.phase (overhead, forward, backward, encode, collective,
/// decode, update) and args.stream. A wait for the end of a cycle has `cat` "gpu_user_annotation",
/// for the GPU does nothing, and the phase "wait". A collective's are named as NCCL names its
/// kernels, so that tools tell them from others, and have args.step, bucket, and Kineto's
/// `Collective name`, `In msg nelems`, `Out msg nelems`, `Group size`, `dtype` (payload in words of
/// 4 bytes). Inside a collective there are slices without a phase, of `cat` "gpu_user_annotation":
/// args.part is "wait" until all ranks have come, then "active", and inside that "exposed" where
/// the rank computes nothing.
std::string timeline_to_json(const Timeline& timeline, const Plan& plan, const RankLayout& layout,
                             const TimelineHead& head);

/// A collective's name in the style of NCCL's kernels: "AllReduce_RING" for ring-all-reduce.
std::string kernel_name(const Collective& collective);

}  // namespace gradcast
