// gTop-k: selections go up a binomial tree, two are merged and cut to the k largest again at each
// of its ceil(log2 n) levels, and the last k come down the same tree. Every message has k pairs.
//
// Alone on equal links, with m bytes of pairs and n a power of two: 2 log2(n) (a + m / B); else at
// most that with the logarithm rounded up.
#include "sim/network/collectives/trees.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> gtopk_phases(const RankLayout& layout, const CollectiveLoad& load) {
  // Upwards there is a barrier before every level in the authors' program. Downwards it is a
  // broadcast of MPI's.
  return up_and_down_binomial(layout.ranks(), load.payload);
}

}  // namespace

extern constinit const Collective gtopk{
    .name = "gtopk",
    .summary = "k elements up a tree that keeps the k largest of two, and down again",
    .source = "gTop-k, Shi et al., ICDCS 2019; hclhkbu/gtopkssgd",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllGather,
    .sparse = true,
    .needs_exact_count = true,
    .phases = gtopk_phases,
};

}  // namespace gradcast::collectives
