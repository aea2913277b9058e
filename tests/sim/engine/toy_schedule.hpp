// The toy with a compressor, a fusion and a queue, for schedules that are computed by hand.
//
// The toy, in ms: forward a 1, b 2, c 3; backward c 6, b 4, a 2; update 1. Dense, all-reduces of
// two ranks take as many ms as there are thousand bytes: c 12, b 8, a 4. Top-k: encode c 3, b 2,
// a 1; all-gather c 0.24, b 0.16, a 0.08; decode c 1.5, b 1, a 0.5. "c 12-24": from 12 to 24 ms.
#pragma once
#include <catch2/catch.hpp>
#include <utility>

#include "tests/sim/engine/every_engine.hpp"

namespace gradcast::toy {

inline Scenario toy_with(const char* compressor, const char* fusion, bool overlap,
                         Queue queue = Queue::Fifo) {
  Scenario scenario = toy::scenario(compressor);
  scenario.fusion = parse_fusion(fusion);
  scenario.overlap = overlap;
  scenario.queue = queue;
  return scenario;
}

/// Layer by layer with overlap, what most of these are about.
inline Scenario wait_free(const char* compressor = "dense", Queue queue = Queue::Fifo) {
  return toy_with(compressor, "layer", true, queue);
}

inline Scenario on_side(Scenario scenario) {
  scenario.encode_stream = EncodeStream::Side;
  return scenario;
}

inline Scenario with_collective(Scenario scenario, const char* name) {
  scenario.collective = find_collective(name);
  REQUIRE(scenario.collective != nullptr);
  return scenario;
}

inline Scenario on_nodes(Scenario scenario, int nodes, int gpus_per_node) {
  scenario.cluster.nodes = nodes;
  scenario.cluster.gpus_per_node = gpus_per_node;
  return scenario;
}

}  // namespace gradcast::toy
