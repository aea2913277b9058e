// NCCL's own tuning model: which algorithm and protocol NCCL takes for a collective, by version.
// Every constant is a fact of NVIDIA/nccl (src/graph/tuning.cc, search.cc, topo.h); the code is
// ours. On AMD's GPUs RCCL chooses by the same formulas and tables of its own (rccl_tables.hpp).
#pragma once
#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/network/collective.hpp"

namespace gradcast {

struct RcclTable;

/// RCCL counts its versions as NCCL does.
struct NcclVersion {
  int major = 2;
  int minor = 27;
  int patch = 5;

  friend auto operator<=>(const NcclVersion&, const NcclVersion&) = default;
};

/// The NCCL of PyTorch 2.10, which the commands take where none is named.
inline constexpr NcclVersion kUsualNccl{2, 27, 5};

/// "2.27" or "2.27.5", or "torch-2.5" for the NCCL that a PyTorch brings. Throws ValueError, also
/// for 2.4 to 2.6, which had other rules. Until 2.3 there were rings alone.
NcclVersion parse_nccl_version(std::string_view text);
std::string to_text(const NcclVersion& version);

/// "NCCL", or "RCCL" on a cluster of AMD's GPUs.
std::string_view library_name(const Cluster& cluster);

enum class NcclAlgorithm { Tree, Ring, Nvls, NvlsTree, Pat, P2p, CollNetDirect, CollNetChain };
enum class NcclProtocol { LL, LL128, Simple };

/// "tree", "ring", "nvls", "nvls-tree", "pat", "p2p", "collnet-direct", "collnet-chain".
std::string_view to_text(NcclAlgorithm algorithm);
/// "LL", "LL128", "Simple".
std::string_view to_text(NcclProtocol protocol);

/// The machine as NCCL sees it when a communicator starts.
struct NcclMachine {
  NcclVersion version = kUsualNccl;
  GpuGeneration gpu = GpuGeneration::Volta;
  HostCpu cpu = HostCpu::Intel;
  int nodes = 1;
  int gpus_per_node = 1;      // of the communicator
  int nics = 1;               // of a node, near these GPUs
  int channels = 1;           // that the search finds
  int times_laid = 1;         // 2: each is laid twice, at half the speed (ncclTopoDupChannels)
  BytesPerSecond inside{};    // of a channel, inside a node
  BytesPerSecond between{};   // of a channel, between nodes
  BytesPerSecond in_trees{};  // inside a node, in trees of two nodes; 0: no search
  Seconds plugin_latency{0};
  bool nvlink = true;        // else PCIe inside nodes
  bool ll128 = true;         // LL128 needs stores of 128 bytes to arrive whole: not through a host
  bool nvls = false;         // the NVLink switch adds up
  bool nvswitch = false;     // a switch between all GPUs of a node
  bool collnet = false;      // the network's switches add up
  bool plain_trees = false;  // the search found no balanced trees, and took those of 0.85 the speed
  bool same_channels = false;       // all channels take the same way
  const RcclTable* rccl = nullptr;  // RCCL's table for the machine; nullptr: NCCL chooses

  NcclSettings settings{};  // of its environment

  int ranks() const { return nodes * gpus_per_node; }
  int channels_laid() const { return times_laid * channels; }
};

/// NCCL's estimate for one algorithm and protocol: time = latency + bytes / bandwidth.
struct NcclEstimate {
  NcclAlgorithm algorithm = NcclAlgorithm::Ring;
  NcclProtocol protocol = NcclProtocol::Simple;
  Seconds latency{0};
  BytesPerSecond bandwidth{};
  Seconds time{0};
  BytesPerSecond of_links{};  // the bandwidth if GPUs passed on as much as their links carry
  BytesPerSecond of_gpus{};   // and if links carried as much as GPUs pass on
};

/// NCCL's estimates for a collective of `bytes` (all-reduce: the buffer; all-gather and
/// reduce-scatter: all ranks' parts together), the fastest first. NCCL takes that one. RCCL, and
/// NCCL until 2.3, take the first too: where the size chooses the protocol, that stands before
/// faster ones. Neither estimates a send-receive, whose protocol goes by the size alone: its time
/// is 0. Throws ValueError where the machine's settings leave nothing.
std::vector<NcclEstimate> nccl_estimates(const NcclMachine& machine, Outcome outcome, Bytes bytes);

/// GPUs of a node that add up for all of it by the NVLink switch (NCCL_MAX_NVLS_ARITY).
inline constexpr int kMostHeads = 32;
/// GPUs of the largest single host. More that NVLink joins are a rack.
inline constexpr int kMostOfHost = 16;

/// Steps of a ring: 2 (R - 1) of an all-reduce, R of a broadcast as NCCL counts them, else R - 1.
double ring_steps(Outcome outcome, int ranks);

/// PAT's constants in NCCL's tables: its kernel's time for each rank's part, the number of steps
/// that overlap, and the share of the links' bandwidth that it reaches.
inline constexpr Seconds kPatOfPart{2.8e-6};
inline constexpr double kPatStepsAtOnce = 3.5;
double pat_share(const NcclVersion& version);

/// In CollNetDirect a GPU serves the others of its node one after another, there and back.
Seconds collnet_turns(const NcclVersion& version, int gpus_per_node);

/// The share of its links' bandwidth that CollNetDirect reaches in an all-gather or reduce-scatter:
/// .95 with one GPU a node and .85 with eight, since 2.26 .9 of the network's.
double collnet_parts_share(const NcclVersion& version, int gpus_per_node);

/// Latency of a step of the algorithm, beside its bytes, by NCCL's newest table. RCCL's steps
/// inside a node are those of its table. Its steps between nodes are NCCL's: those of its tables
/// were set to make choices (320 us for a ring's on MI300X), and no measured ones are known to the
/// project.
struct NcclStep {
  Seconds begin{0};    // before the first step
  Seconds inside{0};   // between GPUs of a node
  Seconds between{0};  // between nodes, on InfiniBand
};
NcclStep nccl_step(const NcclMachine& machine, NcclAlgorithm algorithm, NcclProtocol protocol);

/// The speed of a channel that NCCL's search settles on: the largest of its list that so many NICs
/// reach together. `reached` is the goodput of one long flow; NCCL looks at the nominal rate, some
/// 6 % above it, or Ethernet's next one.
BytesPerSecond nccl_channel_speed(BytesPerSecond reached, NetworkKind kind, GpuGeneration gpu,
                                  double nics = 1);

/// The machine that NCCL finds on so many nodes and GPUs of each of them, or RCCL on AMD's.
NcclMachine nccl_machine(const Cluster& cluster, const NcclVersion& version, int nodes,
                         int gpus_per_node);

}  // namespace gradcast
