// NCCL's broadcast and its send-receive, as loads on links.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/network/collectives/rings.hpp"
#include "sim/network/nccl.hpp"
#include "sim/network/nccl_walk.hpp"

namespace gradcast {
namespace {

/// The piece that a channel passes on at a time. Between nodes it is a step of its buffer, without
/// flags (src/include/comm.h, collectives.h: BROADCAST_CHUNKSTEPS 1). Inside nodes LL and LL128
/// pass on what a block of threads stores at once (src/include/device.h). After its search NCCL
/// lays every channel twice.
struct Piece {
  Bytes inside;
  Bytes between;
};
Piece piece_of(const Protocol& protocol) {
  if (protocol.name == "LL") return {{2 * 512 * 8}, {2 * (32 << 10)}};
  if (protocol.name == "LL128") return {{2 * 640 * 60}, {2 * (576 << 10)}};
  return {{2 * (512 << 10)}, {2 * (512 << 10)}};
}

/// The root begins each channel's ring. No channel passes on into it. Ranks pass in their order,
/// each to lower ones first.
Phase chains(const RankLayout& layout, Bytes payload, int root) {
  const collectives::Rings rings = collectives::rails(layout);
  const auto ranks = static_cast<std::size_t>(layout.ranks());
  std::vector<std::vector<std::pair<int, Bytes>>> passed(ranks);  // by rank: to whom, and what
  for (int channel = 0; channel < rings.channels; ++channel) {
    const Bytes its = chunk(payload, channel, rings.channels);
    const std::vector<int> order =
        rings.order(rings.firsts(layout.ranks(), channel).front(), channel);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int next = order[(i + 1) % order.size()];
      if (next == root) continue;
      auto& from = passed[static_cast<std::size_t>(order[i])];
      const auto to = std::ranges::find(from, next, &std::pair<int, Bytes>::first);
      if (to == from.end())
        from.emplace_back(next, its);
      else
        to->second = to->second + its;
    }
  }
  Phase flow;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::ranges::sort(passed[rank], {}, &std::pair<int, Bytes>::first);
    for (const auto& [to, bytes] : passed[rank])
      flow.messages.push_back({static_cast<int>(rank), to, bytes});
  }
  return flow;
}

std::vector<Phase> broadcast_phases(const RankLayout& layout, const CollectiveLoad& load) {
  std::vector<Phase> phases;
  if (layout.ranks() == 1) return phases;
  const int nodes = layout.nodes();
  const int gpus = layout.most_gpus();
  const int between = nodes == 1 ? 0 : gpus == 1 ? nodes - 1 : nodes;
  const int inside = std::max(0, layout.ranks() - 1 - between);
  // A rank passes on the pieces of all channels, but leaves its node in one of them.
  const Piece piece = piece_of(load.protocol);
  const int channels = nodes == 1 ? gpus : std::max(1, gpus - 1);
  const Bytes each{(load.payload.count + gpus - 1) / gpus};
  // The load's own step is the last one of the walk.
  streams::append_walk(
      phases, layout, true, between == 0 ? inside - 1 : inside,
      streams::alone(std::min(each, piece.inside), load.protocol, true) * channels);
  streams::append_walk(phases, layout, false, between - 1,
                       streams::alone(std::min(each, piece.between), load.protocol));
  phases.push_back(chains(layout, load.payload, load.root));
  return phases;
}

/// While a piece of one broadcast goes on, the root sends what comes next, and no walk counts.
std::vector<Phase> broadcast_in_row_phases(const RankLayout& layout, const CollectiveLoad& load) {
  if (layout.ranks() == 1) return {};
  return {chains(layout, load.payload, load.root)};
}

std::vector<Phase> send_receive_phases(const RankLayout& layout, const CollectiveLoad& load) {
  std::vector<Phase> phases;
  const int ranks = layout.ranks();
  if (ranks == 1) return phases;
  Phase pass{.rotational = layout.even()};
  for (int rank = 0; rank < ranks; ++rank)
    pass.messages.push_back({rank, (rank + 1) % ranks, load.payload});
  phases.push_back(std::move(pass));
  return phases;
}

}  // namespace

namespace streams {

constinit const Collective broadcast{
    .name = "ring-broadcast",
    .summary = "one rank's buffer along a ring, piece after piece",
    .source = "NCCL's Ring: src/device/broadcast.h",
    .outcome = Outcome::Broadcast,
    .serves = Aggregation::AllReduce,
    .phases = broadcast_phases,
};
constinit const Collective broadcast_in_row{
    .name = "ring-broadcast",
    .summary = "one rank's buffer along a ring, of many in a row",
    .source = "NCCL's Ring: src/device/broadcast.h",
    .outcome = Outcome::Broadcast,
    .serves = Aggregation::AllReduce,
    .phases = broadcast_in_row_phases,
};
constinit const Collective send_receive{
    .name = "send-receive",
    .summary = "every rank to the next, as nccl-tests' sendrecv does",
    .source = "NCCL's ncclSend and ncclRecv: src/enqueue.cc; nccl-tests: src/sendrecv.cu",
    .outcome = Outcome::Passed,
    .serves = Aggregation::AllReduce,
    .phases = send_receive_phases,
};

}  // namespace streams
}  // namespace gradcast
