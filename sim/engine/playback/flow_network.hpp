// A network that carries bytes: what the exact and the fluid transport stand on.
#pragma once
#include "sim/base/units.hpp"
#include "sim/engine/playback/event_queue.hpp"
#include "sim/inputs/topology.hpp"

namespace gradcast {

class FlowNetwork {
 public:
  virtual ~FlowNetwork() = default;

  /// Begins at once to send `bytes` (more than 0) from a rank to another, sharing links with all
  /// else that is on its way; `sent` is called when the last has left. Latency is the caller's.
  virtual void send(int from, int to, Bytes bytes, EventQueue::Action sent) = 0;
};

}  // namespace gradcast
