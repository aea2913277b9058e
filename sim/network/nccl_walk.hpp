// Steps from rank to rank, of which NCCL's streams are made.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "sim/network/collective.hpp"

namespace gradcast::streams {

inline int local_rank(const RankLayout& layout, int node, int index) {
  return layout.first_rank[static_cast<std::size_t>(node)] + index % layout.gpus_of(node);
}

/// Between nodes, up a tree and down.
inline int tree_steps(int nodes) { return 2 * (std::bit_width(static_cast<unsigned>(nodes)) - 1); }

/// Calls what(node, index, rank) for every rank.
template <class What>
void for_each_rank(const RankLayout& layout, What what) {
  for (int node = 0; node < layout.nodes(); ++node)
    for (int i = 0; i < layout.gpus_of(node); ++i) what(node, i, local_rank(layout, node, i));
}

/// Messages from every rank to the next of its node, or to its counterpart in the next node.
void append_walk(std::vector<Phase>& phases, const RankLayout& layout, bool inside, int steps,
                 Bytes bytes = {});

/// Bytes on the wire for each of the payload, of the flags alone.
inline double flags_of(std::string_view protocol) {
  return protocol == "LL" ? 2 : protocol == "LL128" ? 128. / 120 : 1;
}

/// A piece on its way with the flags that it needs, and no more: what a protocol reaches below that
/// it loses where all pieces are on their way.
inline Bytes alone(Bytes piece, const Protocol& protocol, bool inside = false) {
  const double flags = flags_of(protocol.name);
  return {std::llround(static_cast<double>(piece.count) * flags /
                       std::max(flags, protocol.link_time_of(inside)))};
}

}  // namespace gradcast::streams
