// The rules by which Gloo and Open MPI choose a collective: bytes and ranks. NCCL's stands in
// nccl_rule.hpp. The limits are facts of their sources; the code is ours.
#pragma once
#include <span>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/network/collective.hpp"

namespace gradcast {

/// A collective, and the protocol that it runs in.
struct CollectiveUse {
  const Collective* collective = nullptr;
  Protocol protocol{};
};

struct LibraryRule {
  std::string_view name;   // as `--collective` names it
  std::string_view words;  // "Open MPI 4.1"
  std::string_view summary;
  std::string_view source;
  /// `bytes`: the buffer of an all-reduce, reduce-scatter or broadcast, a rank's contribution to an
  /// all-gather. No collective where the rule is not known.
  CollectiveUse (*choose)(const Cluster& cluster, Outcome outcome, int ranks, Bytes bytes);
};

std::span<const LibraryRule> library_rules();

/// nullptr where there is none of that name.
const LibraryRule* find_library_rule(std::string_view name);

}  // namespace gradcast
