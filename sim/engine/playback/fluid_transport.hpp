// A transport that carries collectives as flows: one set for each phase, of all the bytes that its
// edges carry.
#pragma once
#include <cstdint>
#include <memory>

#include "sim/engine/playback/flow_network.hpp"
#include "sim/engine/playback/planned_phases.hpp"
#include "sim/engine/playback/representatives.hpp"
#include "sim/engine/playback/whole_collective.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/collective_time.hpp"

namespace gradcast {

/// A phase first waits for the time that the latencies and reductions of its rounds add to that of
/// its bytes; then its flows run. If nothing else is on the network, this gives the closed form.
/// Otherwise the flows share the network with what is there.
class FluidTransport : public WholeCollectives {
 public:
  /// All arguments must outlive it. `company`: what is on the network besides one collective.
  FluidTransport(const Topology& topology, const PlannedPhases& planned,
                 CollectiveSoftware software, Company company, FlowNetwork& network,
                 EventQueue& events);

  std::int64_t flows() const { return flows_; }

 private:
  /// A collective on its way.
  struct Course {
    Job& job;
    std::size_t step;
    Phases phases;
    Seconds waiting{0};                  // of each phase, before its bytes
    double share = 1;                    // of its bytes, that no lead has carried before
    std::vector<double> lead_seconds{};  // when it ends
    std::size_t phase = 0;
    std::size_t flows_left = 0;
  };

  void carry_out(Job& job, std::size_t step) override;
  void begin_phase(const std::shared_ptr<Course>& course);
  void start_flows(const std::shared_ptr<Course>& course);
  void end_flow(const std::shared_ptr<Course>& course);

  const Topology& topology_;
  const PlannedPhases& planned_;
  CollectiveSoftware software_;
  Company company_;
  FlowNetwork& network_;
  EventQueue& events_;
  std::int64_t flows_ = 0;
};

}  // namespace gradcast
