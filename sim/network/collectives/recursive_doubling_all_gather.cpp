// Recursive doubling all-gather: partners at distance 1, 2, 4, ... exchange all contributions that
// they have. A rank that is folded in gets at the end what is not its own.
//
// Alone on equal links, with contributions of m bytes and n a power of two:
// log2(n) a + (n-1) m / B.
#include "sim/network/collectives/exchanges.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> recursive_doubling_all_gather_phases(const RankLayout& layout,
                                                        const CollectiveLoad& load) {
  Exchanges exchanges(layout.ranks());
  const int n = exchanges.participants();
  const auto folded = [&](int i) { return load.contribution(exchanges.folded_into(i)); };
  exchanges.fold_in(Exchanges::Received::Kept, folded);

  std::vector<Bytes> held(static_cast<std::size_t>(n));  // by participant
  const auto held_by = [&](int i) -> Bytes& { return held[static_cast<std::size_t>(i)]; };
  for (int i = 0; i < n; ++i) {
    held_by(i) = load.contribution(exchanges.rank_of(i));
    if (i < exchanges.folded()) held_by(i) = held_by(i) + folded(i);
  }
  for (int distance = 1; distance < n; distance *= 2) {
    exchanges.exchange(distance, Exchanges::Received::Kept, held_by);
    for (int i = 0; i < n; ++i)
      if ((i & distance) == 0)
        held_by(i) = held_by(i + distance) = held_by(i) + held_by(i + distance);
  }
  exchanges.fold_out([&](int i) { return Bytes{held_by(i).count - folded(i).count}; });
  return exchanges.take();
}

}  // namespace

extern constinit const Collective recursive_doubling_all_gather{
    .name = "recursive-doubling-all-gather",
    .summary = "all that is there exchanged at distance 1, 2, 4, ...",
    .source = "Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005; MPICH",
    .outcome = Outcome::AllGathered,
    .serves = Aggregation::AllGather,
    .phases = recursive_doubling_all_gather_phases,
};

}  // namespace gradcast::collectives
