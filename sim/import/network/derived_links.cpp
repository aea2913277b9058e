#include "sim/import/network/derived_links.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/network/measured_time.hpp"

namespace gradcast {
namespace {

constexpr Bytes kSmall{64 << 10};
constexpr Bytes kLarge{1 << 20};
/// A NIC of 400 Gb/s, the fastest that is common. Slingshot's have 200.
constexpr double kFastestNic = 50e9;
constexpr double kSlingshotNic = 25e9;

/// A NIC of so many Gbit/s carries so many bytes of data a second.
struct NominalRate {
  int gigabits;
  double goodput;
};
constexpr NominalRate kNominalRates[] = {{1, .118e9}, {10, 1.18e9}, {25, 2.94e9},
                                         {40, 4.7e9}, {50, 5.88e9}, {100, 12e9},
                                         {200, 24e9}, {400, 47e9},  {800, 94e9}};
constexpr NominalRate kSlingshotRates[] = {{200, kSlingshotNic}};

/// The bounds of a search for a latency.
constexpr double kLeastLatency = 1e-7, kMostLatency = 1e-1;

/// More measured times than these would take long, and decide nothing else.
constexpr std::size_t kMostDeciding = 64;

/// Whether NCCL's model has a time for it.
bool of_nccl(const CurvePoint& point) {
  return point.library.starts_with("nccl") && outcome_named(point.collective);
}

/// Whether it may decide a link's bandwidth.
bool decides_bandwidth(const CurvePoint& point) { return point.bytes >= kLarge && of_nccl(point); }

/// The two smallest or largest sizes of each collective and layout on one or on several nodes; of
/// very many such times an even choice.
std::vector<CurvePoint> edge(const CollectiveCurve& curve, bool several, bool smallest) {
  std::vector<CurvePoint> taken;
  const auto line_of = [](const CurvePoint& point) {
    return std::tie(point.collective, point.gpus_per_node, point.library, point.nodes);
  };
  for (auto first = curve.begin(); first != curve.end();) {
    const auto last = std::find_if(first, curve.end(), [&](const CurvePoint& point) {
      return line_of(point) != line_of(*first);
    });
    const auto count = std::min<std::ptrdiff_t>(2, last - first);
    for (auto at = smallest ? first : last - count; at != (smallest ? first + count : last); ++at) {
      const bool fits = smallest ? at->bytes <= kSmall && of_nccl(*at) : decides_bandwidth(*at);
      if (fits && (at->nodes > 1) == several) taken.push_back(*at);
    }
    first = last;
  }
  const std::size_t step = (taken.size() + kMostDeciding - 1) / kMostDeciding;
  for (std::size_t i = 0; step > 1 && i * step < taken.size(); ++i) taken[i] = taken[i * step];
  if (step > 1) taken.resize((taken.size() + step - 1) / step);
  return taken;
}

/// Mean logarithm of modelled over measured times.
double excess(const Cluster& cluster, const std::vector<CurvePoint>& points) {
  double sum = 0;
  for (const CurvePoint& point : points) {
    Cluster on = cluster;
    on.nodes = point.nodes;
    on.gpus_per_node = point.gpus_per_node;
    leave_links(on, cluster);
    on.lay_out_ranks();
    settle_pcie(on);
    const Seconds time = modelled(on, nccl_of(point.library).value_or(kUsualNccl), nullptr,
                                  *outcome_named(point.collective), point.bytes)
                             .time;
    sum += std::log(time / point.seconds);
  }
  return sum / static_cast<double>(points.size());
}

/// The value between the bounds, in equal ratios, at which the model meets the times; `rising`:
/// whether a larger one makes collectives longer.
double meeting(Cluster& cluster, const std::vector<CurvePoint>& points, double low, double high,
               bool rising, const std::function<void(double)>& set) {
  constexpr int kHalvings = 24;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = std::sqrt(low * high);
    set(middle);
    ((excess(cluster, points) > 0) == rising ? high : low) = middle;
  }
  const double found = std::sqrt(low * high);
  set(found);
  return found;
}

std::string words_for(const std::vector<CurvePoint>& points, const char* size) {
  return "derived: with it the model meets " + std::to_string(points.size()) + " measured times " +
         size + " on average";
}

constexpr const char* kLeast = "derived: the least that carries the measured times";

/// The largest bandwidth up to the one found that changes the times, and at least `carrying`. Where
/// another link binds, the search goes on to its bound, and says nothing.
double bounded(Cluster& cluster, const std::vector<CurvePoint>& points, double carrying,
               Link& link) {
  constexpr double kFarAbove = 1.5;
  constexpr double kUnchanged = 0.05;
  const double found = link.bandwidth.value;
  if (!(carrying > 0) || found <= kFarAbove * carrying) return found;
  const auto with = [&](double value) {
    link.bandwidth.value = value;
    return excess(cluster, points);
  };
  const double limit = with(found) + kUnchanged;
  double low = carrying, high = found;
  if (with(low) <= limit) high = low;
  constexpr int kHalvings = 12;
  for (int i = 0; i < kHalvings && high > low; ++i) {
    const double middle = std::sqrt(low * high);
    (with(middle) > limit ? low : high) = middle;
  }
  link.bandwidth.value = found;
  return found > kFarAbove * high ? high : found;
}

std::span<const NominalRate> rates_of(NetworkKind kind) {
  if (kind == NetworkKind::Slingshot) return kSlingshotRates;
  return kNominalRates;
}

/// NCCL chooses by the rate that a NIC has, and does not know that less is reached of it. Two rates
/// may meet the same times: on two nodes a tree asks little more than half of the NICs for what a
/// ring asks. So the nearest nominal rate is taken, with the share of it that meets the times. Over
/// sockets any share is usual, and the lowest rate that carries the times is taken.
/// `small`: the times that the latency meets; empty if it is known. False: no nominal rate does.
bool take_nominal_rate(ImportedCluster& measured, const std::vector<CurvePoint>& large,
                       const std::vector<CurvePoint>& small) {
  Cluster& cluster = measured.cluster;
  const NetworkKind kind = network_kind_of(cluster);
  const Link found = cluster.nic;
  constexpr double kLeastShare = .05, kMostShare = 1.05;
  // The mean of the times' logarithms may be off by this much.
  const double met = std::abs(excess(cluster, large)) + .03;
  double nearest = INFINITY, share = kAllOfNic;
  int gigabits = 0;
  Link nominal = found;
  for (const NominalRate& rate : rates_of(kind)) {
    cluster.nic = {BytesPerSecond{rate.goodput}, found.latency};
    double its = 1;
    for (int round = 0; round < 2; ++round) {
      its = meeting(cluster, large, kLeastShare, kMostShare, false,
                    [&](double value) { cluster.nic_share = value; });
      if (!small.empty())
        meeting(cluster, small, kLeastLatency, kMostLatency, true,
                [&](double value) { cluster.nic.latency = Seconds{value}; });
    }
    if (std::abs(excess(cluster, large)) > met) continue;
    // Another link binds the times whatever the share.
    if (its > .999 * kMostShare) its = std::min(kAllOfNic, found.bandwidth.value / rate.goodput);
    if (const double off = std::abs(std::log(its)); off < nearest) {
      nearest = off;
      share = its;
      gigabits = rate.gigabits;
      nominal = cluster.nic;
    }
    if (kind == NetworkKind::Tcp) break;
  }
  cluster.nic = nominal;
  if (!small.empty()) cluster.nic.latency = Seconds{rounded_to(3, nominal.latency.count())};
  cluster.nic_share = std::min(kAllOfNic, rounded_to(4, share));
  if (gigabits == 0 || share >= kAllOfNic) {
    // A little more than the goodput is a NIC of that rate too.
    if (share > kAllOfNic)
      cluster.nic.bandwidth.value = rounded_to(4, share * nominal.bandwidth.value);
    measured.sources["nic_share"] = kAllOfNicWords;
    return false;
  }
  measured.sources["nic_bandwidth"] =
      "inferred: the goodput of " + std::to_string(gigabits) + " Gbit/s, the " +
      (kind == NetworkKind::Tcp ? "lowest nominal rate that carries the measured times"
                                : "nominal rate nearest to what the measured times take");
  return true;
}

/// One link, of NICs or inside nodes. `carrying`: the least bandwidth with which it carries the
/// measured bytes.
void derive(ImportedCluster& measured, bool several, Link& link, const std::string& of,
            double carrying) {
  Cluster& cluster = measured.cluster;
  const std::vector<CurvePoint> large = edge(measured.curve, several, false);
  const std::vector<CurvePoint> small = edge(measured.curve, several, true);
  const bool bandwidth = !large.empty() && !measured.sources.contains(of + "_bandwidth");
  const bool latency = !small.empty() && !measured.sources.contains(of + "_latency");
  constexpr double kMostBandwidth = 4e12, kAtBound = 0.99;
  const Link usual = link;
  // A latency takes part in large sizes' times too, and a bandwidth in those of small ones.
  bool least = false, unbounded = false;
  for (int round = 0; round < 2; ++round) {
    if (bandwidth) {
      const double met = meeting(cluster, large, 1e6, kMostBandwidth, false,
                                 [&](double value) { link.bandwidth.value = value; });
      const double its = bounded(cluster, large, carrying, link);
      least = its < met;
      // Without a bound on either side the times say nothing of this link.
      unbounded = met > kAtBound * kMostBandwidth && !least;
      link.bandwidth = unbounded ? usual.bandwidth : BytesPerSecond{rounded_to(4, its)};
    }
    if (latency)
      link.latency =
          Seconds{rounded_to(3, meeting(cluster, small, kLeastLatency, kMostLatency, true,
                                        [&](double value) { link.latency = Seconds{value}; }))};
  }
  if (bandwidth && !unbounded) drop_deviation(cluster, of + "_bandwidth");
  const bool nominal =
      several && bandwidth && !unbounded &&
      take_nominal_rate(measured, large, latency ? small : std::vector<CurvePoint>{});
  if (bandwidth && !unbounded)
    measured.sources[nominal ? "nic_share" : of + "_bandwidth"] =
        least ? std::string(kLeast) + ", as another link binds them"
              : words_for(large, "of large sizes");
  if (!latency) return;
  // NCCL's steps have a latency of their own, up to which a link's changes nothing.
  const bool none = link.latency.count() < 1.1 * kLeastLatency;
  if (none) link.latency = usual.latency;
  drop_deviation(cluster, of + "_latency");
  measured.sources[of + "_latency"] =
      none ? "a ring step in NCCL's own model: measured times of up to 64 KiB are no longer than "
             "with that"
           : words_for(small, "of up to 64 KiB");
}

/// Bytes a second that pass a GPU in the fastest ring on one or several nodes. They are those that
/// leave a node, too. Where the NVLink switch adds up, a GPU hands it each byte of an all-reduce
/// once.
double bytes_of_ring(const ImportedCluster& measured, bool several, bool added_up) {
  double most = 0;
  for (const CurvePoint& point : measured.curve)
    if (const auto outcome = outcome_named(point.collective);
        outcome && (point.nodes > 1) == several &&
        point.gpus_per_node == measured.cluster.gpus_per_node) {
      const int ranks = point.nodes * point.gpus_per_node;
      const double share = ring_steps(*outcome, ranks) / ranks;
      most = std::max(most, (added_up ? std::min(share, 1.) : share) *
                                static_cast<double>(point.bytes.count) / point.seconds.count());
    }
  return most;
}

/// A link inside nodes carries at least what times of several nodes send through a GPU. They are
/// asked where no time of one node says more.
void raise_inside(ImportedCluster& measured) {
  Cluster& cluster = measured.cluster;
  if (cluster.gpus_per_node == 1 || measured.sources.contains("intra_bandwidth")) return;
  const double passing = bytes_of_ring(measured, true, cluster.nvlink_sharp == YesNo::Yes);
  if (passing <= cluster.intra.bandwidth.value) return;
  // NICs may bind, or PCIe: it is given room, and a deviation so wide that either may.
  constexpr double kRoom = 1.5;  // the measured times say two thirds
  constexpr double kDeviation = .3;
  const bool guessed = guesses_pcie(cluster);
  cluster.intra.bandwidth.value = rounded_to(4, guessed ? kRoom * passing : passing);
  drop_deviation(cluster, "intra_bandwidth");
  measured.sources["intra_bandwidth"] =
      guessed ? "not measured: PCIe carries two thirds of it at least, as the measured times show"
              : kLeast;
  if (guessed) cluster.deviations.push_back({"intra_bandwidth", kDeviation});
}

/// All links, on a network whose kind is settled.
void derive_known_kind(ImportedCluster& measured, bool several) {
  Cluster& cluster = measured.cluster;
  if (several && !measured.sources.contains("nics_per_node")) {
    cluster.nics_per_node = fewest_nics(bytes_of_ring(measured, true, false), cluster.gpus_per_node,
                                        network_kind_of(cluster));
    if (cluster.nics_per_node > 1)
      measured.sources["nics_per_node"] =
          "inferred: as few as carry the measured bandwidth at " +
          std::string(network_kind_of(cluster) == NetworkKind::Slingshot ? "200" : "400") +
          " Gb/s each";
  }
  derive(measured, false, cluster.intra, "intra",
         bytes_of_ring(measured, false, cluster.nvlink_sharp == YesNo::Yes));
  raise_inside(measured);
  derive(measured, true, cluster.nic, "nic",
         bytes_of_ring(measured, true, false) / cluster.nics_per_node);
}

/// The cluster with the links that it has if its network is of that kind.
ImportedCluster derived_as(NetworkKind kind, ImportedCluster measured) {
  measured.cluster.network_kind = kind;
  derive_known_kind(measured, true);
  return measured;
}

/// The kind of a network that nothing names, by its latency.
NetworkKind kind_by_latency(Cluster cluster) {
  cluster.network_kind = NetworkKind::Unknown;
  return network_kind_of(cluster);
}

}  // namespace

double least_leaving_node(const std::vector<CurvePoint>& points) {
  double most = 0;
  for (const CurvePoint& point : points)
    if (point.nodes > 1 && decides_bandwidth(point))
      most =
          std::max(most, ring_steps(*outcome_named(point.collective), point.nodes) / point.nodes *
                             static_cast<double>(point.bytes.count) / point.seconds.count());
  return most;
}

int fewest_nics(double bytes_per_second, int gpus, NetworkKind kind) {
  const double fastest = kind == NetworkKind::Slingshot ? kSlingshotNic : kFastestNic;
  for (int nics = 1; nics < gpus; ++nics)
    if (gpus % nics == 0 && bytes_per_second / nics <= fastest) return nics;
  return std::max(1, gpus);
}

void derive_links(ImportedCluster& measured) {
  const bool several = std::any_of(measured.curve.begin(), measured.curve.end(),
                                   [](const CurvePoint& point) { return point.nodes > 1; });
  const bool unsaid = measured.cluster.network_kind == NetworkKind::Unknown &&
                      !measured.sources.contains("nic_latency");
  if (!several || !unsaid) {
    derive_known_kind(measured, several);
    return;
  }
  // The latency tells the kind where nothing names it, but not while it is searched: NCCL chooses
  // otherwise on the other side of that edge.
  constexpr double kMostOfSockets = 12.5e9;
  ImportedCluster sockets = derived_as(NetworkKind::Tcp, measured);
  const bool by_sockets = kind_by_latency(sockets.cluster) == NetworkKind::Tcp &&
                          bytes_of_ring(measured, true, false) <= kMostOfSockets;
  ImportedCluster fast = derived_as(NetworkKind::InfiniBand, std::move(measured));
  const bool is_slow = kind_by_latency(fast.cluster) == NetworkKind::Tcp;
  measured = std::move(by_sockets && is_slow ? sockets : fast);
  if (is_slow && !by_sockets)
    measured.sources["network_kind"] =
        "inferred: not tcp, whose sockets would take longer or have another latency";
  else
    measured.cluster.network_kind = NetworkKind::Unknown;
}

}  // namespace gradcast
