// `calibrate --per-layer`: an encode beside the backward of its layer.
#include <catch2/catch.hpp>

#include "sim/calibration/tables.hpp"
#include "tests/sim/calibration/toy_point.hpp"

using namespace gradcast;
using Catch::Contains;

// A layer's backward stands on its last tensor: 8 ms for both tensors of a, 2 ms for b.
TEST_CASE("an encode is shown beside the backward of its layer") {
  IterationTrace trace;
  trace.tensors = {{"a.w", {}, {}}, {"a.b", {}, Seconds{0.008}}, {"b.w", {}, Seconds{0.002}}};
  const PerLayerColumn all{
      "topk",
      "",
      "gradcast-cpu",
      {{1000, Seconds{0.001}}, {4'000'000, Seconds{0.004}}, {6'000'000, Seconds{0.005}}}};
  const PerLayerColumn part{"gaussian", "code", "torch", {{1000, Seconds{0.002}}}};
  const Answer answer = per_layer_answer(toy::model(), trace, {all, part});
  REQUIRE(answer.rows.size() == 6);
  CHECK(answer.rows[0]["share_of_backward"] == 0.5);
  CHECK(answer.rows[2]["layer_backward_seconds"] == 0.008);
  CHECK(answer.rows[4]["share_of_backward"] == 2.5);
  CHECK(answer.rows[5]["encode_seconds"].is_null());
  CHECK(answer.summary["totals"][0]["encode_seconds"].get<double>() == Approx(0.010));
  CHECK(answer.summary["totals"][1]["encode_seconds"].is_null());
  CHECK_THAT(answer.table, Contains("gaussian (code), torch") && Contains("3 tensors"));
}

TEST_CASE("a column says the number that its compressor was timed with") {
  IterationTrace trace;
  trace.tensors = {{"a.w", {}, {}}, {"a.b", {}, Seconds{0.008}}, {"b.w", {}, Seconds{0.002}}};
  const PerLayerColumn levels{"qsgd", "", "gradcast-cpu", {{1000, Seconds{0.001}}}, 127};
  const PerLayerColumn rank{"powersgd", "code", "gradcast-cpu", {{1000, Seconds{0.001}}}, 2};
  const Answer answer = per_layer_answer(toy::model(), trace, {levels, rank});
  CHECK(answer.rows[0]["parameter"] == 127);
  CHECK(answer.summary["totals"][1]["parameter"] == 2);
  CHECK_THAT(answer.table, Contains("qsgd (levels 127), gradcast-cpu") &&
                               Contains("powersgd (code, rank 2), gradcast-cpu"));
}
