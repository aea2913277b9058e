// Recursive doubling: partners at distance 1, 2, 4, ... exchange all that they have and add it. For
// small buffers, where latency is what counts.
//
// Alone on equal links: log2(n) (a + S / B), and 2 (a + S / B) more where n is no power of two,
// which then stands for the power of two below.
#include "sim/network/collectives/exchanges.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> recursive_doubling_all_reduce_phases(const RankLayout& layout,
                                                        const CollectiveLoad& load) {
  Exchanges exchanges(layout.ranks());
  const auto all = [&](int) { return load.payload; };
  exchanges.fold_in(Exchanges::Received::Added, all);
  for (int distance = 1; distance < exchanges.participants(); distance *= 2)
    exchanges.exchange(distance, Exchanges::Received::Added, all);
  exchanges.fold_out(all);
  return exchanges.take();
}

}  // namespace

extern constinit const Collective recursive_doubling_all_reduce{
    .name = "recursive-doubling-all-reduce",
    .summary = "whole buffers exchanged at distance 1, 2, 4, ...",
    .source = "Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005; MPICH",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = recursive_doubling_all_reduce_phases,
};

}  // namespace gradcast::collectives
