// Jobs on a network: what all engines do that simulate one.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/playback/disturbances.hpp"
#include "sim/engine/playback/exact_transport.hpp"
#include "sim/engine/playback/fluid_transport.hpp"
#include "sim/engine/playback/planned_phases.hpp"

namespace gradcast {

/// Every message of every rank, or one set of flows for each phase of a collective.
enum class Grain { Exact, Fluid };

/// The grain of an engine that is asked for neither: exact up to 400,000 messages.
Grain usual_grain(const Plan& plan, const Cluster& cluster, const World& world);

/// Whether it is enough to simulate one node, should the plan do the same on all of them: nothing
/// tells nodes apart, and nobody looks at their links.
bool may_fold(const Cluster& cluster, const World& world, const Observation& observation);

/// Whether ranks compute alike on all nodes.
bool nodes_compute_alike(const Plan& plan, const Cluster& cluster, const World& world);

/// Throws ValueError if links are to be observed and there are more than kMostRanks ranks.
void require_observable(const Plan& plan, const Observation& observation);

/// The refusal of an exact engine that would have to play so many ranks by themselves. `fluid`: the
/// engine to use instead.
std::string too_many_for_exact(const Plan& plan, const std::string& fluid);

/// Subject of a simulation. All must outlive it.
struct Played {
  const Plan& plan;
  const Cluster& cluster;
  const World& world;
  const Topology& topology;      // of all nodes, also where one stands for all
  const PlannedPhases& planned;  // of the fluid grain, and where one node stands for all
  Grain grain = Grain::Exact;
  bool folded = false;  // the network is that of one node
};

/// Equal jobs on the same network; the record is the first's.
class Simulation {
 public:
  /// All arguments must outlive it.
  Simulation(const Played& played, FlowNetwork& network, EventQueue& events);

  /// True when all jobs are done.
  bool over() const;

  /// Plays everything. `loads` tells what the links carried up to a date; null: not observed.
  RunRecord run(const std::function<BoundedLoads(Seconds end)>& loads);

 private:
  const World& world_;
  FlowNetwork& network_;
  EventQueue& events_;
  RankClasses ranks_;
  std::optional<ExactTransport> exact_;
  std::optional<FluidTransport> fluid_;
  std::vector<std::unique_ptr<Job>> jobs_;
  Disturbances disturbances_;
};

}  // namespace gradcast
