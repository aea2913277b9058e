// NCCL's environment variables, as far as they change its choice or its times.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace gradcast {

/// Links between GPUs of a node over which NCCL sends directly: NCCL_P2P_LEVEL.
enum class PeerToPeer { OverNothing, OverNvlink, OverAll };

struct NcclSettings {
  std::string text{};                     // as given: NAME=VALUE, with blanks between; "": none
  std::vector<std::string> algorithms{};  // of NCCL_ALGO, in lower case; empty: all
  std::vector<std::string> protocols{};   // of NCCL_PROTO; empty: all
  bool nvls = true;                       // NCCL_NVLS_ENABLE
  bool collnet = true;                    // NCCL_COLLNET_ENABLE, of a network that adds up
  int collnet_nodes = 2;                  // NCCL_COLLNET_NODE_THRESHOLD
  Bytes buffer{4 << 20};                  // NCCL_BUFFSIZE: of each channel, for 8 chunks
  Bytes least_chunk{};                    // NCCL_DYNAMIC_CHUNK_SIZE; 0: NCCL's own
  Bytes nvls_chunk{128 << 10};            // NCCL_NVLS_CHUNKSIZE: of a channel, for each GPU
  Bytes nvls_tree_chunk{};                // NCCL_NVLSTREE_MAX_CHUNKSIZE; 0: by the nodes
  int least_channels = 0;                 // NCCL_MIN_NCHANNELS, or NCCL_MIN_CTAS
  int socket_threads = 0;                 // NCCL_SOCKET_NTHREADS
  bool p2p_disabled = false;              // NCCL_P2P_DISABLE
  PeerToPeer p2p_level = PeerToPeer::OverAll;

  /// True if GPUs of a node send directly over NVLink, and the same over PCIe.
  bool p2p() const { return !p2p_disabled && p2p_level != PeerToPeer::OverNothing; }
  bool p2p_by_pcie() const { return !p2p_disabled && p2p_level == PeerToPeer::OverAll; }

  bool operator==(const NcclSettings&) const = default;
};

/// "NCCL_ALGO=Ring,Tree NCCL_PROTO=Simple", or "none". A list that begins with ^ names what is left
/// out. Throws ValueError for a variable that changes nothing here, naming those that do.
NcclSettings parse_nccl_settings(std::string_view text);

/// True for NCCL_ALGO and the others that parse_nccl_settings takes.
bool is_nccl_setting(std::string_view name);

}  // namespace gradcast
