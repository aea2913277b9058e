// Parameter servers, one on every rank for one n-th of the buffer: each rank pushes to each server
// what it serves, servers add up, and each rank pulls the sums.
//
// Alone on equal links: 2 (a + (n-1)/n S / B).
#include <string>

#include "sim/base/error.hpp"
#include "sim/network/collective.hpp"

namespace gradcast::collectives {
namespace {

// Every rank talks to every other, so descriptions grow with the square: here to 2 x 256 MiB.
constexpr int kMostWorkers = 4096;

enum class Transfer { Push, Pull };

Phase round(const RankLayout& layout, Bytes payload, Transfer transfer) {
  const int n = layout.ranks();
  const bool push = transfer == Transfer::Push;
  Phase phase{.reducing_rounds = push ? 1 : 0, .rotational = layout.even()};
  phase.messages.reserve(static_cast<std::size_t>(n) * static_cast<std::size_t>(n - 1));
  for (int from = 0; from < n; ++from)
    for (int to = 0; to < n; ++to)
      if (from != to) phase.messages.push_back({from, to, chunk(payload, push ? to : from, n)});
  return phase;
}

std::vector<Phase> parameter_server_phases(const RankLayout& layout, const CollectiveLoad& load) {
  if (layout.ranks() > kMostWorkers)
    throw ValueError("parameter-server goes up to " + std::to_string(kMostWorkers) +
                     " ranks, and here are " + std::to_string(layout.ranks()) +
                     "; use ring-all-reduce");
  std::vector<Phase> phases;
  if (layout.ranks() == 1) return phases;
  phases.push_back(round(layout, load.payload, Transfer::Push));
  phases.push_back(round(layout, load.payload, Transfer::Pull));
  return phases;
}

}  // namespace

extern constinit const Collective parameter_server{
    .name = "parameter-server",
    .summary = "push to and pull from servers, one on every rank for its share",
    .source = "Li et al., OSDI 2014; sharded as in Jiang et al. (BytePS), OSDI 2020",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = parameter_server_phases,
};

}  // namespace gradcast::collectives
