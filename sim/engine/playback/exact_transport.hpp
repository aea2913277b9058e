// A transport that simulates collectives message by message, each rank at its own pace.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/engine/playback/flow_network.hpp"
#include "sim/engine/playback/job.hpp"
#include "sim/engine/playback/planned_phases.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/collective_time.hpp"

namespace gradcast {

/// Its jobs must have a class for each rank, or for each GPU of the first node if that stands for
/// all.
class ExactTransport : public MessageTransport {
 public:
  /// All arguments must outlive it. `one_node`: nullptr, or the messages of the first node, which
  /// stands for all: what it sends to the next node comes in from the node before.
  ExactTransport(const Topology& topology, RankLayout layout, CollectiveSoftware software,
                 const PlannedPhases* one_node, FlowNetwork& network, EventQueue& events);
  ~ExactTransport() override;

  void enter(Job& job, std::size_t step, std::size_t rank) override;

  /// Also those that messages of the first node stood for.
  std::int64_t messages() const { return messages_ * (one_node_ != nullptr ? layout_.nodes() : 1); }

 private:
  class Exchange;

  const Topology& topology_;
  RankLayout layout_;
  CollectiveSoftware software_;
  const PlannedPhases* one_node_;
  FlowNetwork& network_;
  EventQueue& events_;
  std::map<std::pair<const Job*, std::size_t>, std::unique_ptr<Exchange>> exchanges_;
  std::int64_t messages_ = 0;
};

}  // namespace gradcast
