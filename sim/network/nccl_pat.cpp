// NCCL's PAT (parallel aggregated trees), for one GPU a node: each rank's part goes down a binomial
// tree of its own, the farthest ranks first, and parts that go the same way go together. A
// reduce-scatter is the reverse.
//
// Alone on equal links, with parts of m bytes: ceil(log2 n) a + (n-1) m / B.
#include <bit>

#include "sim/network/nccl.hpp"

namespace gradcast {
namespace {

/// Parts that rank r passes on to rank r + d. The rank has its own part and those of ranks that lie
/// a multiple of 2 d before it. It passes on each part whose tree of n ranks has rank r + d.
int parts_passed(int distance, int n) { return (n - distance + 2 * distance - 1) / (2 * distance); }

Bytes bytes_passed(const CollectiveLoad& load, int rank, int distance, int n) {
  const int parts = parts_passed(distance, n);
  if (load.contributions.empty()) return load.payload * parts;
  Bytes sum;
  for (int i = 0; i < parts; ++i)
    sum = sum + load.contribution((rank - 2 * distance * i % n + n) % n);
  return sum;
}

std::vector<Phase> gather_phases(const RankLayout& layout, const CollectiveLoad& load) {
  const int n = layout.ranks();
  std::vector<Phase> phases;
  for (int distance = static_cast<int>(std::bit_ceil(static_cast<unsigned>(n))) / 2; distance >= 1;
       distance /= 2) {
    Phase phase{.rotational = load.contributions.empty() && layout.even()};
    for (int rank = 0; rank < n; ++rank)
      phase.messages.push_back(
          {rank, (rank + distance) % n, bytes_passed(load, rank, distance, n)});
    phases.push_back(std::move(phase));
  }
  return phases;
}

std::vector<Phase> scatter_phases(const RankLayout& layout, const CollectiveLoad& load) {
  const int n = layout.ranks();
  const Bytes part = chunk(load.payload, 0, n);  // the largest
  std::vector<Phase> phases;
  for (int distance = 1; distance < n; distance *= 2) {
    Phase phase{.reducing_rounds = 1, .rotational = layout.even()};
    for (int rank = 0; rank < n; ++rank) {
      phase.messages.push_back({rank, (rank - distance + n) % n, part * parts_passed(distance, n)});
    }
    phases.push_back(std::move(phase));
  }
  return phases;
}

}  // namespace

namespace streams {

constinit const Collective pat_all_gather{
    .name = "pat-all-gather",
    .summary = "parts down a binomial tree of each rank, the farthest first",
    .source = "NCCL's PAT: src/include/collectives.h, src/device/all_gather.h",
    .outcome = Outcome::AllGathered,
    .serves = Aggregation::AllGather,
    .phases = gather_phases,
};
constinit const Collective pat_reduce_scatter{
    .name = "pat-reduce-scatter",
    .summary = "sums up a binomial tree to each rank, the nearest first",
    .source = "NCCL's PAT: src/include/collectives.h, src/device/reduce_scatter.h",
    .outcome = Outcome::Scattered,
    .serves = Aggregation::AllReduce,
    .phases = scatter_phases,
};

}  // namespace streams
}  // namespace gradcast
