// Corrections of the cost table by a fit, in an iteration's time.
#include <catch2/catch.hpp>

#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

namespace {

/// Ten times the table, 7 ms a call and 2 us an element; decoding at half of the table.
const CodecCorrection kCorrection{.encode_factor = 10,
                                  .decode_factor = 0.5,
                                  .per_call = Seconds{7e-3},
                                  .per_element = Seconds{2e-6}};

}  // namespace

// One bucket: to encode it takes 10 x 6 ms + 7 ms + 6000 x 2 us = 79 ms and not 6; to decode it 1.5
// ms and not 3.
TEST_CASE("beside encoding and decoding no correction moves anything, and nothing of a dense run",
          "[engine]") {
  const Engine& engine = *find_engine("analytic");
  Scenario plain = toy::scenario("topk");
  plain.fusion = parse_fusion("merged");
  Scenario corrected = plain;
  corrected.codec = kCorrection;
  CHECK((run(corrected, engine).iteration - run(plain, engine).iteration).count() ==
        Approx(73e-3 - 1.5e-3));
  Scenario dense = toy::scenario();
  const Seconds before = run(dense, engine).iteration;
  dense.codec = kCorrection;
  CHECK(run(dense, engine).iteration == before);
}
