// Reduce, then broadcast: whole buffers go up a binomial tree, and their sum comes down again.
//
// Alone on equal links, n a power of two: 2 log2(n) (a + S / B); else at most that with the
// logarithm rounded up.
#include "sim/network/collectives/trees.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> reduce_broadcast_phases(const RankLayout& layout, const CollectiveLoad& load) {
  return up_and_down_binomial(layout.ranks(), load.payload);
}

}  // namespace

extern constinit const Collective reduce_broadcast{
    .name = "reduce-broadcast",
    .summary = "whole buffers up a binomial tree, and their sum down again",
    .source = "Open MPI: ompi/mca/coll/base/coll_base_allreduce.c, nonoverlapping",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = reduce_broadcast_phases,
};

}  // namespace gradcast::collectives
