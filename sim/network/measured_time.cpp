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

constexpr std::string_view kNcclPrefix = "nccl-";

/// The order in which a library's times are preferred: smaller is better; nullopt: another's.
/// Of NCCL's versions the same comes first, then an unknown one, then the nearest older one, then
/// the nearest newer one.
std::optional<std::tuple<int, int>> distance(const std::string& measured,
                                             const std::optional<NcclVersion>& nccl,
                                             const LibraryRule* library) {
  if (!nccl && library != nullptr) {
    const std::string_view own = library->name.starts_with("gloo") ? "gloo" : "mpi";
    return measured == own ? std::optional(std::tuple(0, 0)) : std::nullopt;
  }
  if (!measured.starts_with("nccl")) return std::nullopt;
  if (measured == "nccl") return std::tuple(1, 0);
  const auto number = [](const NcclVersion& version) {
    return 10'000 * version.minor + version.patch;
  };
  try {
    const NcclVersion its = parse_nccl_version(measured.substr(kNcclPrefix.size()));
    const int apart = number(its) - number(nccl.value_or(kUsualNccl));
    return std::tuple(apart == 0 ? 0 : apart < 0 ? 2 : 3, std::abs(apart));
  } catch (const ValueError&) {
    return std::tuple(4, 0);  // older than NCCL's rules here
  }
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
  const auto& [b1, t1] = line.size() > 1 ? *(after - 1) : line.front();
  const auto& [b2, t2] = line.size() > 1 ? *after : line.front();
  const double time = b2 > b1 ? t1 + (t2 - t1) * (inside - b1) / (b2 - b1) : t1;
  return time / modelled_time(described_on(cluster_, nodes, gpus), nccl_, library_, outcome,
                              Bytes{std::llround(inside)})
                    .count();
}

double MeasuredTimes::stretch(const RankLayout& layout, Outcome outcome, Bytes payload) const {
  const Cluster& described = cluster_.measured->described;
  if (!layout.even() || !described.overrides().empty() || layout.ranks() == 1) return 1;
  const int nodes = layout.nodes();
  const int gpus = layout.gpus_of(0);
  const auto lines = lines_.find({std::string(curve_name(outcome)), gpus});
  if (lines == lines_.end()) return 1;
  const int parts = outcome == Outcome::AllGathered ? layout.ranks() : 1;
  const double bytes = std::max(1.0, static_cast<double>(payload.count) * parts);
  const auto ratio = [&](const auto& at) {
    return ratio_on(at.second, at.first, gpus, outcome, bytes);
  };
  // What lies inside a node says nothing of the network between them.
  const std::map<int, Line>& by_nodes = lines->second;
  if (const auto same = by_nodes.find(nodes); same != by_nodes.end()) return ratio(*same);
  const auto first = by_nodes.upper_bound(1);
  if (nodes == 1 || first == by_nodes.end()) return 1;
  const auto above = by_nodes.upper_bound(nodes);
  if (above == first) return ratio(*first);
  if (above == by_nodes.end()) return ratio(*std::prev(above));
  const auto below = std::prev(above);
  const double way = std::log(static_cast<double>(nodes) / below->first) /
                     std::log(static_cast<double>(above->first) / below->first);
  return std::exp((1 - way) * std::log(ratio(*below)) + way * std::log(ratio(*above)));
}

std::string MeasuredTimes::words(const RankLayout& layout, Outcome outcome, Bytes payload) const {
  const std::string name(curve_name(outcome));
  const int gpus = layout.gpus_of(0);
  const int nodes = layout.nodes();
  const std::string none = "no " + name + " measured on such nodes, so by the model";
  if (!layout.even() || !cluster_.measured->described.overrides().empty()) return none;
  const auto lines = lines_.find({name, gpus});
  if (lines == lines_.end()) return none;
  const std::map<int, Line>& by_nodes = lines->second;
  const auto on = [](int count) {
    return std::to_string(count) + (count == 1 ? " node" : " nodes");
  };
  if (const auto same = by_nodes.find(nodes); same != by_nodes.end()) {
    const int parts = outcome == Outcome::AllGathered ? layout.ranks() : 1;
    const double bytes = static_cast<double>(payload.count) * parts;
    const auto at = [](double edge) { return to_text(Bytes{std::llround(edge)}); };
    const Line& line = same->second;
    if (payload.count > 0 && (bytes < line.front().first || bytes > line.back().first))
      return name + " measured from " + at(line.front().first) + " to " + at(line.back().first) +
             ", outside of that by the model, scaled";
    return name + " as measured";
  }
  const auto first = by_nodes.upper_bound(1);
  if (nodes == 1 || first == by_nodes.end()) return none;
  const auto above = by_nodes.upper_bound(nodes);
  if (above == first || above == by_nodes.end())
    return name + " by the model, scaled by times measured on " +
           on(above == first ? first->first : std::prev(above)->first);
  return name + " between those measured on " + std::to_string(std::prev(above)->first) + " and " +
         on(above->first);
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
