// What the all-reduces of a run say of the links between its GPUs.
#pragma once
#include <optional>
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/inputs/cluster.hpp"

namespace gradcast {

/// The link of a ring of `ranks` whose all-reduces would take these times: 2 (n - 1) steps, each of
/// 1/n of the bytes. Where the times include waiting for other ranks, the fastest of them counts:
/// the link is at least as fast, and its latency is not known (0). Else a straight line through all
/// of them; where that begins below 0, the latency is 0. None where there are no times.
std::optional<Link> link_of_ring(const std::vector<ImportedTransfer>& transfers, int ranks,
                                 bool with_waiting);

}  // namespace gradcast
