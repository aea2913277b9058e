#include "sim/network/gloo_broadcast.hpp"

#include <bit>

namespace gradcast {
namespace {

/// Ranks are counted from the root on. A rank's parent lacks its highest bit, so that ranks of as
/// many bits receive in the same phase.
std::vector<Phase> gloo_tree_phases(const RankLayout& layout, const CollectiveLoad& load) {
  const int ranks = layout.ranks();
  if (ranks == 1) return {};
  const auto from_root = [&](int rank) { return (rank + load.root) % ranks; };
  std::vector<Phase> phases;
  for (int distance = 1; distance < ranks; distance *= 2)
    for (int parent = 0; parent < distance && parent + distance < ranks; ++parent) {
      const auto depth = static_cast<std::size_t>(std::popcount(static_cast<unsigned>(parent)));
      if (depth == phases.size()) phases.emplace_back();
      phases[depth].messages.push_back(
          {from_root(parent), from_root(parent + distance), load.payload});
    }
  for (Phase& phase : phases) phase.rendezvous = true;
  return phases;
}

}  // namespace

extern constinit const Collective gloo_broadcast{
    .name = "binomial-broadcast",
    .summary = "one rank's whole buffer down a binomial tree",
    .source = "facebookincubator/gloo@5898507 gloo/broadcast.cc",
    .outcome = Outcome::Broadcast,
    .serves = Aggregation::AllReduce,
    .phases = gloo_tree_phases,
};

}  // namespace gradcast
