// A network that carries bytes. The exact and the fluid transport use it, and what disturbs them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sim/base/units.hpp"
#include "sim/engine/playback/action.hpp"

namespace gradcast {

class FlowNetwork {
 public:
  /// The links from a rank to another, by a number that the network gives them.
  using Way = std::uint32_t;

  virtual ~FlowNetwork() = default;

  /// The way from a rank to another. Both must exist and differ.
  virtual Way way(int from, int to) = 0;
  /// A way for traffic that never goes faster than `most` (0: no limit). Each call makes a new one.
  virtual Way way_at_most(BytesPerSecond most, int from, int to) = 0;

  /// Begins at once to send `bytes` (more than 0). They share the links with everything else that
  /// is on its way (max-min fairness). `sent` is called when the last byte has left. The caller
  /// adds the latency.
  virtual void send(Way way, Bytes bytes, Action sent) = 0;

  /// Sets the bandwidth (more than 0) of a link of the topology from now on. `widest`: the most
  /// that the link ever has.
  virtual void set_bandwidth(std::size_t link, BytesPerSecond bandwidth, BytesPerSecond widest) = 0;

  /// The bandwidth of the narrowest link of a way, now.
  virtual BytesPerSecond narrowest(Way way) const = 0;

  /// Plays the events of the queue and the messages until nothing is left.
  virtual void run() = 0;
  /// Ends run() before that, whatever is still on its way.
  virtual void stop() = 0;
};

}  // namespace gradcast
