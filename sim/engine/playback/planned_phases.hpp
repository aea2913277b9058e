// The phases of a plan's collectives, where one node's messages stand for all.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/inputs/topology.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/plan_summary.hpp"

namespace gradcast {

using Phases = std::shared_ptr<const std::vector<Phase>>;

/// Describes each collective when it is asked for, or all at first, equal ones once.
class PlannedPhases {
 public:
  /// Both must outlive it.
  PlannedPhases(const Plan& plan, const RankLayout& layout) : plan_(plan), layout_(layout) {}

  /// If nodes are alike and every phase of the plan is the same for all of them, keeps the messages
  /// of each phase that leave or enter the first node, and returns true. They are enough for the
  /// closed form, and on a network that is folded to one node. All messages of a plan for thousands
  /// of nodes would fill the memory.
  bool keep_one_node(const Topology& topology);

  /// The same for the exact grain, where this keeps every byte: if all that a node sends has the
  /// same size on all nodes and in all rounds, and no barrier waits for ranks of several nodes.
  bool keep_one_node_exactly(const Topology& topology);

  /// Phases of a collective. Messages that are kept have only their largest size.
  Phases of(std::size_t step) const;

  /// Its course, where `lead_seconds` are those of `collective_course`. Must be asked for one
  /// network, software and sharing. Layers of one shape send the same buckets, and only the first is computed.
  const CollectiveCourse& course_of(std::size_t step, const Topology& topology,
                                    const CollectiveSoftware& software, int sharing,
                                    const std::vector<double>& lead_seconds);

 private:
  using Key = decltype(phases_key(PlanStep{}));

  bool keep(const Topology& topology,
            const std::function<bool(const PlanStep&, const Phase&)>& fits);

  const Plan& plan_;
  const RankLayout& layout_;
  std::vector<Phases> kept_;  // by step; empty where none is kept
  std::map<std::pair<Key, std::vector<double>>, CollectiveCourse> courses_;
};

}  // namespace gradcast
