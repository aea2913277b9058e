// What the all-reduces of a run say of the links between its GPUs.
#pragma once
#include <optional>
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/inputs/cluster.hpp"

namespace gradcast {

/// The link of a ring of `ranks` whose all-reduces would take these times: 2 (n - 1) steps, each of
/// 1/n of the bytes. A straight line through the least times of each size; where its start is
/// negative, the latency is 0. None where there are no times, or they do not rise with the bytes.
std::optional<Link> link_of_ring(const std::vector<ImportedTransfer>& transfers, int ranks);

}  // namespace gradcast
