// All-gather by rail rings (see rail_ring_all_reduce.cpp): each ring passes its share of every
// contribution around. FSDP gathers parameters so.
//
// Alone, as there, with contributions of m bytes: (n-1) m / (r B) + A.
#include "sim/network/collectives/rings.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> rail_ring_all_gather_phases(const RankLayout& layout,
                                               const CollectiveLoad& load) {
  const Rings rings = rails(layout);
  return turned(layout, rings, contribution_turns(rings, load));
}

}  // namespace

extern constinit const Collective rail_ring_all_gather{
    .name = "rail-ring-all-gather",
    .summary = "every rank's contribution around rail rings",
    .source = "NCCL's Ring on nodes of several NICs: src/graph/search.cc, src/graph/connect.cc",
    .outcome = Outcome::AllGathered,
    .serves = Aggregation::AllGather,
    .phases = rail_ring_all_gather_phases,
};

}  // namespace gradcast::collectives
