// A transport that simulates collectives message by message, each rank at its own pace.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/engine/playback/flow_network.hpp"
#include "sim/engine/playback/job.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/collective_time.hpp"

namespace gradcast {

/// Its jobs must have a class for each rank.
class ExactTransport : public Transport {
 public:
  /// All arguments must outlive it.
  ExactTransport(const Topology& topology, RankLayout layout, CollectiveSoftware software,
                 FlowNetwork& network, EventQueue& events);
  ~ExactTransport() override;

  void enter(Job& job, std::size_t step, std::size_t rank) override;

  std::int64_t messages() const { return messages_; }

 private:
  class Exchange;

  const Topology& topology_;
  RankLayout layout_;
  CollectiveSoftware software_;
  FlowNetwork& network_;
  EventQueue& events_;
  std::map<std::pair<const Job*, std::size_t>, std::unique_ptr<Exchange>> exchanges_;
  std::int64_t messages_ = 0;
};

}  // namespace gradcast
