// The machines a job runs on: nodes of GPUs, their NICs, the switches between them, and what the
// software on them costs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/inputs/nccl_settings.hpp"

namespace gradcast {

struct Link {
  BytesPerSecond bandwidth;
  Seconds latency{0};
};

/// The software and wire between nodes, as far as a collective library tells them apart. Unknown:
/// see `network_kind_of`. GpudirectTcp: TCP whose payload goes past the host, as on Google's A3.
enum class NetworkKind { Unknown, InfiniBand, Roce, Efa, Slingshot, Tcp, GpudirectTcp };

/// The generation of the GPUs, by which NCCL and RCCL look up their constants: NVIDIA's, then AMD's
/// (MI200, MI300 and MI350 are gfx90a, gfx942 and gfx950 to RCCL). Unknown: see
/// `gpu_generation_of`.
enum class GpuGeneration { Unknown, Volta, Ampere, Hopper, Blackwell, Cdna2, Cdna3, Cdna4 };

/// True for AMD's GPUs, where RCCL stands in NCCL's place.
constexpr bool is_amd(GpuGeneration gpu) { return gpu >= GpuGeneration::Cdna2; }

/// Vendor of the hosts' CPUs. NCCL looks up two constants by it.
enum class HostCpu { Intel, Amd, Other };

enum class YesNo { No, Yes };

/// Properties in which nodes may differ.
struct NodeProperties {
  int gpus_per_node = 1;
  /// GPU i uses NIC i mod this. Where there are more NICs than GPUs, each GPU has its share of
  /// them.
  int nics_per_node = 1;
  /// Each NIC's bandwidth is the goodput of one long flow. Its latency is the time of an empty
  /// message one way from a GPU of one node to a GPU of another, through the switch, as a ping-pong
  /// between processes measures it. If the two ends differ, each counts half of its own latency.
  Link nic;
  /// The same between two GPUs of a node.
  Link intra;
  /// One path a node and direction that all its GPUs share, for whatever leaves or enters one; 0 is
  /// none.
  BytesPerSecond pcie_bandwidth{0};
  /// Speed of the GPUs as a factor of the trace's GPU.
  double compute_speed = 1;

  /// NICs through which so many of the node's GPUs send: a GPU that does not run leaves its own
  /// unused.
  int nics_near(int gpus) const;
};

/// One property of the nodes from `first` to `last`, as text: "nic_bandwidth@4..7".
struct NodeOverride {
  std::string property;
  int first = 0;
  int last = 0;
  std::string value;

  std::string name() const;
};

/// Standard deviation of a property's value as a share of the value, as a file states it.
struct PropertyDeviation {
  std::string property;
  double share = 0;
  std::string of_zero{};  // of a value of 0, which has no share: the deviation as a value
};

struct MeasuredCollectives;

/// Its own node properties are those of every node that no override names.
struct Cluster : NodeProperties {
  std::string name;
  int nodes = 1;

  /// Switches. 0 nodes a leaf: one switch for all. Else nodes hang on leaves and leaves on a spine;
  /// with pods, leaves hang on their pod's switches and pods on a core (a fat tree). An uplink
  /// stands for all of a leaf's or pod's cables as one: the routing spreads flows ideally.
  int nodes_per_leaf = 0;
  BytesPerSecond leaf_uplink_bandwidth{0};  // each direction
  Seconds leaf_uplink_latency{0};           // what crossing the spine adds, in total
  int leaves_per_pod = 0;
  BytesPerSecond pod_uplink_bandwidth{0};
  Seconds pod_uplink_latency{0};  // what crossing the core adds to that

  /// The file of measured times of collectives, and what it says; "", nullptr: none. A relative
  /// path begins at the cluster file's folder.
  std::string measured_collectives{};
  std::shared_ptr<const MeasuredCollectives> measured{};

  /// Facts that NCCL finds when it starts, beside bandwidths and latencies.
  NetworkKind network_kind = NetworkKind::Unknown;
  GpuGeneration gpu_generation = GpuGeneration::Unknown;
  std::string gpu{};  // its name, for memory and speed; "": the usual one of the generation
  HostCpu host_cpu = HostCpu::Intel;
  YesNo nvlink_sharp = YesNo::No;
  /// Yes if the network's switches add up for NCCL (SHARP), and its environment asks for that.
  YesNo network_sharp = YesNo::No;
  /// The latency that NCCL's network plugin reports of itself; 0: it reports none.
  Seconds nccl_plugin_latency{0};
  /// NCCL's environment variables, as the cluster's users or its makers set them.
  NcclSettings nccl_settings{};

  /// Software; each is 0 unless sourced.
  Seconds per_message_latency{0};
  Seconds per_collective_latency{0};
  /// Time that a framework spends agreeing on each tensor before its collective may start.
  Seconds per_tensor_negotiation{0};
  /// Software time that every iteration spends beside its work.
  Seconds per_iteration_overhead{0};
  /// Time on the compute stream that a framework spends on every gradient tensor that it exchanges,
  /// also with one rank: DDP copies each into its bucket and divides it.
  Seconds per_tensor_overhead{0};
  /// Times that each byte gathered or scattered by FSDP passes the GPU's memory in copies: out of
  /// the buffer of a gather, into that of a scatter. A read and a write are 2 at the full bandwidth
  /// of the memory, and more if copies are slower. 0: copies take no time.
  double shard_copy_passes = 0;
  /// Standard deviation of a rank's compute time over its mean. Collectives wait for the slowest
  /// rank, so that an iteration of more ranks takes longer.
  double rank_spread = 0;
  /// Share by which backward takes longer while a collective runs.
  double communication_slowdown = 0;
  /// Share by which a collective takes longer while its rank computes.
  double computing_slowdown = 0;
  /// Share of backward that is over before the first collective begins, where they overlap. FSDP's
  /// do not wait.
  double late_start = 0;
  /// Messages to another node as long as this, or longer, are sent only when the receiver was
  /// asked; 0: none is.
  Bytes eager_limit{};
  /// Rate at which a rank adds up what it received in an all-reduce, between rounds. 0: adding
  /// costs nothing.
  BytesPerSecond reduction_bandwidth{0};
  /// Rate at which gathered bytes go through the host's memory, in series with the wire, if the
  /// collective cannot reach the GPU's memory. 0: they go from GPU to GPU.
  BytesPerSecond staging_bandwidth{0};
  /// Rate at which a host's CPU sends and receives what goes through each NIC. It works beside it,
  /// so that the slower of the two counts, and both where they are alike. 0: the NIC alone counts.
  BytesPerSecond host_bandwidth{0};
  /// Share of its NIC that the transport reaches, 1 for all: MPI on InfiniBand, NCCL over sockets.
  double nic_share = 1;
  /// Cost of an all-reduce that an MG-WFBP planner assumes: startup and bytes / bandwidth. 0: it
  /// assumes what the network costs.
  Seconds planner_startup{0};
  BytesPerSecond planner_bandwidth{0};

  /// Standard deviation of the forecast error of whole iterations on the runs that the cluster was
  /// fitted to, as a time and as a share of the iteration.
  Seconds forecast_deviation{0};
  double forecast_deviation_share = 0;
  std::vector<PropertyDeviation> deviations;

  // Values that replicas and what-ifs change; no properties of a file.
  std::vector<double> nic_slowness;  // by node, of its NICs' bytes and latency; empty: 1
  double latency_factor = 1;         // of all latencies

  /// True if a collective library sends through the host's sockets: a NIC then has `socket_rate`.
  /// No property of a file either; it follows from the kind of network and from who chooses.
  bool by_sockets = false;

  /// Factor on what the host's sockets carry at most. No property of a file: intervals move it.
  double socket_factor = 1;

  /// NCCL takes another algorithm than its first choice, if it thinks that it takes at most so many
  /// times as long. No property of a file: intervals ask for it, because a choice at the edge may
  /// be another one on the machine.
  double nearly_chosen = 1;

  /// The cluster that NCCL chooses for, where an interval moved rates of this one: NCCL knows what
  /// links these are, and not what they reach. No property of a file. nullptr: this one.
  std::shared_ptr<const Cluster> chosen_on{};

  /// Share of their bytes for which two ranks of Open MPI take turns where they may, else send both
  /// ways at once. No property of a file: exchanges measured alone ran from one extreme to the
  /// other on one machine (docs/proving.md). Forecasts take this; their
  /// intervals go from nearly 0 to 1.
  double turns_share = 0.75;

  /// A SimGrid platform that stands for all of the network; its hosts are nodes of one GPU. "":
  /// none.
  std::filesystem::path platform_file;

  /// Ranks are laid out node by node, so that in a ring only the edges between nodes cross a NIC.
  int ranks() const { return first_rank(nodes); }
  int node_of(int rank) const;
  int first_rank(int node) const;
  int gpus_of(int node) const { return first_rank(node + 1) - first_rank(node); }

  bool nodes_alike() const { return overrides_.empty() && nic_slowness.empty(); }
  NodeProperties node(int number) const;
  double speed_of(int rank) const;

  /// Sorted by property and node; those of a property do not overlap.
  const std::vector<NodeOverride>& overrides() const { return overrides_; }
  /// Replaces one of the same nodes. Throws ValueError where it overlaps another.
  void add_override(NodeOverride added);
  /// Must follow an assignment of `nodes` or `gpus_per_node` after overrides; set_property does it.
  void lay_out_ranks();

 private:
  const NodeOverride* find_override(std::string_view property, int node) const;

  std::vector<NodeOverride> overrides_;
  std::vector<int> first_ranks_;  // by node and one more; empty where nodes have as many GPUs
};

/// The goodput that NCCL's sockets reach on a NIC of such a goodput. A host's sockets saturate: the
/// rate r of a NIC n is 1/r^2 = 1/n^2 + 1/m^2. The m of 28 Gb/s, times a factor, is the geometric
/// mean of what three machines say: 17 from 13.6 of 23.5 Gb/s (NVIDIA/nccl-tests#83), 25 to 34 from
/// 19 to 22 of 30.1 (NVIDIA/nccl#209), 34 to 56 from 32 to 48 of 94.2 (NVIDIA/nccl#450).
BytesPerSecond socket_rate(BytesPerSecond nic, double factor = 1);

/// A NIC and the host's CPU, which work at the same time on parts of a message, carry r: 1/r^2 =
/// 1/nic^2 + 1/host^2. Gloo's all-reduces of 16 and 64 MiB between two processes on two cores took
/// 1.01, 1.02, 1.13 and 1.6 times as long as their bytes at 0.95, 2.3, 4.6 and 9.1 Gb/s; with 9.5
/// Gb/s that is 1.01, 1.03, 1.11 and 1.39. A host of 0 is not there.
BytesPerSecond rate_beside(BytesPerSecond nic, BytesPerSecond host);

/// The cluster's kind of network. If its file does not say, a latency of 15 us or more means a
/// host's TCP, and a lower one InfiniBand.
NetworkKind network_kind_of(const Cluster& cluster);

/// True if the GPUs of a node share a link as fast as NVLink, and may have one. A guess of a slot
/// is none. A GeForce card has PCIe alone, but for RTX 20 and 30, whose bridge is faster than a
/// slot of PCIe 4.0.
bool joined_by_nvlink(const Cluster& cluster);

/// Takes the links that the cluster's GPUs have to each other, of those in `whole`, whose nodes
/// have more GPUs. Where a switch joins them, they have all. Without one, four of NVIDIA's GPUs and
/// eight of AMD's have as many links to each other one. Four GPUs of a file are taken to be all of
/// its node.
void leave_links(Cluster& cluster, const Cluster& whole);

/// True if NCCL sends directly between GPUs of a node. Its settings may forbid that, and drivers do
/// for GeForce cards on PCIe (CANNOT Access Peer Device: NVIDIA/nccl#1127, NVIDIA/nccl-tests#117).
bool has_peer_to_peer(const Cluster& cluster);

/// A ring step over PCIe in NCCL's own model (src/graph/tuning.cc).
inline constexpr Seconds kPcieStep{5.7e-6};

/// Bandwidth of a PCIe 3.0 slot in NCCL's own model (PCI_BW of src/graph/topo.h).
inline constexpr BytesPerSecond kPcie3Slot{12e9};

/// Forgets how far off a property's value may be: another value is in its place.
void drop_deviation(Cluster& cluster, std::string_view property);

/// True for GPUs that are sold as PCIe cards: no NVLink joins those of a node, or pairs alone.
bool is_pcie_card(const Cluster& cluster);

/// Whether the cluster's GPUs stand in slots of PCIe 5.0: Hopper, Blackwell, CDNA 3 and later.
bool in_pcie_5(const Cluster& cluster);

/// The bandwidth that machines reach between GPUs of a node on PCIe: 6.7 GB/s, 4.2 without
/// peer-to-peer, through the host's memory, and 19 on PCIe 5.0 (`in_pcie_5`).
BytesPerSecond rate_on_pcie(const Cluster& cluster);

/// True if the bandwidth inside nodes is a guess of ours: a slot's or `rate_on_pcie`, with a
/// deviation.
bool guesses_pcie(const Cluster& cluster);

/// A guess becomes `take_guess_on_pcie`'s. To call where the layout has changed.
void settle_pcie(Cluster& cluster);

/// Gives several GPUs of a node `rate_on_pcie`, with its deviation. A GPU alone has its slot to
/// itself: 12 GB/s, 24 on PCIe 4.0 (Ampere, Ada, CDNA 2), 48 on PCIe 5.0. Intervals leave it out.
void take_guess_on_pcie(Cluster& cluster);

/// Gives the links inside nodes `rate_on_pcie` and its deviation.
void take_rate_on_pcie(Cluster& cluster);

/// Gives the links inside nodes what Gloo reaches there: its ranks send over TCP through the host,
/// whatever joins their GPUs. A link below 10 GB/s that is no guess may be measured, and stays; so
/// do those of nodes that differ.
void take_loopback(Cluster& cluster);

/// Takes peer-to-peer from the cluster: messages between GPUs of a node then go through the host's
/// memory, at `rate_on_pcie` or less. A step is one over PCIe, and the NVLink switch adds up
/// nothing.
void send_through_host(Cluster& cluster);

/// The generation of a GPU by its name, like "a100-80gb"; Unknown for one that NCCL's tables have
/// no row for.
GpuGeneration generation_named(const std::string& gpu);

/// The cluster's generation of GPUs. If its file does not say, its GPU's name does. If neither
/// does, it is one of NVIDIA's and follows from the bandwidth inside nodes: NVLink doubled with
/// each generation, and below 200 GB/s stands Volta.
GpuGeneration gpu_generation_of(const Cluster& cluster);

/// Most ranks of a run whose ranks differ in nodes, speed or events. The memory of a run grows with
/// them.
inline constexpr int kMostRanks = 16'384;
/// Most ranks if all are alike: one stands for all. More than anybody has trained with.
inline constexpr int kMostAlikeRanks = 65'536;

}  // namespace gradcast
