#include "sim/network/nccl.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/network/nccl_walk.hpp"

namespace gradcast {
namespace {

/// Time from the call to the kernel's first instruction on all ranks; NCCL's model leaves it out.
constexpr Seconds kLaunch{6e-6};

/// A host takes so long for the calls of a GPU's small collectives, which follow one another no
/// faster, however few steps their rings have: nccl-tests calls for all GPUs of its process. On
/// snellius-n1, of four, small all-reduces, all-gathers and reduce-scatters take 16.7 to 18.4 us.
/// Two GPUs take 6.8 to 14.2 us in seven logs that no file here has.
constexpr Seconds kHostCall{4.25e-6};
constexpr int kMostCalls = 4;

/// NCCL's steps were measured on InfiniBand and NVLink or PCIe, so they hold such latencies.
/// Cluster files say about as much for an empty step, and a larger figure adds its excess.
constexpr Seconds kBetweenHeld{10e-6};
constexpr Seconds kInsideHeld{5.7e-6};

/// The NVLink switch's share of the links' rate (src/graph/tuning.cc: nvlsEfficiency).
double nvls_share(GpuGeneration gpu) { return gpu == GpuGeneration::Blackwell ? .74 : .85; }
/// A tree of switches reaches 5/6 of what its network does (src/graph/tuning.cc).
constexpr double kNvlsTreeShare = 5. / 6;
/// Its switches inside nodes are no faster than that of one node.
double nvls_tree_share(GpuGeneration gpu) { return std::min(kNvlsTreeShare, nvls_share(gpu)); }

/// Time of bytes that leave a node in an NVLink switch's tree, over their time on all its NICs.
/// Trees leave a rack of 72 B200 as nine NICs of 47 GB/s would: all-reduces of 0.5 to 16 GiB over
/// two and twenty racks take 0.9 and 4.6 ms, and a byte as long as 417 and 217 GB/s say, where a
/// tree of more than two passes each twice (README of coreweave/nccl-tests). NCCL's search of the
/// switch's heads may say why, and is not followed here. Parts of racks were not timed.
double rack_time(const NcclMachine& machine) {
  constexpr double kNicsOfRack = 9;
  const bool rack = machine.nvlink && machine.gpus_per_node > kMostOfHost;
  return rack ? std::max(1.0, machine.nics / kNicsOfRack) : 1;
}

/// All channels pass each GPU's links.
double carried_to_nics(const Cluster& cluster, const NcclMachine& machine) {
  return machine.gpus_per_node == 1 ? INFINITY : cluster.intra.bandwidth.value;
}

/// The rate at which NCCL counts on bytes to leave a node. If the NICs together are faster than
/// GPUs' links, NCCL counts on more than these carry.
double counted_between(const Cluster& cluster, const NcclMachine& machine) {
  if (machine.nodes == 1) return machine.channels * machine.inside.value;
  return std::min(machine.channels * std::min(machine.inside, machine.between).value,
                  carried_to_nics(cluster, machine));
}

/// The bandwidth that the algorithm would have if its protocol cost nothing.
double link_bandwidth(const Cluster& cluster, const NcclMachine& machine,
                      const NcclEstimate& estimate, Outcome outcome) {
  const double between = counted_between(cluster, machine);
  if (estimate.algorithm == NcclAlgorithm::Ring)
    return between * machine.ranks() / ring_steps(outcome, machine.ranks());
  if (machine.nodes == 2)
    return machine.gpus_per_node == 1
               ? between
               : std::min(between, machine.channels * machine.inside.value / 2);
  return between / 2;
}

/// True where NCCL's steps and estimates were not measured.
bool is_foreign(NetworkKind kind) {
  return kind == NetworkKind::Tcp || kind == NetworkKind::Slingshot;
}

/// The part of its NICs' bandwidth that a node reaches on such a network. NCCL knows nothing of it.
/// On others its estimates become slower by as much.
double reached_of(const Cluster& cluster, const NcclMachine& machine) {
  if (machine.nodes == 1 || !is_foreign(network_kind_of(cluster))) return 1;
  const BytesPerSecond shared{cluster.nic_share * cluster.nic.bandwidth.value};
  const BytesPerSecond reached =
      cluster.by_sockets ? socket_rate(shared, cluster.socket_factor) : shared;
  return std::min(1.0, reached.value / cluster.nic.bandwidth.value);
}

/// True where the environment keeps NCCL from cutting large chunks into smaller ones.
bool keeps_chunks_large(const NcclMachine& machine, NcclProtocol protocol) {
  return protocol == NcclProtocol::Simple && machine.settings.least_chunk.count > 0;
}

/// The chunks of all channels of a tree together (src/enqueue.cc: calcCollChunking). After its
/// search NCCL lays every channel twice.
Bytes tree_piece(const NcclMachine& machine, NcclProtocol protocol, Bytes bytes) {
  const int channels = 2 * machine.channels_laid();
  const double of_channel = static_cast<double>(bytes.count) / channels;
  const double slot = static_cast<double>(machine.settings.buffer.count) / 8;
  double chunk = slot;
  const auto halve = [&](double least_chunks, double least) {
    while (of_channel / chunk < least_chunks && chunk > least) chunk /= 2;
  };
  const int levels = streams::tree_steps(machine.nodes) / 2;
  switch (protocol) {
    case NcclProtocol::LL:
      chunk = 32 << 10;
      break;
    case NcclProtocol::LL128: {
      const double steps = 1 + levels + .1 * machine.gpus_per_node;
      halve(steps * 64 / machine.gpus_per_node, 128 << 10);
      halve(steps * 16 / machine.gpus_per_node, 32 << 10);
      break;
    }
    case NcclProtocol::Simple: {
      const double depth = machine.gpus_per_node - 1 + levels;
      halve(8 * depth, 128 << 10);
      halve(4 * depth, 64 << 10);
      halve(depth, 32 << 10);
      break;
    }
  }
  if (keeps_chunks_large(machine, protocol))
    chunk = std::max(chunk, std::min(slot, double(machine.settings.least_chunk.count)));
  return {std::llround(channels * std::min(chunk, of_channel))};
}

/// The chunks of all channels of an NVLink switch together: each has one on the way for each head.
double nvls_at_once(const NcclMachine& machine) {
  const int channels = machine.gpu == GpuGeneration::Blackwell ? 32 : 16;  // src/transport/nvls.cc
  return channels * std::min(machine.gpus_per_node, kMostHeads);
}

struct ChunkLimit {
  int chunks;  // of fewer than so many each
  int most;    // a chunk is no longer than this, in bytes
};

Bytes piece_of_chunks(double at_once, double chunk, std::span<const ChunkLimit> limits,
                      Bytes bytes) {
  const double whole = static_cast<double>(bytes.count);
  for (const auto& [chunks, most] : limits)
    if (whole < chunks * at_once * chunk) chunk = std::min<double>(chunk, most);
  return {std::llround(std::min(at_once * chunk, whole))};
}

/// The piece of an NVLink switch on one node (src/enqueue.cc: calcCollChunking).
Bytes nvls_piece(const NcclMachine& machine, Bytes bytes) {
  constexpr ChunkLimit kLimits[] = {{64, 64 << 10}, {8, 32 << 10}, {2, 16 << 10}};
  return piece_of_chunks(nvls_at_once(machine),
                         static_cast<double>(machine.settings.nvls_chunk.count), kLimits, bytes);
}

/// GPUs agree on each piece that a node's switch adds up, beside its bytes: 2 us by llmb-h100 and
/// hgx-h100-n1 of traces/measured-nccl-*.csv, and 4 by two logs of B200 (Vultr's proof of concept,
/// a guide to Google's A4), whose pieces are twice as large.
Seconds of_nvls_piece(GpuGeneration gpu) {
  return Seconds{gpu == GpuGeneration::Blackwell ? 4e-6 : 2e-6};
}

/// The piece of an NVLink switch's tree (src/enqueue.cc: calcCollChunking).
Bytes nvls_tree_piece(const NcclMachine& machine, Bytes bytes) {
  constexpr ChunkLimit kLimits[] = {{32, 256 << 10}, {16, 128 << 10}, {4, 64 << 10}, {1, 32 << 10}};
  const Bytes of_switch = machine.settings.nvls_chunk;
  Bytes of_tree = machine.settings.nvls_tree_chunk;
  if (of_tree.count == 0) of_tree = machine.nodes >= 4 ? Bytes{64 << 10} : of_switch;
  return piece_of_chunks(nvls_at_once(machine),
                         static_cast<double>(std::min(of_switch, of_tree).count), kLimits, bytes);
}

/// The last step of a ring copies what has arrived, and sends nothing: a GPU's channels wait for
/// it, the more often the fewer GPUs there are. Two A100 reach 208 GB/s (NVIDIA/nccl-tests#178)
/// where eight reach 232.54 (NVIDIA/nccl#1048), so that it takes .28 of a step on the links: 232.54
/// / 208 = (1 + .28 / 2) / (1 + .28 / 14). Cluster files have what all-reduces of eight reach.
double last_copy(Outcome outcome, int ranks) {
  constexpr double kOfStep = .28;
  return (1 + kOfStep / ring_steps(outcome, ranks)) / (1 + kOfStep / 14);
}

/// NCCL rates CollNet by what its GPUs reach inside their nodes: each passes (g - 1)/g of the
/// buffer there and back. The network's bytes take no longer than on its links. In an all-gather
/// and a reduce-scatter it rates both.
double collnet_link_time(const NcclMachine& machine, const NcclEstimate& estimate,
                         Outcome outcome) {
  if (outcome != Outcome::AllReduced)
    return 1 / collnet_parts_share(machine.version, machine.gpus_per_node);
  return std::max(1.0, machine.channels * machine.inside.value / 2 / estimate.bandwidth.value);
}

/// The weight on xGMI of a byte that stays in its node, in a ring over several nodes. Bytes to a
/// NIC pass PCIe, and are counted on the GPU's links all the same: one of g that a GPU sends. So
/// the other g - 1 count as g - 2.
double inside_for_rccl(const NcclMachine& machine, const NcclEstimate& estimate) {
  const double gpus = machine.gpus_per_node;
  if (machine.nodes == 1 || gpus <= 2 || estimate.algorithm != NcclAlgorithm::Ring) return 1;
  return (gpus - 2) / (gpus - 1);
}

/// Times of bytes on links, over what they would take there by themselves.
struct LinkTimes {
  double between = 1;  // and all there is on one node
  double inside = 0;   // of several nodes, where it is another one
};

/// The rate at which a channel of a H100 copies bytes that it passes on: four copy 64 MiB between
/// two of them at 81.8 GB/s (xxrjun/nccl-tests-cluster@455de4f, example-cluster01, a log of
/// send-receives that no file here has). A guess for a send and receive of other generations.
constexpr double kChannelCopies = 20.5e9;

/// NCCL lays each channel of its search twice (src/graph/connect.cc), and may be told to lay more.
int all_channels(const NcclMachine& machine) {
  return std::max(2 * machine.channels_laid(), machine.settings.least_channels);
}

/// A node's channels copy this much in a ring to other nodes. 16 of them pass on 328 GB/s, where
/// eight NICs of 400 Gb/s carry 376; 32, which NCCL_MIN_NCHANNELS asks for, reach 367
/// (NVIDIA/nccl-tests#322).
double copied_by_ring(const NcclMachine& machine, const NcclEstimate& estimate) {
  const bool known = machine.gpu == GpuGeneration::Hopper && machine.gpus_per_node > 1 &&
                     estimate.algorithm == NcclAlgorithm::Ring &&
                     estimate.protocol == NcclProtocol::Simple;
  return known ? all_channels(machine) * kChannelCopies : INFINITY;
}

/// Bytes take the longer of what they take on the links and what NCCL estimates. `reached`: the
/// part of its NICs' bandwidth that a node reaches. `walked`: what the first piece's way through a
/// tree takes, over what all bytes take. NCCL's estimate holds it, so that it is walked only where
/// less than the nominal rate is reached, or where the environment makes the pieces larger. RCCL's
/// bandwidths were set to make choices: its bytes take what they and their flags take on the links.
LinkTimes link_times(const Cluster& cluster, const NcclMachine& machine,
                     const NcclEstimate& estimate, Outcome outcome, double reached, double walked,
                     double of_agreeing) {
  const double flags = streams::flags_of(to_text(estimate.protocol));
  if (machine.rccl != nullptr) return {flags, flags * inside_for_rccl(machine, estimate)};
  switch (estimate.algorithm) {
    case NcclAlgorithm::Nvls:
      return {(1 + of_agreeing) / nvls_share(machine.gpu)};
    case NcclAlgorithm::NvlsTree:
      return {std::max(machine.nodes == 2 ? 1 : 1 / kNvlsTreeShare, rack_time(machine)),
              1 / nvls_tree_share(machine.gpu)};
    case NcclAlgorithm::CollNetDirect:
    case NcclAlgorithm::CollNetChain:
      return {collnet_link_time(machine, estimate, outcome)};
    case NcclAlgorithm::Pat:
      return {std::max(1.0, reached / pat_share(machine.version))};
    case NcclAlgorithm::P2p:
      return {flags};
    case NcclAlgorithm::Ring:
    case NcclAlgorithm::Tree:
      break;
  }
  const double links = link_bandwidth(cluster, machine, estimate, outcome);
  const auto at_least_flags = [&](double time) { return std::max(flags, time - flags * walked); };
  if (machine.nodes == 1) {
    const bool waits = estimate.algorithm == NcclAlgorithm::Ring && machine.nvlink &&
                       estimate.protocol == NcclProtocol::Simple && outcome != Outcome::Broadcast;
    return {at_least_flags(links / estimate.bandwidth.value) *
            (waits ? last_copy(outcome, machine.ranks()) : 1)};
  }
  const double share = is_foreign(network_kind_of(cluster)) ? reached : cluster.nic_share;
  const double by_nics =
      std::max(machine.channels, machine.nics) * share * cluster.nic.bandwidth.value;
  const double by_gpus = carried_to_nics(cluster, machine);
  const double of_links = reached * links / estimate.of_links.value;
  // To the network GPUs pass on no more than so much, however fast it is.
  const double of_gpus = std::min(by_nics, by_gpus) / counted_between(cluster, machine) * links /
                         estimate.of_gpus.value;
  const double of_copies = std::min(by_nics, by_gpus) / copied_by_ring(machine, estimate);
  // GPUs' links that carry less than the NICs are where NCCL's limits show.
  const double of_inside = by_nics > by_gpus ? std::max(of_gpus, of_copies) : 0;
  return {at_least_flags(std::max({of_links, of_gpus, of_copies})),
          at_least_flags(std::max(of_links, of_inside))};
}

/// The channels of a send and receive inside a node. They are divided among as many messages as
/// there are ranks, and double while each has more than 32 chunks (src/enqueue.cc:
/// scheduleP2pTasksToPlan and calcP2pChannelCount). A switch between GPUs gives all 32.
int p2p_channels(const NcclMachine& machine, Bytes bytes) {
  constexpr int kAll = 32;
  const std::int64_t most = 32 * machine.settings.buffer.count / 8;
  int channels = kAll;
  while (channels * machine.ranks() > kAll && channels > 1) channels /= 2;
  while (bytes.count > channels * most && channels < kAll) channels *= 2;
  return channels;
}

/// Time of a message on its channels, over its time on the link alone.
double channels_time(const Cluster& cluster, const NcclMachine& machine, Bytes bytes) {
  if (machine.nodes > 1 || !machine.nvswitch || machine.rccl != nullptr) return 1;
  return cluster.intra.bandwidth.value / (p2p_channels(machine, bytes) * kChannelCopies);
}

Seconds above(Seconds latency, Seconds held) { return std::max(Seconds{0}, latency - held); }

/// A first piece is copied to the buffers of an NVLink switch before it is added up, and the last
/// sums are copied from there: each takes a piece's time. NCCL's latencies were timed on small
/// buffers, and hold 10 us of it, by the logs of of_nvls_piece.
Seconds into_switch(Seconds of_piece) { return above(of_piece, Seconds{10e-6}); }

/// The part of a ring's bytes that goes while ranks wait for late ones: a guess. 1, 2 and 4 GiB on
/// 1024 GPUs (below) say more, all-gathers of 80 GPUs less.
constexpr double kGoesMeanwhile = .5;

/// All steps of a ring take this beside their bytes, as NCCL counts them.
Seconds ring_latencies(const Protocol& protocol, const Cluster& cluster, const NcclMachine& machine,
                       double steps) {
  const double between = steps * machine.nodes / machine.ranks();
  return (steps - between) * (protocol.inside + cluster.intra.latency) +
         between * (protocol.between + cluster.nic.latency);
}

/// A ring's steps take so much longer than NCCL counts, whose latencies were timed on few ranks:
/// each rank waits for the one before it, and so for whichever is late. Two logs that no file has
/// show it. 64 H100 on Slingshot take 9.1 us a step of an all-gather by LL, where 2.9 are counted
/// with Polaris's 7.5 us between nodes (NREL's Kestrel, 1 to 128 KiB). 1024 H100 on RoCE by LL128
/// take 19.4 and 20.2 ms for all-reduces of 1 and 2 GiB (NVIDIA/nccl-tests#322): 6 us a step more
/// than counted, if half of the bytes go meanwhile. Simple's longer steps are taken to wait for 2.1
/// to 3 times what is counted. Eight ranks take what is counted. How it grows between is a guess,
/// and that RCCL's rings wait as long.
Seconds waits_of_ring(NcclProtocol protocol, int ranks, double steps, Seconds latencies) {
  constexpr Seconds kOfStep{6.2e-6};
  const double many = std::clamp((ranks - 8) / 56., 0., 1.);
  const Seconds of_steps = many * steps * kOfStep;
  if (protocol != NcclProtocol::Simple) return of_steps;
  const double more = std::min(3., 2.1 + .9 * std::log2(std::max(1., ranks / 64.)) / 4);
  return std::max(of_steps, many * more * latencies);
}

/// A ring's latencies and its bytes take their time one after the other, as NCCL counts them. Its
/// channels keep step: were they free to run ahead, latencies would hide behind other channels'
/// bytes, and measured rings are slower than that. Links add their own latencies to each step;
/// `inside` and `between` take them back, for `begin` has them.
void wait_before_bytes(Protocol& protocol, const Cluster& cluster, Seconds latencies) {
  protocol.begin += latencies;
  protocol.inside = -cluster.intra.latency;
  protocol.between = -cluster.nic.latency;
}

/// Until 2.17 the channels of LL and LL128 begin one after another. On 2, 4 and 8 A100 the smallest
/// sizes grow by 1.1 to 1.2 us for each channel that the size brings in (abhivijay96/nccl-tests at
/// 5eae14c), and 2.8.4 on four V100 by 1.0 (aistabci/abci2.0benchmark at 8b20e11); no file here has
/// these logs. Those of 2.22 and later, of H100, show none of it. The versions between are a guess.
/// Simple's latency was timed on all channels, and holds it.
Seconds for_channels(const NcclMachine& machine, const NcclEstimate& estimate, Bytes bytes) {
  constexpr NcclVersion kTogether{2, 18, 0};
  constexpr Seconds kNext{1.15e-6};
  if (estimate.protocol == NcclProtocol::Simple || machine.version >= kTogether ||
      machine.rccl != nullptr)
    return {};
  // The least that a channel is given (src/enqueue.cc: getAlgoInfo), 8 bytes a thread.
  double least = 8 * (estimate.protocol == NcclProtocol::LL ? 512 : 640);
  if (estimate.protocol == NcclProtocol::LL && estimate.algorithm == NcclAlgorithm::Ring)
    least *= machine.ranks();
  const double channels =
      std::clamp(static_cast<double>(bytes.count) / least, 1.0, double(all_channels(machine)));
  return (channels - 1) * kNext;
}

/// Over sockets a ring's rounds follow one another, and each waits for the network: large parts
/// keep the thread that sends them. A small part waits where it leaves its node, and other ranks go
/// on meanwhile. From 16 KiB on all wait, which is a guess: 64 KiB made MG-WFBP's runs and those of
/// Polaris over sockets worse.
void wait_for_rounds(Protocol& protocol, const Cluster& cluster, Seconds latencies, double part) {
  constexpr double kLarge = 16 << 10;
  const double share = std::min(1.0, part / kLarge);
  protocol.begin += (1 - share) * latencies;
  protocol.inside = share * (protocol.inside + cluster.intra.latency) - cluster.intra.latency;
  protocol.between = share * (protocol.between + cluster.nic.latency) - cluster.nic.latency;
}

/// RCCL's latencies were set to make choices, too. Inside a node small all-reduces take 10 to 12 us
/// on two MI300A (jtc469/nccl-bench@c83f811) and 13 to 14 on eight MI300X, those of 512 KiB to 4
/// MiB by Simple 17 us and 14 steps of 0.8 beside their bytes (a blog of AMD's on RCCL of
/// ROCm 6.3). No file here has these two logs.
void step_as_rccl(Protocol& protocol, const Cluster& cluster, const NcclEstimate& estimate) {
  const bool simple = estimate.protocol == NcclProtocol::Simple;
  protocol.begin = Seconds{simple ? 17e-6 : 10e-6};
  protocol.inside = Seconds{simple ? .8e-6 : .25e-6} - cluster.intra.latency +
                    above(cluster.intra.latency, kInsideHeld);
}

Protocol protocol_of(const Cluster& cluster, const NcclMachine& machine,
                     const NcclEstimate& estimate, Outcome outcome, Bytes bytes) {
  const NcclStep step = nccl_step(machine, estimate.algorithm, estimate.protocol);
  Protocol protocol;
  protocol.name = to_text(estimate.protocol);
  const double reached = reached_of(cluster, machine);
  double walked = 0;
  double of_agreeing = 0;  // share that it adds to the time of bytes
  Seconds of_chunk{0};     // what chunks take from GPU to GPU inside a node, all channels at once
  const bool is_tree = estimate.algorithm == NcclAlgorithm::NvlsTree;
  const bool by_switch = is_tree || (estimate.algorithm == NcclAlgorithm::Nvls &&
                                     machine.nodes == 1 && outcome == Outcome::AllReduced);
  const bool large = keeps_chunks_large(machine, estimate.protocol);
  if (estimate.algorithm == NcclAlgorithm::Tree && (reached < 1 || large)) {
    protocol.piece = tree_piece(machine, estimate.protocol, bytes);
    if (large) of_chunk = protocol.piece / BytesPerSecond{machine.channels * machine.inside.value};
    const int passed = machine.nodes == 2 ? 1 : 2;  // times the buffer, by each node
    const double between = static_cast<double>(protocol.piece.count) *
                           (streams::tree_steps(machine.nodes) - 1) / passed;
    const double inside = 2 * (machine.gpus_per_node - 1) * of_chunk.count() *
                          link_bandwidth(cluster, machine, estimate, outcome);
    walked = (between + inside) / static_cast<double>(std::max<std::int64_t>(1, bytes.count));
  }
  if (by_switch && bytes.count > 0) {
    const Bytes piece = is_tree ? nvls_tree_piece(machine, bytes) : nvls_piece(machine, bytes);
    const double share = is_tree ? nvls_tree_share(machine.gpu) : nvls_share(machine.gpu);
    const Seconds of_piece = piece / BytesPerSecond{share * cluster.intra.bandwidth.value};
    of_chunk = (is_tree ? 1 : 2) * into_switch(of_piece);  // a tree walks there and back
    if (is_tree)
      protocol.piece = {std::llround(static_cast<double>(piece.count) * rack_time(machine))};
    else
      of_agreeing = of_nvls_piece(machine.gpu) / of_piece;
  }
  const LinkTimes times =
      link_times(cluster, machine, estimate, outcome, reached, walked, of_agreeing);
  protocol.link_time = times.between;
  protocol.link_time_inside = times.inside;
  if (estimate.algorithm == NcclAlgorithm::P2p)
    protocol.link_time = std::max(protocol.link_time, channels_time(cluster, machine, bytes));
  const bool is_pat = estimate.algorithm == NcclAlgorithm::Pat;
  protocol.begin = kLaunch + step.begin + (is_pat ? machine.ranks() : 0) * kPatOfPart +
                   for_channels(machine, estimate, bytes);
  protocol.inside =
      of_chunk + step.inside + above(cluster.intra.latency, kInsideHeld) - cluster.intra.latency;
  if (machine.rccl != nullptr && machine.nodes == 1) step_as_rccl(protocol, cluster, estimate);
  protocol.between = step.between;
  const bool is_ring = estimate.algorithm == NcclAlgorithm::Ring && outcome != Outcome::Broadcast;
  const double steps = ring_steps(outcome, machine.ranks());
  const Seconds of_bytes = is_ring ? Seconds{static_cast<double>(bytes.count) * times.between /
                                             link_bandwidth(cluster, machine, estimate, outcome)}
                                   : Seconds{0};
  if (is_ring && machine.nodes == 1 && machine.rccl == nullptr)
    protocol.begin =
        std::max(protocol.begin, std::min(kMostCalls, machine.ranks()) * kHostCall -
                                     steps * (protocol.inside + cluster.intra.latency) - of_bytes);
  const NetworkKind kind = network_kind_of(cluster);
  const bool rounds_of_nodes = is_ring && machine.nodes > 1;
  // Without threads of its own for that, the one that looks after all messages of a GPU copies
  // their bytes too (src/transport/net_socket.cc).
  protocol.in_lockstep =
      rounds_of_nodes && kind == NetworkKind::Tcp && cluster.nccl_settings.socket_threads == 0;
  if (!is_foreign(kind))
    protocol.between += above(cluster.nic.latency, kBetweenHeld) - cluster.nic.latency;
  if (!rounds_of_nodes) return protocol;
  const Seconds latencies = ring_latencies(protocol, cluster, machine, steps);
  if (kind == NetworkKind::Tcp) {
    wait_for_rounds(protocol, cluster, latencies,
                    static_cast<double>(bytes.count) / machine.ranks());
    return protocol;
  }
  // Ranks wait, and a part of the bytes comes after that. On foreign networks the rest of the bytes
  // hides the latencies, or they the bytes.
  const Seconds hidden = is_foreign(kind) ? std::max(latencies, of_bytes) : latencies + of_bytes;
  if (kind != NetworkKind::GpudirectTcp)  // its logs, of 16 ranks, show no such wait
    protocol.begin +=
        above(latencies + waits_of_ring(estimate.protocol, machine.ranks(), steps, latencies) +
                  (1 - kGoesMeanwhile) * of_bytes,
              hidden);
  if (!is_foreign(kind)) wait_before_bytes(protocol, cluster, latencies);
  return protocol;
}

const Collective* collective_of(NcclAlgorithm algorithm, Outcome outcome, bool rails) {
  switch (algorithm) {
    case NcclAlgorithm::Tree:
      return &streams::tree;
    case NcclAlgorithm::NvlsTree:
      return &streams::nvls_tree;
    case NcclAlgorithm::CollNetDirect:
      return outcome == Outcome::AllGathered ? &streams::collnet_all_gather
             : outcome == Outcome::Scattered ? &streams::collnet_reduce_scatter
                                             : &streams::collnet_direct;
    case NcclAlgorithm::CollNetChain:
      return &streams::collnet_chain;
    case NcclAlgorithm::Nvls:
      if (outcome == Outcome::AllReduced) return &streams::nvls;
      if (outcome == Outcome::AllGathered) return &streams::nvls_all_gather;
      if (outcome == Outcome::Scattered) return &streams::nvls_reduce_scatter;
      break;
    case NcclAlgorithm::Pat:
      return outcome == Outcome::AllGathered ? &streams::pat_all_gather
                                             : &streams::pat_reduce_scatter;
    case NcclAlgorithm::Ring:
    case NcclAlgorithm::P2p:
      break;
  }
  switch (outcome) {
    case Outcome::AllReduced:
      return find_collective(rails ? "rail-ring-all-reduce" : "ring-all-reduce");
    case Outcome::AllGathered:
      return find_collective(rails ? "rail-ring-all-gather" : "ring-all-gather");
    case Outcome::Scattered:
      return find_collective(rails ? "rail-ring-reduce-scatter" : "ring-reduce-scatter");
    case Outcome::Broadcast:
      return &streams::broadcast;
    case Outcome::Passed:
      return &streams::send_receive;
  }
  return nullptr;
}

}  // namespace

namespace {

/// The one that NCCL takes, the first, or the fastest of another algorithm, if NCCL thinks that it
/// takes at most `within` times the least time. A table of sizes may put first what takes longer:
/// RCCL takes another protocol by it, and its algorithm by the least time.
NcclEstimate estimate_of(const std::vector<NcclEstimate>& in_its_order, double within) {
  const NcclEstimate& first = in_its_order.front();
  if (within <= 1) return first;
  const auto other =
      std::find_if(in_its_order.begin(), in_its_order.end(),
                   [&](const NcclEstimate& each) { return each.algorithm != first.algorithm; });
  const Seconds least = std::ranges::min(in_its_order, {}, &NcclEstimate::time).time;
  const bool near = other != in_its_order.end() && other->time <= within * least;
  return near ? *other : first;
}

}  // namespace

NcclWay nccl_way(const Cluster& cluster, const NcclVersion& version, const RankLayout& layout,
                 Outcome outcome, Bytes bytes) {
  if (cluster.chosen_on != nullptr)
    return nccl_way(*cluster.chosen_on, version, layout, outcome, bytes);
  NcclWay way;
  way.machine = nccl_machine(cluster, version, layout.nodes(), layout.most_gpus());
  way.estimate = estimate_of(nccl_estimates(way.machine, outcome, bytes), cluster.nearly_chosen);
  const bool rails = cluster.nics_per_node > 1 && layout.nodes() > 1 && layout.most_gpus() > 1;
  way.collective = collective_of(way.estimate.algorithm, outcome, rails);
  way.protocol = protocol_of(cluster, way.machine, way.estimate, outcome, bytes);
  return way;
}

}  // namespace gradcast
