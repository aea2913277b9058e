// RCCL's tuning tables, by which AMD's library chooses as NCCL does. The numbers are facts of
// ROCm/rccl: src/graph/tuning.cc@9e22c79 (tables), src/graph/rome_models.cc@cb829d6 (which nodes
// have which table and how many rings), src/graph/topo.h@08814b0 (xGMI links) and
// src/rccl_wrap.cc@ee075f8 (protocols by size). The code is ours.
//
// Left out: RCCL's CollNet, its MSCCL schedules inside a node of MI300X, nodes of 16 GCDs and those
// of two sockets with MI250, and what later versions added: LL by size inside a node, direct
// all-gathers of small parts, and channels by size.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/base/units.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/nccl_rule.hpp"

namespace gradcast {

/// The oldest version that has these tables: RCCL of ROCm 7.0. Those before it had others, and no
/// protocols by size.
inline constexpr NcclVersion kOldestRccl{2, 25, 0};

struct RcclTable {
  using ByProtocol = std::array<double, 3>;  // LL, LL128, Simple
  static constexpr std::size_t kSizes = 27;  // powers of two from 64 bytes on; the last for larger

  struct OfAlgorithm {
    ByProtocol inside;        // latency of a step, in microseconds
    ByProtocol between;       // the same between nodes
    ByProtocol share_of_two;  // of the links' bandwidth, on one node or two
    ByProtocol share;         // on more nodes
    std::array<std::array<double, kSizes>, 3> corrections;  // factors on that share, by protocol
  };

  /// Sizes above the first up to the second; {0, 0}: none.
  using Range = std::array<std::int64_t, 2>;
  /// Protocols of a collective on several nodes; where neither has a size, the estimates choose.
  struct Ranges {
    Range ll{};
    Range ll128{};
  };

  OfAlgorithm tree;
  OfAlgorithm ring;
  std::array<Ranges, 4> ranges{};  // by Outcome

  /// All that is no tree steps as a ring does.
  const OfAlgorithm& of(NcclAlgorithm algorithm) const {
    return algorithm == NcclAlgorithm::Tree ? tree : ring;
  }
};

/// Latencies that all tables share: before the first step, and of a step inside a node over PCIe.
inline constexpr RcclTable::ByProtocol kRcclBase{12, 12, 17};
inline constexpr RcclTable::ByProtocol kRcclInsideByPcie{2.2, 2.2, 5.7};

/// A node whose rings and table RCCL's source names.
struct RcclNode {
  const RcclTable* table = nullptr;
  int rings = 1;
  BytesPerSecond links{};  // of a GPU to all others, as RCCL counts them
  bool ll128 = false;
};

/// nullopt where RCCL searches for rings by itself, and takes `rccl_default_table`. `nics`: of a
/// node; 0 for a communicator of one node.
std::optional<RcclNode> rccl_node(GpuGeneration gpu, int gpus_per_node, int nics);
const RcclTable& rccl_default_table();

/// The part of the links' bandwidth that RCCL counts on.
double rccl_share(const NcclMachine& machine, NcclAlgorithm algorithm, NcclProtocol protocol,
                  Outcome outcome, Bytes bytes);

/// False for trees with Simple inside a node from MI300 on, which RCCL does not consider.
bool rccl_has_tree(const NcclMachine& machine, NcclProtocol protocol);

/// The protocol that RCCL takes by the size alone, if its environment names none. nullopt where its
/// estimates choose.
std::optional<NcclProtocol> rccl_protocol(const NcclMachine& machine, Outcome outcome, Bytes bytes);

}  // namespace gradcast
