#include "sim/network/collective_choice.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/network/measured_time.hpp"
#include "sim/network/nccl.hpp"

namespace gradcast {
namespace {

bool has_several_nics(const Cluster& cluster) {
  if (cluster.nodes_alike()) return cluster.nics_per_node > 1;
  for (int node = 0; node < cluster.nodes; ++node)
    if (cluster.node(node).nics_per_node > 1) return true;
  return false;
}

/// NCCL's algorithms, the default first. With one NIC a node there are no rails, and a single ring
/// and a tree over all ranks stand for them.
std::vector<const Collective*> algorithms_for(Outcome outcome, bool rails) {
  std::vector<const Collective*> all;
  const auto add = [&](std::string_view name) { all.push_back(find_collective(name)); };
  switch (outcome) {
    case Outcome::AllReduced:
      add("ring-all-reduce");
      add("double-binary-tree");
      if (rails) add("rail-ring-all-reduce");
      if (rails) add("nccl-tree");
      break;
    case Outcome::AllGathered:
      add("ring-all-gather");
      if (rails) add("rail-ring-all-gather");
      break;
    case Outcome::Scattered:
      add("ring-reduce-scatter");
      if (rails) add("rail-ring-reduce-scatter");
      break;
    case Outcome::Broadcast:
      return {&streams::broadcast};
    case Outcome::Passed:
      return {&streams::send_receive};
  }
  return all;
}

}  // namespace

CollectiveChoice::CollectiveChoice(const Cluster& cluster, std::optional<NcclVersion> nccl,
                                   const LibraryRule* library)
    : cluster_(cluster),
      nccl_(nccl),
      library_(library),
      layout_(layout_of(cluster)),
      several_nics_(has_several_nics(cluster)) {
  if (cluster.measured != nullptr && cluster.platform_file.empty())
    measured_ = std::make_unique<const MeasuredTimes>(cluster, nccl, library);
}

CollectiveChoice::~CollectiveChoice() = default;

Seconds CollectiveChoice::time(const Collective& collective, const CollectiveLoad& load,
                               const RankGroups& groups) const {
  if (!cluster_.platform_file.empty())
    throw ValueError("what a collective costs on '" + cluster_.platform_file.string() +
                     "' is known only when SimGrid runs it: name the collective, and for mg-wfbp "
                     "planner_startup and planner_bandwidth");
  if (topology_.ranks == 0) topology_ = make_topology(cluster_);
  return collective_time(phases_in(groups, collective, layout_, load), topology_,
                         software_of(cluster_));
}

CollectiveUse CollectiveChoice::fastest(Outcome outcome, const CollectiveLoad& load,
                                        const RankGroups& groups) const {
  CollectiveUse use = picked(outcome, load, groups);
  if (measured_ == nullptr || layout_.ranks() == 1 || groups.length == 1) return use;
  const auto [at, is_new] =
      stretches_.try_emplace({outcome, groups.stride, groups.length, load.payload.count}, 1);
  if (is_new) at->second = measured_->stretch(layout_in(groups, layout_), outcome, load.payload);
  use.protocol.stretch = at->second;
  return use;
}

CollectiveUse CollectiveChoice::picked(Outcome outcome, const CollectiveLoad& load,
                                       const RankGroups& groups) const {
  if (library_ != nullptr) {
    const int ranks = groups.length > 0 ? groups.length : layout_.ranks();
    const CollectiveUse use = library_->choose(cluster_, outcome, ranks, load.payload);
    if (use.collective != nullptr) return use;
  }
  const std::vector<const Collective*> algorithms = algorithms_for(outcome, several_nics_);
  const bool choice = nccl_ || algorithms.size() > 1;
  if (!choice || layout_.ranks() == 1 || groups.length == 1) return {algorithms.front()};
  CollectiveUse& chosen = chosen_[{outcome, groups.stride, groups.length, load.payload.count}];
  if (chosen.collective != nullptr) return chosen;
  if (nccl_) {
    const RankLayout layout = layout_in(groups, layout_);
    const int parts = outcome == Outcome::AllGathered ? layout.ranks() : 1;
    const NcclWay way = nccl_way(cluster_, *nccl_, layout, outcome, load.payload * parts);
    return chosen = {way.collective, way.protocol};
  }
  Seconds least = Seconds::max();
  for (const Collective* algorithm : algorithms)
    if (const Seconds its = time(*algorithm, load, groups); its < least) {
      least = its;
      chosen = {algorithm};
    }
  return chosen;
}

CollectiveUse CollectiveChoice::choose(Aggregation aggregation, const CollectiveLoad& load,
                                       const RankGroups& groups) const {
  return fastest(aggregation == Aggregation::AllGather ? Outcome::AllGathered : Outcome::AllReduced,
                 load, groups);
}

CollectiveUse CollectiveChoice::to(Outcome outcome, const CollectiveLoad& load) const {
  return fastest(outcome, load, {});
}

std::string CollectiveChoice::measured_words(Outcome outcome, Bytes payload) const {
  if (measured_ == nullptr || layout_.ranks() == 1) return "";
  return measured_->words(layout_, outcome, payload);
}

std::optional<double> CollectiveChoice::measured_deviation(Outcome outcome, Bytes payload) const {
  if (measured_ == nullptr) return std::nullopt;
  return measured_->deviation(layout_, outcome, payload);
}

CollectiveUse CollectiveChoice::scatter(const CollectiveLoad& load,
                                        const RankGroups& groups) const {
  return fastest(Outcome::Scattered, load, groups);
}

CollectiveUse CollectiveChoice::gather(const CollectiveLoad& load, const RankGroups& groups) const {
  return fastest(Outcome::AllGathered, load, groups);
}

CollectiveUse CollectiveChoice::broadcast(const CollectiveLoad& load,
                                          const RankGroups& groups) const {
  CollectiveUse use = fastest(Outcome::Broadcast, load, groups);
  if (use.collective == &streams::broadcast) use.collective = &streams::broadcast_in_row;
  return use;
}

}  // namespace gradcast
