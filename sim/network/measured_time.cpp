#include "sim/network/measured_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/network/collective_choice.hpp"

namespace gradcast {
namespace {

/// The order in which a library's times are preferred: smaller is better; nullopt: another's. The
/// same version of NCCL comes first, then an unknown one, then the nearest older one, then the
/// nearest newer one.
std::optional<std::tuple<int, int>> distance(const std::string& measured,
                                             const std::optional<NcclVersion>& nccl,
                                             const LibraryRule* library) {
  if (!nccl && library != nullptr) {
    const std::string_view own = library->name.starts_with("gloo") ? "gloo" : "mpi";
    return measured == own ? std::optional(std::tuple(0, 0)) : std::nullopt;
  }
  if (!measured.starts_with("nccl")) return std::nullopt;
  if (measured == "nccl") return std::tuple(1, 0);
  const std::optional<NcclVersion> its = nccl_of(measured);
  if (!its) return std::tuple(4, 0);
  const auto number = [](const NcclVersion& version) {
    return 10'000 * version.minor + version.patch;
  };
  const int apart = number(*its) - number(nccl.value_or(kUsualNccl));
  return std::tuple(apart == 0 ? 0 : apart < 0 ? 2 : 3, std::abs(apart));
}

/// The cluster of the file on other nodes, with the software that the forecast's cluster has: that
/// is in the measured times.
Cluster described_on(const Cluster& cluster, int nodes, int gpus) {
  Cluster described = cluster.measured->described;
  described.nodes = nodes;
  described.gpus_per_node = gpus;
  described.nic_share = cluster.nic_share;
  described.by_sockets = cluster.by_sockets;
  described.per_message_latency = cluster.per_message_latency;
  described.per_collective_latency = cluster.per_collective_latency;
  described.eager_limit = cluster.eager_limit;
  described.reduction_bandwidth = cluster.reduction_bandwidth;
  described.lay_out_ranks();
  return described;
}

/// A time at `bytes` on the straight line through two points.
double between(const std::pair<double, double>& one, const std::pair<double, double>& other,
               double bytes) {
  if (other.first <= one.first) return one.second;
  return one.second + (other.second - one.second) * (bytes - one.first) / (other.first - one.first);
}

/// Distance of a line's inner points from the straight line between their neighbours: the root of
/// the mean square of the logarithms, over points within three doublings of `bytes`. nullopt with
/// fewer than three of them.
std::optional<double> roughness(const std::vector<std::pair<double, double>>& line, double bytes) {
  constexpr double kNear = 8;
  double sum = 0;
  int count = 0;
  for (std::size_t i = 1; i + 1 < line.size(); ++i) {
    if (line[i].first < bytes / kNear || line[i].first > bytes * kNear) continue;
    const double off = std::log(line[i].second / between(line[i - 1], line[i + 1], line[i].first));
    sum += off * off;
    ++count;
  }
  if (count < 3) return std::nullopt;
  return std::sqrt(sum / count);
}

/// A repeated measurement differs by this much at least, and each doubling of the nodes adds that
/// (docs/accuracy.md, "Measured collectives").
constexpr double kLeastDeviation = 0.02;
constexpr double kDeviationOfDoubling = 0.1;

}  // namespace

MeasuredTimes::MeasuredTimes(const Cluster& cluster, std::optional<NcclVersion> nccl,
                             const LibraryRule* library)
    : cluster_(cluster), nccl_(nccl), library_(library) {
  using Distance = std::tuple<int, int>;
  std::map<std::pair<Kind, int>, Distance> nearest;
  for (const CurvePoint& point : cluster.measured->curve) {
    const auto its = distance(point.library, nccl, library);
    if (!its) continue;
    const Kind kind{point.collective, point.gpus_per_node};
    const auto [at, is_new] = nearest.try_emplace({kind, point.nodes}, *its);
    Line& line = lines_[kind][point.nodes];
    if (!is_new && *its > at->second) continue;
    if (!is_new && *its < at->second) line.clear();
    at->second = *its;
    line.emplace_back(static_cast<double>(point.bytes.count), point.seconds.count());
  }
}

double MeasuredTimes::ratio_on(const Line& line, int nodes, int gpus, Outcome outcome,
                               double bytes) const {
  const double inside = std::clamp(bytes, line.front().first, line.back().first);
  const auto after = std::find_if(line.begin() + 1, line.end() - 1,
                                  [&](const auto& point) { return point.first >= inside; });
  const double time = line.size() > 1 ? between(*(after - 1), *after, inside) : line.front().second;
  return time / modelled_time(described_on(cluster_, nodes, gpus), nccl_, library_, outcome,
                              Bytes{std::llround(inside)})
                    .count();
}

std::optional<MeasuredTimes::Basis> MeasuredTimes::basis_of(const RankLayout& layout,
                                                            Outcome outcome) const {
  if (!layout.even() || !cluster_.measured->described.overrides().empty()) return std::nullopt;
  const auto lines = lines_.find({std::string(curve_name(outcome)), layout.gpus_of(0)});
  if (lines == lines_.end()) return std::nullopt;
  const std::map<int, Line>& by_nodes = lines->second;
  const int nodes = layout.nodes();
  if (const auto same = by_nodes.find(nodes); same != by_nodes.end()) return Basis{&*same, &*same};
  // Times inside one node say nothing of the network between nodes.
  const auto first = by_nodes.upper_bound(1);
  if (nodes == 1 || first == by_nodes.end()) return std::nullopt;
  const auto above = by_nodes.upper_bound(nodes);
  if (above == first) return Basis{&*first, &*first};
  const auto below = std::prev(above);
  return Basis{&*below, above == by_nodes.end() ? &*below : &*above};
}

double MeasuredTimes::bytes_of(const RankLayout& layout, Outcome outcome, Bytes payload) {
  const int parts = outcome == Outcome::AllGathered ? layout.ranks() : 1;
  return static_cast<double>(payload.count) * parts;
}

double MeasuredTimes::stretch(const RankLayout& layout, Outcome outcome, Bytes payload) const {
  if (layout.ranks() == 1) return 1;
  const std::optional<Basis> basis = basis_of(layout, outcome);
  if (!basis) return 1;
  const double bytes = std::max(1.0, bytes_of(layout, outcome, payload));
  const auto ratio = [&](const std::pair<const int, Line>& at) {
    return ratio_on(at.second, at.first, layout.gpus_of(0), outcome, bytes);
  };
  const auto& [below, above] = *basis;
  if (below == above) return ratio(*below);
  const double way = std::log(static_cast<double>(layout.nodes()) / below->first) /
                     std::log(static_cast<double>(above->first) / below->first);
  const std::pair ratios{ratio(*below), ratio(*above)};
  const double between_both =
      std::exp((1 - way) * std::log(ratios.first) + way * std::log(ratios.second));
  // The model may choose another algorithm on these nodes than on either side, whose ratio says
  // nothing of it. The time lies between those of both sides all the same.
  const auto modelled = [&](int nodes) {
    return modelled_time(described_on(cluster_, nodes, layout.gpus_of(0)), nccl_, library_, outcome,
                         Bytes{std::llround(bytes)})
        .count();
  };
  const double here = modelled(layout.nodes());
  const auto [least, most] =
      std::minmax({ratios.first * modelled(below->first), ratios.second * modelled(above->first)});
  return std::clamp(between_both * here, least, most) / here;
}

std::optional<double> MeasuredTimes::deviation(const RankLayout& layout, Outcome outcome,
                                               Bytes payload) const {
  const std::optional<Basis> basis = basis_of(layout, outcome);
  if (!basis || layout.ranks() == 1) return std::nullopt;
  const double bytes = std::max(1.0, bytes_of(layout, outcome, payload));
  const Bytes whole{std::llround(bytes)};
  Cluster now = cluster_;
  now.measured = nullptr;
  const Seconds then = modelled_time(described_on(cluster_, layout.nodes(), layout.gpus_of(0)),
                                     nccl_, library_, outcome, whole);
  constexpr double kSame = 1e-3;
  if (std::abs(modelled_time(now, nccl_, library_, outcome, whole) / then - 1) > kSame)
    return std::nullopt;
  double rough = kLeastDeviation;
  double doublings = INFINITY;
  for (const auto* at : {basis->below, basis->above}) {
    const Line& line = at->second;
    const std::optional<double> its = roughness(line, bytes);
    if (!its || bytes < line.front().first || bytes > line.back().first) return std::nullopt;
    rough = std::max(rough, *its);
    doublings =
        std::min(doublings, std::abs(std::log2(static_cast<double>(layout.nodes()) / at->first)));
  }
  return std::hypot(rough, kDeviationOfDoubling * doublings);
}

std::string MeasuredTimes::words(const RankLayout& layout, Outcome outcome, Bytes payload) const {
  const std::string name(curve_name(outcome));
  const std::optional<Basis> basis = basis_of(layout, outcome);
  if (!basis) return "no " + name + " measured on such nodes, so by the model";
  const auto& [below, above] = *basis;
  const auto on = [](int count) {
    return std::to_string(count) + (count == 1 ? " node" : " nodes");
  };
  if (below != above)
    return name + " between those measured on " + std::to_string(below->first) + " and " +
           on(above->first);
  if (below->first != layout.nodes())
    return name + " by the model, scaled by times measured on " + on(below->first);
  const double bytes = bytes_of(layout, outcome, payload);
  const auto at = [](double edge) { return to_text(Bytes{std::llround(edge)}); };
  const Line& line = below->second;
  if (payload.count > 0 && (bytes < line.front().first || bytes > line.back().first))
    return name + " measured from " + at(line.front().first) + " to " + at(line.back().first) +
           ", outside of that by the model, scaled";
  return name + " as measured";
}

Seconds modelled_time(const Cluster& cluster, std::optional<NcclVersion> nccl,
                      const LibraryRule* library, Outcome outcome, Bytes bytes) {
  const CollectiveChoice choice(cluster, nccl, library);
  CollectiveLoad load{.payload = bytes};
  if (outcome == Outcome::AllGathered)
    load.payload.count = std::max<std::int64_t>(1, bytes.count / cluster.ranks());
  const CollectiveUse use = choice.to(outcome, load);
  load.protocol = use.protocol;
  return choice.time(*use.collective, load);
}

std::optional<NcclVersion> nccl_of(std::string_view library) {
  if (!library.starts_with(kNcclPrefix)) return std::nullopt;
  try {
    return parse_nccl_version(library.substr(kNcclPrefix.size()));
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

std::optional<Outcome> outcome_named(std::string_view collective) {
  for (const Outcome outcome : {Outcome::AllReduced, Outcome::AllGathered, Outcome::Scattered,
                                Outcome::Broadcast, Outcome::Passed})
    if (curve_name(outcome) == collective) return outcome;
  return std::nullopt;
}

std::string_view curve_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::AllReduced:
      return "all-reduce";
    case Outcome::AllGathered:
      return "all-gather";
    case Outcome::Scattered:
      return "reduce-scatter";
    case Outcome::Broadcast:
      return "broadcast";
    case Outcome::Passed:
      break;
  }
  return "send-receive";
}

}  // namespace gradcast
