// One iteration of every rank, driven by SimGrid's events.
#pragma once
#include <array>
#include <simgrid/s4u.hpp>
#include <vector>

#include "sim/engine.hpp"

namespace gradcast {

/// Event-driven and without actors: computing is timers, and messages start from timers and from
/// completion callbacks. That is the fastest of SimGrid's styles and gives the times of the others.
/// One per process, since completion callbacks can only be added.
class SimulatedIteration {
 public:
  SimulatedIteration(const Plan& plan, std::vector<simgrid::s4u::Host*> hosts);

  /// Throws std::logic_error unless every rank finished every step.
  RunRecord run(const simgrid::s4u::Engine& engine);

 private:
  /// A message on its way. The comm is held until its callback has returned: SimGrid 3.32 keeps
  /// only a raw pointer.
  struct Message {
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t entry = 0;  // of the network stream
    std::size_t round = 0;
    simgrid::s4u::CommPtr comm;
  };

  /// One rank's place in the plan.
  struct Rank {
    std::vector<bool> done;         // by step of the plan
    std::size_t computing = 0;      // next entry of the compute stream
    std::size_t communicating = 0;  // next entry of the network stream
    bool computes = false;
    bool communicates = false;
    // Of the collective it is in:
    std::size_t round = 0;
    bool sent = false;
    std::size_t sends = 0;  // so far, over all collectives
    /// What has come, by entry of the network stream and round: a neighbour may be ahead.
    std::vector<std::vector<bool>> received;
    /// Two take turns, because the callback of one starts the next.
    std::array<Message, 2> messages;
  };

  std::size_t rounds(std::size_t entry) const;
  bool ready(const Rank& rank, std::size_t step) const;
  void go_on(std::size_t id);
  bool begin_compute(std::size_t id);
  void end_compute(std::size_t id);
  bool begin_collective(std::size_t id);
  void end_collective(std::size_t id);
  void send(std::size_t id);
  void arrived(const simgrid::s4u::Comm& comm);
  void next_round(std::size_t id);

  const Plan& plan_;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<std::size_t> compute_;  // steps of the plan, by stream
  std::vector<std::size_t> network_;
  std::vector<Rank> ranks_;
  RunRecord record_;
};

}  // namespace gradcast
