// Sparse all-reduce (SparCML's SSAR_Recursive_double with its switch to dense): partners at
// distance 1, 2, 4, ... exchange the pairs of index and value that they have, and merge them.
//
// The overlap of selections is not known before, so ranks are taken to select independently and
// uniformly. If j ranks select k of d elements each, they hold together, on average,
//   d (1 - (1 - k/d)^j),
// so a message after t exchanges has that many pairs with j = 2^t (and folded ranks beside). If
// these take as much as the 4 d bytes of the dense tensor, that is sent instead. Real gradients
// overlap more: this is an upper estimate.
//
// Alone on equal links, n a power of two and w bytes a pair: the sum over t = 0 .. log2(n) - 1 of
// a + min(w d (1 - (1 - k/d)^(2^t)), 4 d) / B.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/network/collectives/exchanges.hpp"

namespace gradcast::collectives {
namespace {

/// Bytes of a set that an element is absent from with this probability.
Bytes set_bytes(double absent, const CollectiveLoad& load) {
  const double expected = static_cast<double>(load.elements) * (1 - absent);
  return std::min(Bytes{std::llround(expected) * load.bytes_per_element}, Bytes{4 * load.elements});
}

std::vector<Phase> sparse_all_reduce_phases(const RankLayout& layout, const CollectiveLoad& load) {
  if (load.elements <= 0) throw std::invalid_argument("sparse-all-reduce needs elements");
  const auto absent_on = [&](int rank) {
    const double selected =
        static_cast<double>(load.contribution(rank).count) / load.bytes_per_element;
    return std::max(0.0, 1 - selected / static_cast<double>(load.elements));
  };
  Exchanges exchanges(layout.ranks());
  const int n = exchanges.participants();
  exchanges.fold_in(Exchanges::Received::Added,
                    [&](int i) { return set_bytes(absent_on(exchanges.folded_into(i)), load); });

  std::vector<double> absent(static_cast<std::size_t>(n));  // by participant
  const auto absent_at = [&](int i) -> double& { return absent[static_cast<std::size_t>(i)]; };
  const auto bytes_at = [&](int i) { return set_bytes(absent_at(i), load); };
  for (int i = 0; i < n; ++i) {
    absent_at(i) = absent_on(exchanges.rank_of(i));
    if (i < exchanges.folded()) absent_at(i) *= absent_on(exchanges.folded_into(i));
  }
  for (int distance = 1; distance < n; distance *= 2) {
    exchanges.exchange(distance, Exchanges::Received::Added, bytes_at);
    for (int i = 0; i < n; ++i)
      if ((i & distance) == 0) absent_at(i) = absent_at(i + distance) *= absent_at(i);
  }
  exchanges.fold_out(bytes_at);
  return exchanges.take();
}

}  // namespace

extern constinit const Collective sparse_all_reduce{
    .name = "sparse-all-reduce",
    .summary = "selected elements merged at distance 1, 2, 4, ..., dense where that is smaller",
    .source = "SparCML, Renggli et al., SC 2019",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllGather,
    .sparse = true,
    .phases = sparse_all_reduce_phases,
};

}  // namespace gradcast::collectives
