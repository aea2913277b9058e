// A network that carries bytes. The exact and the fluid transport use it.
#pragma once
#include "sim/base/units.hpp"
#include "sim/engine/playback/event_queue.hpp"
#include "sim/inputs/topology.hpp"

namespace gradcast {

class FlowNetwork {
 public:
  virtual ~FlowNetwork() = default;

  /// Begins at once to send `bytes` (more than 0) from a rank to another. They share the links with
  /// everything else that is on its way. `sent` is called when the last byte has left. The caller
  /// adds the latency.
  virtual void send(int from, int to, Bytes bytes, EventQueue::Action sent) = 0;
};

}  // namespace gradcast
