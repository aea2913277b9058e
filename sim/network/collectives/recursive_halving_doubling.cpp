// Recursive halving and doubling (Rabenseifner): reduce-scatter in which partners at distance 1, 2,
// 4, ... exchange halves of what they still reduce, then the same exchanges backwards, with sums. A
// number of ranks that is no power of two is folded into one, as in MPICH.
//
// Alone on equal links: 2 log2(n) a + 2 (n-1)/n S / B, and 2 (a + S / B) more where n is no power
// of two, which then stands for the power of two below.
#include "sim/network/collectives/exchanges.hpp"

namespace gradcast::collectives {
namespace {

/// The chunks, out of `participants`, that participant i keeps after halves were exchanged at all
/// distances up to this one. Bit 0 of i says which half, bit 1 which half of that, and so on.
Bytes kept(Bytes whole, int i, int distance, int participants) {
  int first = 0;
  int length = participants;
  for (int bit = 1; bit <= distance; bit *= 2) {
    length /= 2;
    if (i & bit) first += length;
  }
  return chunks(whole, first, first + length, participants);
}

std::vector<Phase> recursive_halving_doubling_phases(const RankLayout& layout,
                                                     const CollectiveLoad& load) {
  Exchanges exchanges(layout.ranks());
  const int n = exchanges.participants();
  const auto all = [&](int) { return load.payload; };
  exchanges.fold_in(Exchanges::Received::Added, all);
  for (int distance = 1; distance < n; distance *= 2)
    exchanges.exchange(distance, Exchanges::Received::Added,
                       [&](int i) { return kept(load.payload, i ^ distance, distance, n); });
  for (int distance = n / 2; distance >= 1; distance /= 2)
    exchanges.exchange(distance, Exchanges::Received::Kept,
                       [&](int i) { return kept(load.payload, i, distance, n); });
  exchanges.fold_out(all);
  return exchanges.take();
}

}  // namespace

extern constinit const Collective recursive_halving_doubling{
    .name = "recursive-halving-doubling",
    .summary = "halves exchanged at distance 1, 2, 4, ..., then backwards",
    .source = "Rabenseifner, ICCS 2004; Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005; MPICH",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = recursive_halving_doubling_phases,
};

}  // namespace gradcast::collectives
