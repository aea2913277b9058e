// Properties of every scenario on every engine, by random ones: it ends, its parts add up, and a
// better cluster makes nothing worse.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/sim/engine/scenario_property.hpp"

using namespace gradcast;
using namespace gradcast::scenarios;

namespace {

bool lasts_for_ever(const World& world) {
  const auto stops = [](const auto& events, auto of) {
    return std::any_of(events.begin(), events.end(),
                       [&](const auto& event) { return event.*of == 0 && !event.period.lasting; });
  };
  return stops(world.ranks, &RankEvent::speed) || stops(world.links, &LinkEvent::share);
}

void require_parts(const IterationResult& result) {
  const Seconds parts[] = {
      result.forward, result.backward, result.encode,   result.exposed_communication,
      result.decode,  result.update,   result.overhead, result.wait};
  const double iteration = result.iteration.count();
  double sum = 0;
  for (const Seconds part : parts) {
    RC_ASSERT(part >= Seconds{0});
    sum += part.count();
  }
  RC_ASSERT(std::isfinite(iteration));
  RC_ASSERT(std::abs(sum - iteration) <= 1e-9 * iteration);
  RC_ASSERT(result.exposed_communication.count() <=
            result.communication.count() + 1e-12 * iteration);
  RC_ASSERT(result.hidden_codec >= Seconds{0});
}

/// Without overlap nothing is hidden, but what the next forward of a priority queue hides. A
/// collective alone comes after nothing.
void require_in_series(const Scenario& scenario, const IterationResult& result) {
  if (scenario.overlap || scenario.pipeline || scenario.queue == Queue::Priority ||
      scenario.payload.count > 0)
    return;
  const double least = 1e-9 * result.iteration.count();
  RC_ASSERT((result.communication - result.exposed_communication).count() <= least);
  RC_ASSERT(result.hidden_codec.count() <= least);
}

void require_same(const RunRecord& a, const RunRecord& b) {
  RC_ASSERT(a.lost == b.lost);
  RC_ASSERT(a.class_of == b.class_of);
  RC_ASSERT(a.flows_simulated == b.flows_simulated);
  RC_ASSERT(a.steps.size() == b.steps.size());
  for (std::size_t id = 0; id < a.steps.size(); ++id)
    for (std::size_t step = 0; step < a.steps[id].size(); ++step) {
      RC_ASSERT(a.steps[id][step].start == b.steps[id][step].start);
      RC_ASSERT(a.steps[id][step].end == b.steps[id][step].end);
    }
}

void any_scenario_ends() {
  const Scenario scenario = *any_scenario();
  const Plan plan = make_plan(scenario);
  for (const Engine* engine : engines_for(scenario)) {
    RC_LOG() << engine->name << "\n";
    const RunRecord record = played(*engine, scenario, plan);
    const IterationResult result = summarize(plan, record);
    if (record.lost.empty()) {
      require_parts(result);
      require_in_series(scenario, result);
    } else {
      RC_ASSERT(lasts_for_ever(scenario.world));
    }
    require_same(record, played(*engine, scenario, plan));
  }
}

Cluster with_twice_the_bandwidth(Cluster cluster) {
  for (BytesPerSecond* rate :
       {&cluster.nic.bandwidth, &cluster.intra.bandwidth, &cluster.pcie_bandwidth,
        &cluster.leaf_uplink_bandwidth, &cluster.pod_uplink_bandwidth})
    rate->value *= 2;
  for (const NodeOverride& override : std::vector<NodeOverride>(cluster.overrides()))
    if (override.property.ends_with("bandwidth"))
      set_property(cluster, override.name(),
                   to_text(BytesPerSecond{2 * parse_rate(override.value).value}));
  return cluster;
}

/// Whether messages of several ranks share links in the exact engine. A rank that is late leaves
/// more to the others then, and what they do may be what the last waits for.
bool meets(const Engine& engine, const Scenario& scenario) {
  return engine.name.ends_with("-exact") &&
         (scenario.cluster.ranks() > scenario.cluster.nodes ||
          scenario.cluster.nodes_per_leaf > 0 || !scenario.collective->name.starts_with("ring-"));
}

void require_no_later(const Engine& engine, const Scenario& scenario, const Scenario& quicker,
                      double slack) {
  const double before = result_of(engine, scenario).iteration.count();
  const double after = result_of(engine, quicker).iteration.count();
  RC_LOG() << engine.name << ": " << before << " s, quicker " << after << " s\n";
  RC_ASSERT(after <= before * (1 + slack));
}

void bandwidth_helps() {
  const Scenario scenario = *any_scenario({.plain = true, .in_order = true});
  Scenario quicker = scenario;
  quicker.cluster = with_twice_the_bandwidth(scenario.cluster);
  for (const Engine* engine : engines_for(scenario))
    require_no_later(*engine, scenario, quicker, 1e-9);
}

void a_slow_rank_hinders() {
  const Scenario scenario = *any_scenario({.plain = true, .in_order = true});
  Scenario slower = scenario;
  slower.rank_speeds.resize(static_cast<std::size_t>(scenario.cluster.ranks()), 1);
  slower.rank_speeds[static_cast<std::size_t>(number(0, scenario.cluster.ranks() - 1))] *=
      number(50, 99) / 100.0;
  for (const Engine* engine : engines_for(scenario))
    require_no_later(*engine, slower, scenario, meets(*engine, scenario) ? 0.25 : 1e-9);
}

constexpr Property kProperties[] = {
    {"it ends, its parts add up, and it is the same again", 1000, any_scenario_ends},
    {"twice the bandwidth is no slower", 400, bandwidth_helps},
    {"a slower rank is no faster", 400, a_slow_rank_hinders},
};

}  // namespace

TEST_CASE("what holds of every scenario, some of them", "[scenario]") {
  check_all(kProperties, 20);
}

// About 20 s.
TEST_CASE("what holds of every scenario, 1,800 of them", "[scenario][slow]") {
  check_all(kProperties, 1);
}
