// Segmented ring all-reduce, Open MPI's for large buffers: every rank's block is reduce-scattered
// in segments of at most 1 MiB, n - 1 rounds for each, and all-gathered whole.
//
// Alone on equal links, a block S/n in m segments: (n-1) ((m + 1) a + 2 S/n / B).
#include <algorithm>
#include <utility>

#include "sim/network/collectives/rings.hpp"

namespace gradcast::collectives {
namespace {

constexpr std::int64_t kSegment = std::int64_t{1} << 20;

/// Segment s of each block goes around in rounds s (n-1) to (s+1) (n-1) - 1.
void append_segments(std::vector<Phase>& phases, const RankLayout& layout, const Rings& ring,
                     Bytes whole) {
  const int n = ring.length;
  const std::int64_t block = chunk(whole, 0, n).count;
  const int segments =
      static_cast<int>(std::max<std::int64_t>(1, (block + kSegment - 1) / kSegment));
  const auto segment_of = [=](int i, int segment) {
    return chunk(chunk(whole, i, n), segment, segments);
  };
  append_turns(phases, layout, ring,
               {.rounds = n - 1, .reducing_rounds = n - 1, .block = [=](int, int i, int) {
                  return segment_of(i, 0);  // the largest
                }});
  if (segments == 1) return;
  Phase& phase = phases.back();
  phase.rounds = phase.reducing_rounds = segments * (n - 1);
  if (whole.count % (std::int64_t{n} * segments) == 0) return;
  phase.size = [=](std::size_t message, int round) {
    const int i = (static_cast<int>(message) - round % (n - 1) + n) % n;
    return segment_of(i, round / (n - 1));
  };
  phase.sum = whole * (n - 1);
}

std::vector<Phase> segmented_ring_all_reduce_phases(const RankLayout& layout,
                                                    const CollectiveLoad& load) {
  std::vector<Phase> phases;
  const Rings ring = ring_of_all(layout);
  if (ring.length == 1) return phases;
  append_segments(phases, layout, ring, load.payload);
  append_turns(phases, layout, ring,
               gathering_turns(ring, [all = load.payload](int) { return all; }));
  return phases;
}

}  // namespace

extern constinit const Collective segmented_ring_all_reduce{
    .name = "segmented-ring-all-reduce",
    .summary = "a ring whose sums go around in segments of 1 MiB",
    .source = "Open MPI: ompi/mca/coll/base/coll_base_allreduce.c",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = segmented_ring_all_reduce_phases,
};

}  // namespace gradcast::collectives
