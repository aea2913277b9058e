// Properties of sharded training, by random models and layouts.
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/network/collective_choice.hpp"
#include "sim/plan/plan_summary.hpp"
#include "tests/sim/engine/scenario_property.hpp"

using namespace gradcast;
using namespace gradcast::scenarios;

namespace {

/// A plain dense run of FSDP on equal ranks, with overlap.
Scenario draw_fsdp() {
  Scenario scenario = *any_scenario({.flat = true, .plain = true, .in_step = true});
  if (scenario.payload.count > 0 || scenario.cluster.ranks() == 1) RC_DISCARD();
  scenario = dense_twin(scenario);
  scenario.collective = &default_collective(Aggregation::AllReduce);
  scenario.sharding = parse_sharding("fsdp");
  scenario.sharding.reshard_after_forward = chance(70);
  scenario.overlap = true;
  scenario.cluster.computing_slowdown = 0;
  scenario.cluster.communication_slowdown = 0;  // it makes computing longer when more is hidden
  draw_units(scenario.model.change());
  return scenario;
}

Seconds iteration(const Scenario& scenario) {
  return result_of(*find_engine("analytic"), scenario).iteration;
}

void prefetch_helps() {
  Scenario scenario = draw_fsdp();
  Seconds before{1e9};
  for (int prefetch = 0; prefetch <= 4; ++prefetch) {
    scenario.sharding.prefetch = prefetch;
    const Seconds its = iteration(scenario);
    RC_LOG() << "prefetch " << prefetch << ": " << its.count() << " s\n";
    RC_ASSERT(its <= before * (1 + 1e-9));
    before = its;
  }
}

/// The bound: all that is computed, and all bytes through one NIC. (Latencies are no bound: a rank
/// that is early begins the next collective while others are in the last.)
void nothing_is_faster_than_its_parts() {
  const Scenario scenario = draw_fsdp();
  const Plan plan = make_plan(scenario);
  Seconds computing{0};
  for (const PlanStep& step : plan.steps)
    if (step.kind != StepKind::Collective) computing += step.duration;
  const Seconds its = iteration(scenario) * (1 + 1e-9);
  RC_ASSERT(its >= computing);
  const double sent = sent_bytes_per_rank(plan, scenario.cluster);
  RC_ASSERT(its.count() >= sent / scenario.cluster.nic.bandwidth.value * (1 - 1e-6) - 1e-9);
}

/// Without overlap and prefetch everything follows one another.
void in_series_it_is_the_sum() {
  Scenario scenario = draw_fsdp();
  scenario.overlap = false;
  scenario.sharding.prefetch = 0;
  const Plan plan = make_plan(scenario);
  const CollectiveChoice network(scenario.cluster);
  Seconds sum{0};
  for (const PlanStep& step : plan.steps) {
    const bool travels = step.kind == StepKind::Collective;
    const bool computes = !travels && step.kind != StepKind::Overhead;  // that is the host's
    sum += step.duration / (computes ? plan.rank_speeds.front() : 1);
    if (travels) sum += network.time(*step.collective, step.load, step.groups);
  }
  const Seconds its = iteration(scenario);
  RC_LOG() << its.count() << " s, sum " << sum.count() << " s\n";
  RC_ASSERT(std::abs(its / sum - 1) <= 1e-9);
}

/// Bytes of a model in which every tensor divides by the ranks: no remainders.
void bytes_are_as_by_hand() {
  Scenario scenario = draw_fsdp();
  const int ranks = scenario.cluster.ranks();
  double parameters = 0;
  double gradients = 0;
  for (GradientTensor& tensor : scenario.model.change().tensors) {
    tensor.elements *= ranks;
    parameters += static_cast<double>(tensor.bytes().count);
    gradients += static_cast<double>(tensor.sum_bytes().count);
  }
  scenario.accumulation = 1;
  scenario.owners_broadcast = false;
  scenario.fusion.finds_unused = false;  // it sends more than gradients
  const double share = (ranks - 1.0) / ranks;
  const auto require_sent = [&](const char* kind, double bytes) {
    scenario.sharding.kind = parse_sharding(kind).kind;
    const double sent = sent_bytes_per_rank(make_plan(scenario), scenario.cluster);
    RC_LOG() << kind << ": " << sent << " bytes, by hand " << bytes << "\n";
    RC_ASSERT(std::abs(sent - bytes) <= 1e-9 * bytes);
  };
  double trained = 0;  // parameters of what is in buckets
  for (const GradientTensor& tensor : scenario.model->tensors)
    if (!tensor.frozen) trained += static_cast<double>(tensor.bytes().count);
  require_sent("none", 2 * share * gradients);
  require_sent("zero1", share * (gradients + trained));
  scenario.owners_broadcast = true;  // frozen parameters too, each from its owner to all others
  require_sent("zero1", 2 * share * gradients + share * parameters);
  require_sent("zero2", share * (gradients + trained));
  const int gathers = scenario.sharding.reshard_after_forward ? 2 : 1;
  require_sent("fsdp", share * (gradients + gathers * parameters));
}

constexpr Property kProperties[] = {
    {"more prefetch is no slower", 200, prefetch_helps},
    {"nothing is faster than its parts", 200, nothing_is_faster_than_its_parts},
    {"in series it is the sum of its steps", 200, in_series_it_is_the_sum},
    {"bytes are as by hand", 200, bytes_are_as_by_hand},
};

}  // namespace

TEST_CASE("what holds of sharded training, some of it", "[scenario][sharding]") {
  check_all(kProperties, 4);
}

TEST_CASE("what holds of sharded training, 800 runs", "[scenario][sharding][slow]") {
  check_all(kProperties, 1);
}
