#include "sim/network/measured_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
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
constexpr double kDeviationOfDoubling = 0.08;
/// So many doublings of the bytes around a size say how rough its line is there, and what of it
/// other numbers of nodes have too.
constexpr double kNear = 3;
/// So many sizes say it where none as near as that has the algorithm of the other nodes. The mean
/// of several sizes is surer than one by the root of their number.
constexpr std::size_t kFewSizes = 3;

/// A time at `bytes` on the straight line through two points.
template <class Point>
double between(const Point& one, const Point& other, double bytes) {
  if (other.bytes <= one.bytes) return one.seconds;
  return one.seconds +
         (other.seconds - one.seconds) * (bytes - one.bytes) / (other.bytes - one.bytes);
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
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
  std::vector<std::pair<double, double>> off;  // doublings away, logarithm
  for (std::size_t i = 1; i + 1 < line.size(); ++i)
    off.emplace_back(std::abs(std::log2(line[i].bytes / bytes)),
                     std::log(line[i].seconds / between(line[i - 1], line[i + 1], line[i].bytes)));
  if (off.size() < kFewSizes) return std::nullopt;
  std::ranges::sort(off);
  double sum = 0;
  std::size_t count = 0;
  while (count < off.size() && (count < kFewSizes || off[count].first <= kNear)) {
    sum += off[count].second * off[count].second;
    ++count;
  }
  return std::sqrt(sum / static_cast<double>(count));
}

double MeasuredTimes::described_time(int nodes, int gpus, Outcome outcome, double bytes) const {
  return modelled(described_on(cluster_, nodes, gpus), nccl_, library_, outcome,
                  Bytes{std::llround(bytes)})
      .time.count();
}

MeasuredTimes::Ratio MeasuredTimes::ratio_on(const NodesLine& at, int gpus, Outcome outcome,
                                             double bytes) const {
  const auto& [nodes, line] = at;
  const std::vector<Point>& points = line.points;
  const double inside = std::clamp(bytes, points.front().bytes, points.back().bytes);
  double time = points.front().seconds;
  if (points.size() > 1) {
    const std::size_t after = place_after(points, inside);
    time = between(points[after - 1], points[after], inside);
  }
  const Modelled model = modelled(described_on(cluster_, nodes, gpus), nccl_, library_, outcome,
                                  Bytes{std::llround(inside)});
  return {time / model.time.count(), model.way};
}

double MeasuredTimes::carried_ratio(const NodesLine& at, int gpus, Outcome outcome, double bytes,
                                    const Modelled::Way& way) const {
  const std::vector<Point>& points = at.second.points;
  const double inside = std::clamp(bytes, points.front().bytes, points.back().bytes);
  const double reach = std::max(0.0, std::min({kNear, std::log2(inside / points.front().bytes),
                                               std::log2(points.back().bytes / inside)}));
  std::vector<double> all, alike;  // logarithms
  constexpr int kSteps = 3;        // to either side
  for (int step = -kSteps; step <= kSteps; ++step) {
    const Ratio ratio = ratio_on(at, gpus, outcome, inside * std::exp2(reach * step / kSteps));
    all.push_back(std::log(ratio.of_time));
    if (ratio.way == way) alike.push_back(all.back());
  }
  if (!alike.empty()) return std::exp(mean_of(alike));
  std::vector<std::pair<double, double>> far;  // doublings away, logarithm
  for (const Point& point : points)
    if (const Ratio ratio = ratio_on(at, gpus, outcome, point.bytes); ratio.way == way)
      far.emplace_back(std::abs(std::log2(point.bytes / bytes)), std::log(ratio.of_time));
  if (far.empty()) return std::exp(mean_of(all));
  std::ranges::sort(far);
  far.resize(std::min(far.size(), kFewSizes));
  for (const auto& [doublings, logarithm] : far) alike.push_back(logarithm);
  return std::exp(mean_of(alike));
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
  const auto ratio = [&](const NodesLine& at) {
    return ratio_on(at, gpus, outcome, bytes).of_time;
  };
  const Modelled model = modelled(described_on(cluster_, layout.nodes(), gpus), nccl_, library_,
                                  outcome, Bytes{std::llround(bytes)});
  const auto& [below, above] = *basis;
  if (below == above) {
    if (layout.nodes() == below->first) return ratio(*below);
    // This size alone says what a node more or less takes. Twice the nodes, or half of them, know
    // no more than sizes of the same algorithm, of which none stands out.
    const double around = carried_ratio(*below, gpus, outcome, bytes, model.way);
    const double doublings =
        std::abs(std::log2(static_cast<double>(layout.nodes()) / below->first));
    const double carried =
        ratio(*below) * std::pow(around / ratio(*below), std::min(1.0, doublings));
    // The model may choose another algorithm there. A run on more nodes is no faster all the same.
    const double least =
        carried * described_time(below->first, gpus, outcome, bytes) / model.time.count();
    return layout.nodes() > below->first ? std::max(carried, least) : std::min(carried, least);
  }
  const auto logarithm = [&](const NodesLine& at) {
    return std::log(ratio(at) * described_time(at.first, gpus, outcome, bytes));
  };
  const double way = std::log(static_cast<double>(layout.nodes()) / below->first) /
                     std::log(static_cast<double>(above->first) / below->first);
  const double time = std::exp((1 - way) * logarithm(*below) + way * logarithm(*above));
  return time / model.time.count();
}

std::optional<double> MeasuredTimes::deviation(const RankLayout& layout, Outcome outcome,
                                               Bytes payload) const {
  const std::optional<Basis> basis = basis_of(layout, outcome);
  if (!basis || layout.ranks() == 1) return std::nullopt;
  const double bytes = std::max(1.0, bytes_of(layout, outcome, payload));
  const Bytes whole{std::llround(bytes)};
  Cluster now = cluster_;
  now.measured = nullptr;
  const Seconds then = modelled(described_on(cluster_, layout.nodes(), layout.gpus_of(0)), nccl_,
                                library_, outcome, whole)
                           .time;
  constexpr double kSame = 1e-3;
  if (std::abs(modelled(now, nccl_, library_, outcome, whole).time / then - 1) > kSame)
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
  // As the ratio goes from this size's to that of several, so does its deviation.
  if (basis->below == basis->above)
    rough = std::max(kLeastDeviation,
                     rough * std::pow(double(kFewSizes), -.5 * std::min(1., doublings)));
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

Modelled modelled(const Cluster& cluster, std::optional<NcclVersion> nccl,
                  const LibraryRule* library, Outcome outcome, Bytes bytes) {
  const CollectiveChoice choice(cluster, nccl, library);
  CollectiveLoad load{.payload = bytes};
  if (outcome == Outcome::AllGathered)
    load.payload.count = std::max<std::int64_t>(1, bytes.count / cluster.ranks());
  const CollectiveUse use = choice.to(outcome, load);
  load.protocol = use.protocol;
  return {choice.time(*use.collective, load), {use.collective, use.protocol.name}};
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
