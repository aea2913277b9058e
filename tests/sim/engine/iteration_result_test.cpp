#include "sim/engine/iteration_result.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "sim/inputs/cluster_values.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

namespace {

double ms(Seconds time) { return time.count() / toy::kMilli; }

Seconds parts(const IterationResult& r) {
  return r.forward + r.backward + r.encode + r.exposed_communication + r.decode + r.update +
         r.overhead + r.wait;
}

Interval interval(double start, double end) { return {Seconds{start}, Seconds{end}}; }

/// Backward, a collective, an update.
Plan small_plan(int ranks) {
  Plan plan;
  plan.rank_speeds.assign(static_cast<std::size_t>(ranks), 1.0);
  plan.steps = {{StepKind::Backward, "b", {}, Seconds{1}, nullptr, {}},
                {StepKind::Collective, "c", {0}, {}, find_collective("ring-all-reduce"), Bytes{1}},
                {StepKind::Update, "u", {1}, Seconds{1}, nullptr, {}}};
  return plan;
}

}  // namespace

// Top-k, merged: encode 6 ms, gather 0.48, decode 3.
TEST_CASE("each kind of step is counted as what it is", "[result]") {
  Scenario scenario = toy::scenario("topk");
  scenario.cluster.per_iteration_overhead = Seconds{0.7e-3};
  const IterationResult result = run(scenario, *find_engine("analytic"));
  CHECK(ms(result.encode) == Approx(6));
  CHECK(ms(result.decode) == Approx(3));
  CHECK(ms(result.exposed_communication) == Approx(0.48));
  CHECK(ms(result.overhead) == Approx(0.7));
}

// Backward and update are what one GPU alone does, 2 s; 2 s between them are the model's.
TEST_CASE("a factor on the model spares what one GPU alone computes", "[result]") {
  Plan plan = small_plan(2);
  plan.compute = Seconds{2};
  plan.model_factor = 1.5;
  plan.kind_factor = 0.9;
  RunRecord record;
  record.steps.assign(2, {interval(0, 1), interval(1, 3), interval(3, 4)});
  const IterationResult result = summarize(plan, record);
  CHECK(result.iteration.count() == Approx(0.9 * (2 + 1.5 * 2)));
  CHECK(result.backward.count() == Approx(0.9));
  CHECK(result.update.count() == Approx(0.9));
  CHECK(result.exposed_communication.count() == Approx(0.9 * 1.5 * 2));
  CHECK(parts(result).count() == Approx(result.iteration.count()));
}

// Layer by layer with overlap, dense: computing ends at 18 ms, communication runs from 12 to 36,
// and what is not hidden is 18 to 36.
TEST_CASE("communication is exposed where nothing is computed", "[result]") {
  Scenario scenario = toy::scenario();
  scenario.fusion = parse_fusion("layer");
  scenario.overlap = true;
  for (const Engine& engine : all_engines()) {
    if (!engine.built()) continue;
    CAPTURE(engine.name);
    const IterationResult result = run(scenario, engine);
    CHECK(ms(result.forward) == Approx(6));
    CHECK(ms(result.backward) == Approx(12));
    CHECK(ms(result.communication) == Approx(24));
    CHECK(ms(result.exposed_communication) == Approx(18));
    CHECK(ms(result.update) == Approx(1));
    CHECK(ms(result.wait) == Approx(0).margin(1e-9));
  }
}

TEST_CASE("the parts add up to the iteration, whatever the schedule", "[result]") {
  for (const Engine& engine : all_engines()) {
    if (!engine.built()) continue;
    for (const char* compressor : {"dense", "topk"})
      for (const char* fusion : {"layer", "merged", "12kB"})
        for (const bool overlap : {false, true}) {
          Scenario scenario = toy::scenario(compressor);
          scenario.fusion = parse_fusion(fusion);
          scenario.overlap = overlap;
          scenario.cluster.per_iteration_overhead = Seconds{0.7e-3};
          const IterationResult result = run(scenario, engine);
          CAPTURE(engine.name, compressor, fusion, overlap);
          CHECK(parts(result).count() == Approx(result.iteration.count()).epsilon(1e-12));
          CHECK(result.exposed_communication <= result.communication);
        }
  }
}

// Rank 0 is ready at 1 s, rank 1 at 3 s, the collective ends at 5 s for both, and rank 0's update
// at 7 s, rank 1's at 6 s. Seen from rank 0: 2 s are waiting for the other, 2 s are communication.
TEST_CASE("time before the last rank comes is waiting, not communication", "[result]") {
  RunRecord record;
  record.steps = {{interval(0, 1), interval(1, 5), interval(5, 7)},
                  {interval(0, 3), interval(3, 5), interval(5, 6)}};
  const IterationResult result = summarize(small_plan(2), record);
  CHECK(result.rank == 0);
  CHECK(result.wait.count() == Approx(2));
  CHECK(result.communication.count() == Approx(2));
  CHECK(result.exposed_communication.count() == Approx(2));
  CHECK(result.iteration.count() == 7);
}

// Both end at 6 s: rank 1 computed 4 of them, rank 0 but 2.
TEST_CASE("of ranks that finish together the one that computed longest is seen", "[result]") {
  RunRecord record;
  record.steps = {{interval(0, 1), interval(1, 5), interval(5, 6)},
                  {interval(0, 3), interval(3, 5), interval(5, 6)}};
  const IterationResult result = summarize(small_plan(2), record);
  CHECK(result.rank == 1);
  CHECK(result.backward.count() == Approx(3));
  CHECK(result.wait.count() == Approx(0));
}

TEST_CASE("impossible times are refused", "[result]") {
  for (const double bad : {-1.0, 0.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    RunRecord record;
    record.steps = {{interval(0, 1), interval(1, bad), interval(5, 6)}};
    CAPTURE(bad);
    CHECK_THROWS_AS(summarize(small_plan(1), record), std::logic_error);
  }
}

TEST_CASE("GPUs twice as fast as the trace's take half as long alone") {
  Scenario scenario = toy::scenario();
  const Seconds as_traced = scenario.compute();
  CHECK(alone(scenario) == as_traced);
  scenario.cluster.compute_speed = 2;
  CHECK(alone(scenario) == as_traced / 2);
  // One of two nodes is half as fast: both do the work of 1.5 nodes.
  scenario.cluster = toy::scenario().cluster;
  set_property(scenario.cluster, "compute_speed@1", "0.5");
  const int ranks = scenario.cluster.ranks();
  const int slow = scenario.cluster.gpus_of(1);
  CHECK(alone(scenario) / as_traced == Approx(ranks / (ranks - 0.5 * slow)));
}
