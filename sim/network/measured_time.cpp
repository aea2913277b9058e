#include "sim/network/measured_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
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
  leave_links(described, cluster.measured->described);
  described.nic_share = cluster.nic_share;
  described.host_bandwidth = cluster.host_bandwidth;
  described.by_sockets = cluster.by_sockets;
  described.per_message_latency = cluster.per_message_latency;
  described.per_collective_latency = cluster.per_collective_latency;
  described.eager_limit = cluster.eager_limit;
  described.reduction_bandwidth = cluster.reduction_bandwidth;
  described.lay_out_ranks();
  settle_pcie(described);
  return described;
}

/// A repeated measurement differs by this much at least, and each doubling of the nodes, or of the
/// bytes beyond the measured ones, adds that (docs/accuracy.md, "Measured collectives").
constexpr double kLeastDeviation = 0.02;
constexpr double kDeviationOfDoubling = 0.1;
/// So many doublings of the bytes around a size say how rough its line is there, and what of it
/// other numbers of nodes have too.
constexpr double kNear = 3;

/// A time at `bytes` on the straight line through two points.
template <class Point>
double between(const Point& one, const Point& other, double bytes) {
  if (other.bytes <= one.bytes) return one.seconds;
  return one.seconds +
         (other.seconds - one.seconds) * (bytes - one.bytes) / (other.bytes - one.bytes);
}

/// The place of the first point behind the first that is not smaller than `bytes`, or of the last.
template <class Points>
std::size_t place_after(const Points& points, double bytes) {
  std::size_t at = 1;
  while (at + 1 < points.size() && points[at].bytes < bytes) ++at;
  return at;
}

}  // namespace

MeasuredTimes::MeasuredTimes(const Cluster& cluster, std::optional<NcclVersion> nccl,
                             const LibraryRule* library)
    : cluster_(cluster), nccl_(nccl), library_(library) {
  using Distance = std::tuple<int, int>;
  std::map<std::pair<Kind, int>, Distance> nearest;
  for (const CurvePoint& point : cluster.measured->curve) {
    const auto its = distance(point.library, nccl, library);
    const Kind kind{point.collective, point.gpus_per_node};
    if (!its) {
      others_.try_emplace({kind, point.nodes > 1}, point.library);
      continue;
    }
    const auto [at, is_new] = nearest.try_emplace({kind, point.nodes}, *its);
    Line& line = lines_[kind][point.nodes];
    if (!is_new && *its > at->second) continue;
    if (!is_new && *its < at->second) line.points.clear();
    at->second = *its;
    line.library = point.library;
    line.points.push_back(
        {static_cast<double>(point.bytes.count), point.seconds.count(), point.deviation});
  }
}

/// The root of the mean square of the logarithms, over inner points within three doublings of
/// `bytes`, or over the three nearest ones. nullopt with fewer than three of them.
std::optional<double> MeasuredTimes::roughness(const std::vector<Point>& line, double bytes) {
  constexpr std::size_t kLeast = 3;
  std::vector<std::pair<double, double>> off;  // doublings away, logarithm
  for (std::size_t i = 1; i + 1 < line.size(); ++i)
    off.emplace_back(std::abs(std::log2(line[i].bytes / bytes)),
                     std::log(line[i].seconds / between(line[i - 1], line[i + 1], line[i].bytes)));
  if (off.size() < kLeast) return std::nullopt;
  std::ranges::sort(off);
  double sum = 0;
  std::size_t count = 0;
  while (count < off.size() && (count < kLeast || off[count].first <= kNear)) {
    sum += off[count].second * off[count].second;
    ++count;
  }
  return std::sqrt(sum / static_cast<double>(count));
}

double MeasuredTimes::described_time(int nodes, int gpus, Outcome outcome, double bytes) const {
  return modelled_time(described_on(cluster_, nodes, gpus), nccl_, library_, outcome,
                       Bytes{std::llround(bytes)})
      .count();
}

double MeasuredTimes::ratio_on(const Line& line, int nodes, int gpus, Outcome outcome,
                               double bytes) const {
  const std::vector<Point>& points = line.points;
  const double inside = std::clamp(bytes, points.front().bytes, points.back().bytes);
  double time = points.front().seconds;
  if (points.size() > 1) {
    const std::size_t after = place_after(points, inside);
    time = between(points[after - 1], points[after], inside);
  }
  return time / described_time(nodes, gpus, outcome, inside);
}

double MeasuredTimes::carried_ratio(const Line& line, int nodes, int gpus, Outcome outcome,
                                    double bytes) const {
  const double inside = std::clamp(bytes, line.points.front().bytes, line.points.back().bytes);
  const double reach = std::min({kNear, std::log2(inside / line.points.front().bytes),
                                 std::log2(line.points.back().bytes / inside)});
  if (reach <= 0) return ratio_on(line, nodes, gpus, outcome, inside);
  double sum = 0;
  constexpr int kSteps = 3;  // to either side
  for (int step = -kSteps; step <= kSteps; ++step)
    sum +=
        std::log(ratio_on(line, nodes, gpus, outcome, inside * std::exp2(reach * step / kSteps)));
  return std::exp(sum / (2 * kSteps + 1));
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
  const int gpus = layout.gpus_of(0);
  const auto ratio = [&](const std::pair<const int, Line>& at) {
    return ratio_on(at.second, at.first, gpus, outcome, bytes);
  };
  const auto& [below, above] = *basis;
  if (below == above) {
    if (layout.nodes() == below->first) return ratio(*below);
    // This size alone says what a node more or less takes. Twice the nodes, or half of them, know
    // no more than the sizes around it, of which none stands out.
    const double around = carried_ratio(below->second, below->first, gpus, outcome, bytes);
    const double doublings =
        std::abs(std::log2(static_cast<double>(layout.nodes()) / below->first));
    const double carried =
        ratio(*below) * std::pow(around / ratio(*below), std::min(1.0, doublings));
    // The model may choose another algorithm there. A run on more nodes is no faster all the same.
    const double least = carried * described_time(below->first, gpus, outcome, bytes) /
                         described_time(layout.nodes(), gpus, outcome, bytes);
    return layout.nodes() > below->first ? std::max(carried, least) : std::min(carried, least);
  }
  const auto logarithm = [&](const std::pair<const int, Line>& at) {
    return std::log(ratio(at) * described_time(at.first, gpus, outcome, bytes));
  };
  const double way = std::log(static_cast<double>(layout.nodes()) / below->first) /
                     std::log(static_cast<double>(above->first) / below->first);
  const double time = std::exp((1 - way) * logarithm(*below) + way * logarithm(*above));
  return time / described_time(layout.nodes(), gpus, outcome, bytes);
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
  double beyond = 0;  // of the bytes, outside of the measured sizes
  for (const auto* at : {basis->below, basis->above}) {
    const std::vector<Point>& points = at->second.points;
    const double inside = std::clamp(bytes, points.front().bytes, points.back().bytes);
    beyond = std::max(beyond, std::abs(std::log2(bytes / inside)));
    double spread = points.front().deviation;
    if (points.size() > 1) {
      const std::size_t after = place_after(points, inside);
      spread = std::max(points[after - 1].deviation, points[after].deviation);
    }
    const std::optional<double> its = roughness(points, inside);
    if (!its && spread == 0) return std::nullopt;
    rough = std::max({rough, its.value_or(0), spread});
    doublings =
        std::min(doublings, std::abs(std::log2(static_cast<double>(layout.nodes()) / at->first)));
  }
  return std::hypot(rough, kDeviationOfDoubling * doublings, kDeviationOfDoubling * beyond);
}

std::string MeasuredTimes::by(const Basis& basis) const {
  std::string names;
  for (const auto* at : {basis.below, basis.above}) {
    const std::optional<NcclVersion> its = nccl_of(at->second.library);
    if (!its || *its == nccl_.value_or(kUsualNccl)) continue;
    const std::string name =
        std::string(library_name(cluster_)) + " " + at->second.library.substr(kNcclPrefix.size());
    if (names.find(name) == std::string::npos) names += (names.empty() ? " by " : " and ") + name;
  }
  return names;
}

std::string MeasuredTimes::words_for_none(const RankLayout& layout, Outcome outcome) const {
  const std::string name(curve_name(outcome));
  const auto other =
      layout.even() ? others_.find({{name, layout.gpus_of(0)}, layout.nodes() > 1}) : others_.end();
  if (other == others_.end()) return "no " + name + " measured on such nodes, so by the model";
  const bool is_nccl = nccl_ || library_ == nullptr;
  const std::string own = is_nccl ? std::string(library_name(cluster_)) : "this library";
  return "no " + name + " by " + own + " measured on such nodes (by " + other->second +
         " there is), so by the model";
}

std::string MeasuredTimes::words(const RankLayout& layout, Outcome outcome, Bytes payload) const {
  const std::string name(curve_name(outcome));
  const std::optional<Basis> basis = basis_of(layout, outcome);
  if (!basis) return words_for_none(layout, outcome);
  const auto& [below, above] = *basis;
  const auto on = [](int count) {
    return std::to_string(count) + (count == 1 ? " node" : " nodes");
  };
  const std::string measured = "measured" + by(*basis);
  if (below != above)
    return name + " between those " + measured + " on " + std::to_string(below->first) + " and " +
           on(above->first);
  if (below->first != layout.nodes())
    return name + " by the model, scaled by times " + measured + " on " + on(below->first);
  const double bytes = bytes_of(layout, outcome, payload);
  const auto at = [](double edge) { return to_text(Bytes{std::llround(edge)}); };
  const std::vector<Point>& points = below->second.points;
  if (payload.count > 0 && (bytes < points.front().bytes || bytes > points.back().bytes))
    return name + " " + measured + " from " + at(points.front().bytes) + " to " +
           at(points.back().bytes) + ", outside of that by the model, scaled";
  return name + " as " + measured;
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
