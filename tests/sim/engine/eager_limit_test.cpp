// MPI asks a receiver on another node before it sends a long message: a round trip more. Four
// ranks, a node each, NICs of 1 MB/s and 10 ms, all-reduce a buffer as a ring: 6 rounds of a
// quarter of it.
#include <catch2/catch.hpp>

#include "tests/sim/engine/every_engine.hpp"

using namespace gradcast;
using namespace gradcast::toy;

namespace {

Scenario ring_of(std::int64_t bytes) {
  Scenario scenario;
  scenario.cluster.nodes = 4;
  scenario.cluster.nic = {BytesPerSecond{1e6}, Seconds{10e-3}};
  scenario.cluster.intra = {BytesPerSecond{1e9}, Seconds{0}};
  scenario.cluster.eager_limit = Bytes{1000};
  scenario.compressor = find_compressor("dense");
  scenario.collective = find_collective("ring-all-reduce");
  scenario.payload = Bytes{bytes};
  return scenario;
}

}  // namespace

TEST_CASE("A message below the eager limit takes one latency", "[eager]") {
  // 999 bytes are 0.999 ms: 6 x (10 + 0.999).
  CHECK(astray(ring_of(4 * 999), 6 * 10.999) == kNobody);
}

TEST_CASE("From the eager limit on a message takes three latencies", "[eager]") {
  // 1000 bytes are 1 ms: 6 x (30 + 1).
  CHECK(astray(ring_of(4 * 1000), 6 * 31.0) == kNobody);
}

TEST_CASE("A handshake costs the links' latency, not the software of a message", "[eager]") {
  Scenario scenario = ring_of(4 * 1000);
  scenario.cluster.per_message_latency = Seconds{5e-3};
  // 6 x (10 + 5 + 20 + 1)
  CHECK(astray(scenario, 6 * 36.0) == kNobody);
}

TEST_CASE("Inside a node nobody asks", "[eager]") {
  Scenario scenario = ring_of(4 * 1000);
  scenario.cluster.nodes = 1;
  scenario.cluster.gpus_per_node = 4;
  scenario.cluster.intra = scenario.cluster.nic;
  CHECK(astray(scenario, 6 * 11.0) == kNobody);
}

TEST_CASE("Without an eager limit nobody asks", "[eager]") {
  Scenario scenario = ring_of(4 * 1000);
  scenario.cluster.eager_limit = Bytes{};
  CHECK(astray(scenario, 6 * 11.0) == kNobody);
}
