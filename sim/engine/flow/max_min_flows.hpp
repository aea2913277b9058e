// Flows that share links fairly: the network of the engine `flow`.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/engine/playback/agenda.hpp"
#include "sim/engine/playback/event_queue.hpp"
#include "sim/engine/playback/flow_network.hpp"
#include "sim/inputs/topology.hpp"
#include "sim/network/link_load.hpp"

namespace gradcast {

/// Each link divides its bandwidth among the flows on it by max-min fairness: no flow can have more
/// without taking from a flow that has no more than it. Rates are found by progressive filling
/// (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2): the link with the least bandwidth
/// a flow gives its flows that much; they are taken off all their links; and so on.
///
/// Rates change only when a flow begins or ends or a link changes, and then only the rates of flows
/// that are connected with it by shared links. So each change looks at that part of the network
/// alone. All changes of a date are one: rates are found once, before time goes on.
class MaxMinFlows : public FlowNetwork {
 public:
  /// Both must outlive it. `observed`: the loads of links are recorded.
  MaxMinFlows(const Topology& topology, EventQueue& events, bool observed);

  Way way(int from, int to) override;
  Way way_at_most(BytesPerSecond most, int from, int to) override;
  void send(Way way, Bytes bytes, Action sent) override;
  void set_bandwidth(std::size_t link, BytesPerSecond bandwidth, BytesPerSecond widest) override;
  BytesPerSecond narrowest(Way way) const override;
  void run() override;
  void stop() override { stopped_ = true; }

  /// The loads of links up to `end`, if they were observed. May be called once.
  BoundedLoads take_loads(Seconds end) { return recorder_->take(end); }

 private:
  using LinkNumber = std::uint32_t;
  using FlowNumber = std::uint32_t;
  /// Number of a search for connected links and flows, which marks with it those that it finds.
  using Search = std::uint64_t;

  struct Flow {
    double left = 0;  // bytes, at `since`
    double rate = 0;  // bytes a second
    double next_rate = 0;
    Seconds since{0};
    Seconds end{0};  // if the rate stays
    Search found = 0;
    Way way = 0;
    std::uint32_t turn = 0;  // an end that was dated before rates were found again has another
    bool ended = false;
  };
  struct Link {
    double bandwidth = 0;
    double left = 0;         // while rates are found: what no flow has yet
    std::uint32_t open = 0;  // while rates are found: flows without a rate
    bool changed = false;    // it is in changed_
    Search found = 0;
    std::vector<FlowNumber> flows;  // also those that ended since rates were found last
  };
  struct End {
    FlowNumber flow;
    std::uint32_t turn;
  };
  /// A limit of flows: a link as it was when it was put into the heap, or the flow's own links.
  struct Bottleneck {
    double share;  // bytes a second for each of its flows
    std::uint32_t number;
    bool is_flow;
  };

  Way add_way(std::optional<LinkNumber> first, int from, int to);
  std::span<const LinkNumber> links_of(Way way) const {
    return {passed_.data() + ways_[way], passed_.data() + ways_[way + 1]};
  }
  void note_change(LinkNumber link);
  bool next_end(Seconds& when);
  bool end_flows();
  void find_rates();
  bool rated_alone(FlowNumber flow);
  void collect(LinkNumber first);
  void fill();
  void give(FlowNumber flow, double rate);
  void take_next_rate(Flow& flow);
  void take_next_rates();
  void record_loads();

  const Topology& topology_;
  EventQueue& events_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> ways_{0};  // by way: where it begins in passed_; then the end
  std::vector<LinkNumber> passed_;      // links, way after way
  std::unordered_map<std::uint64_t, Way> known_ways_;  // by both ranks
  std::vector<Flow> flows_;
  std::vector<Action> sent_;            // by flow
  std::vector<FlowNumber> free_;        // flows that may be used again
  std::vector<FlowNumber> just_ended_;  // links may still list them
  std::vector<LinkNumber> changed_;     // since rates were found last
  Agenda<End> ends_;
  bool stopped_ = false;
  std::optional<LoadRecorder> recorder_;
  // While rates are found:
  Search search_ = 0;
  std::vector<LinkNumber> found_links_;
  std::vector<FlowNumber> found_flows_;
  std::vector<Bottleneck> bottlenecks_;  // a heap, the narrowest on top
  // While flows end:
  std::vector<FlowNumber> ending_;
};

}  // namespace gradcast
