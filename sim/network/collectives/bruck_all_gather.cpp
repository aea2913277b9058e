// Bruck's all-gather: after t rounds rank i has the contributions of i, i + 1, ..., i + 2^t - 1,
// and sends them, or as many as are missing, to rank i - 2^t. Any number of ranks.
//
// Alone on equal links, with contributions of m bytes: ceil(log2 n) a + (n-1) m / B.
#include <algorithm>

#include "sim/network/collective.hpp"

namespace gradcast::collectives {
namespace {

std::vector<Phase> bruck_all_gather_phases(const RankLayout& layout, const CollectiveLoad& load) {
  const int n = layout.ranks();
  std::vector<Bytes> before(2 * static_cast<std::size_t>(n) + 1);  // contributions, twice around
  for (std::size_t i = 1; i < before.size(); ++i)
    before[i] = before[i - 1] + load.contribution(static_cast<int>(i - 1) % n);
  const auto contributions = [&](int first, int count) {
    return Bytes{before[static_cast<std::size_t>(first + count)].count -
                 before[static_cast<std::size_t>(first)].count};
  };

  std::vector<Phase> phases;
  for (int distance = 1; distance < n; distance *= 2) {
    const int count = std::min(distance, n - distance);
    Phase phase{.rotational = load.contributions.empty() && layout.even()};
    phase.messages.reserve(static_cast<std::size_t>(n));
    for (int rank = 0; rank < n; ++rank)
      phase.messages.push_back({rank, (rank - distance + n) % n, contributions(rank, count)});
    phases.push_back(std::move(phase));
  }
  return phases;
}

}  // namespace

extern constinit const Collective bruck_all_gather{
    .name = "bruck-all-gather",
    .summary = "all that is there sent to distance 1, 2, 4, ...",
    .source = "Bruck et al., IEEE Trans. Parallel Distrib. Syst. 8(11), 1997",
    .outcome = Outcome::AllGathered,
    .serves = Aggregation::AllGather,
    .phases = bruck_all_gather_phases,
};

}  // namespace gradcast::collectives
