#include "sim/network/library_rule.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "sim/network/gloo_broadcast.hpp"

namespace gradcast {
namespace {

// Gloo.

constexpr std::int64_t kGlooSegment = std::int64_t{1} << 20;

/// Gloo cuts a rank's chunk into two segments or more, of at most 1 MiB, and has two on their way.
/// While one travels, the other is sent: a step's latency counts only as far as it is longer than
/// that. So a step takes max(chunk / B, segment / B + latency) for two segments a chunk.
Protocol two_in_flight(const Cluster& cluster, Bytes chunk) {
  const Bytes segment{std::min((chunk.count + 1) / 2, kGlooSegment)};
  const auto hidden = [&](const Link& link) {
    return std::min(link.latency, segment / link.bandwidth);
  };
  Protocol protocol;
  protocol.name = "two-in-flight";
  protocol.inside = -hidden(cluster.intra);
  protocol.between = -hidden(cluster.nic);
  return protocol;
}

/// With two ranks, both directions share a connection. Gloo's all-gather sends each half of a chunk
/// before it says, on the same connection, that it is ready for the peer's. So the rank that comes
/// first waits while the other's first half travels. An exchange takes the time of three halves,
/// not two.
Protocol one_waits(Protocol protocol) {
  protocol.name = "one-waits";
  protocol.link_time = 1.5;
  return protocol;
}

/// PyTorch's ProcessGroupGloo scatters sums by an all-reduce of everything.
CollectiveUse by_gloo(const Cluster& cluster, Outcome outcome, int ranks, Bytes bytes) {
  if (outcome == Outcome::Broadcast) return {&gloo_broadcast, two_in_flight(cluster, bytes)};
  if (outcome == Outcome::AllGathered) {
    const Protocol protocol = two_in_flight(cluster, bytes);
    return {find_collective("ring-all-gather"), ranks == 2 ? one_waits(protocol) : protocol};
  }
  return {find_collective("ring-all-reduce"), two_in_flight(cluster, chunk(bytes, 0, ranks))};
}

// Open MPI.

constexpr std::string_view kDoubling = "recursive-doubling-all-reduce";
constexpr std::string_view kHalving = "recursive-halving-doubling";
constexpr std::string_view kRing = "ring-all-reduce";
constexpr std::string_view kSegmented = "segmented-ring-all-reduce";
constexpr std::string_view kReduceBroadcast = "reduce-broadcast";
constexpr std::string_view kGatherDoubling = "recursive-doubling-all-gather";
constexpr std::string_view kGatherBruck = "bruck-all-gather";
constexpr std::string_view kGatherRing = "ring-all-gather";

/// Over TCP so much of a message goes in fragments, and the rest of a larger one when the receiver
/// asks for it (btl_tcp_min_rdma_pipeline_size of 4.1; `ompi_info --param btl tcp --level 9`).
constexpr double kOpenMpiFragments = 192 << 10;

/// If two ranks exchange such messages over their one connection, the receiver's request may wait
/// behind its own data: then the directions take turns. A ring of more than two has a connection
/// for each direction. Ranks of a node that share its NIC fill the pauses.
CollectiveUse in_turns(CollectiveUse use, const Cluster& cluster, int ranks, Bytes bytes) {
  if (use.collective == nullptr) return use;
  if (network_kind_of(cluster) != NetworkKind::Tcp || cluster.gpus_per_node > 1) return use;
  const std::string_view name = use.collective->name;
  const auto power = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  const auto whole = static_cast<double>(bytes.count);
  double exchanged = 0;  // of what a rank sends, in bytes
  double all = 0;
  const auto exchange = [&](double part) {
    all += part;
    exchanged += std::max(0.0, part - kOpenMpiFragments);
  };
  if (name == kHalving) {
    for (int distance = 1; distance < power; distance *= 2) exchange(whole / (2 * distance));
    if (power != ranks) all += whole;  // to a partner, one way; and so back
  } else if (name == kGatherDoubling) {
    for (int held = 1; held < power; held *= 2) exchange(whole * held);
  } else if (ranks == 2) {
    exchange(use.collective->serves == Aggregation::AllGather ? whole : whole / 2);
  }
  if (exchanged == 0) return use;
  use.protocol.name = "in-turns";
  use.protocol.link_time = 1 + cluster.turns_share * exchanged / all;
  return use;
}

CollectiveUse named(std::string_view name) { return {find_collective(name)}; }

bool is_power_of_two(int ranks) { return std::has_single_bit(static_cast<unsigned>(ranks)); }

/// Up to 4.0.
CollectiveUse chosen_by_40(Outcome outcome, int ranks, Bytes bytes) {
  switch (outcome) {
    case Outcome::AllReduced: {
      constexpr Bytes kSmall{10'000};
      constexpr Bytes kSegment{1 << 20};
      if (bytes < kSmall) return named("recursive-doubling-all-reduce");
      return named(bytes > kSegment * ranks ? "segmented-ring-all-reduce" : "ring-all-reduce");
    }
    case Outcome::AllGathered: {
      constexpr Bytes kSmall{50'000};  // of all ranks' contributions
      if (bytes * ranks >= kSmall || ranks == 2) return named("ring-all-gather");
      return named(is_power_of_two(ranks) ? "recursive-doubling-all-gather" : "bruck-all-gather");
    }
    case Outcome::Broadcast:
      return {};
    case Outcome::Scattered:
    case Outcome::Passed:
      break;
  }
  return named("ring-reduce-scatter");
}

/// Up to so many ranks and bytes, exclusive.
struct Row {
  int ranks;
  std::int64_t bytes;
  std::string_view collective;
};

constexpr int kAnyRanks = std::numeric_limits<int>::max();
constexpr std::int64_t kAnyBytes = std::numeric_limits<std::int64_t>::max();

constexpr Row kAllReduce41[] = {
    {4, 8, kRing},
    {4, 4096, kDoubling},
    {4, 8192, kRing},
    {4, 16384, kDoubling},
    {4, 65536, kRing},
    {4, 262144, kSegmented},
    {4, kAnyBytes, kHalving},
    {8, 16, kRing},
    {8, 8192, kDoubling},
    {8, kAnyBytes, kHalving},
    {16, 8192, kDoubling},
    {16, kAnyBytes, kHalving},
    {32, 64, kSegmented},
    {32, 4096, kDoubling},
    {32, kAnyBytes, kHalving},
    {64, 128, kSegmented},
    {64, kAnyBytes, kHalving},
    {128, 262144, kDoubling},
    {128, kAnyBytes, kHalving},
    {256, 131072, kReduceBroadcast},
    {256, 262144, kDoubling},
    {256, kAnyBytes, kHalving},
    {512, 4096, kReduceBroadcast},
    {512, kAnyBytes, kHalving},
    {2048, 2048, kReduceBroadcast},
    {2048, 16384, kDoubling},
    {2048, kAnyBytes, kHalving},
    {4096, 2048, kReduceBroadcast},
    {4096, 4096, kSegmented},
    {4096, 16384, kDoubling},
    {4096, kAnyBytes, kHalving},
    {kAnyRanks, 2048, kReduceBroadcast},
    {kAnyRanks, 16384, kSegmented},
    {kAnyRanks, 32768, kDoubling},
    {kAnyRanks, kAnyBytes, kRing},
};

/// A ring stands for Open MPI's exchange with neighbours: it carries as many bytes, in twice as
/// many steps. A few rows below 512 bytes that alternate are one.
constexpr Row kAllGather41[] = {
    {3, kAnyBytes, kGatherRing},  // two ranks exchange
    {32, kAnyBytes, kGatherDoubling},   {64, 1024, kGatherDoubling},
    {64, kAnyBytes, kGatherRing},       {256, 512, kGatherDoubling},
    {256, kAnyBytes, kGatherRing},      {512, 32, kGatherDoubling},
    {512, 128, kGatherBruck},           {512, 1024, kGatherDoubling},
    {512, kAnyBytes, kGatherRing},      {1024, 64, kGatherDoubling},
    {1024, 256, kGatherBruck},          {1024, 2048, kGatherDoubling},
    {1024, kAnyBytes, kGatherRing},     {kAnyRanks, 512, kGatherBruck},
    {kAnyRanks, 4096, kGatherDoubling}, {kAnyRanks, kAnyBytes, kGatherRing},
};

CollectiveUse row_for(std::span<const Row> rows, int ranks, Bytes bytes) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& each) {
    return ranks < each.ranks && bytes.count < each.bytes;
  });
  return named(row == rows.end() ? rows.back().collective : row->collective);
}

CollectiveUse chosen_by_41(Outcome outcome, int ranks, Bytes bytes) {
  switch (outcome) {
    case Outcome::AllReduced:
      return row_for(kAllReduce41, ranks, bytes);
    case Outcome::AllGathered:
      return row_for(kAllGather41, ranks, bytes);
    case Outcome::Broadcast:
      return {};
    case Outcome::Scattered:
    case Outcome::Passed:
      break;
  }
  return named("ring-reduce-scatter");
}

CollectiveUse by_open_mpi_40(const Cluster& cluster, Outcome outcome, int ranks, Bytes bytes) {
  return in_turns(chosen_by_40(outcome, ranks, bytes), cluster, ranks, bytes);
}

CollectiveUse by_open_mpi_41(const Cluster& cluster, Outcome outcome, int ranks, Bytes bytes) {
  return in_turns(chosen_by_41(outcome, ranks, bytes), cluster, ranks, bytes);
}

constexpr LibraryRule kRules[] = {
    {"gloo", "Gloo", "Gloo's ring, two segments in flight",
     "facebookincubator/gloo@1d9e62a gloo/allreduce.cc, allgather.cc, broadcast.cc, "
     "transport/tcp/pair.cc; "
     "pytorch/pytorch "
     "torch/csrc/distributed/c10d/ProcessGroupGloo.cpp",
     by_gloo},
    {"open-mpi", "Open MPI 4.1", "Open MPI's decision since 4.1, by ranks and bytes",
     "kunpengcompute/hmpi@0e41238, of Open MPI 4.1: "
     "ompi/mca/coll/tuned/coll_tuned_decision_fixed.c",
     by_open_mpi_41},
    {"open-mpi-4.0", "Open MPI 4.0", "Open MPI's decision up to 4.0, by bytes",
     "open-mpi/ompi@010080e ompi/mca/coll/tuned/coll_tuned_decision_fixed.c", by_open_mpi_40},
};

}  // namespace

std::span<const LibraryRule> library_rules() { return kRules; }

const LibraryRule* find_library_rule(std::string_view name) {
  for (const LibraryRule& rule : kRules)
    if (rule.name == name) return &rule;
  return nullptr;
}

}  // namespace gradcast
