// Ring all-gather: in n - 1 rounds every rank passes on what it received last, its own contribution
// first.
//
// Alone on equal links, with contributions of m bytes: (n-1) (a + m / B).
#include "sim/network/collectives/rings.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> ring_all_gather_phases(const RankLayout& layout, const CollectiveLoad& load) {
  const Rings ring = ring_of_all(layout);
  return turned(layout, ring, contribution_turns(ring, load));
}

}  // namespace

extern constinit const Collective ring_all_gather{
    .name = "ring-all-gather",
    .summary = "every rank's contribution passed around a ring",
    .source =
        "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005; "
        "NCCL's Ring",
    .outcome = Outcome::AllGathered,
    .serves = Aggregation::AllGather,
    .phases = ring_all_gather_phases,
};

}  // namespace gradcast::collectives
