// The contract of the engine `flow`: it answers as SimGrid does, step by step, on 300 random
// scenarios with all that scenarios have: events, other traffic, several jobs, unequal nodes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "tests/sim/engine/scenario_property.hpp"

using namespace gradcast;
using namespace gradcast::scenarios;

namespace {

constexpr int kScenarios = 300;

/// Of the date of the last event of a run.
constexpr double kSame = 1e-9;

/// How many of the scenarios had what: a generator that stopped to draw something would show.
struct Seen {
  int exact = 0, fluid = 0, lost = 0, disturbed = 0, paused = 0, several_jobs = 0, switches = 0,
      unequal = 0, coordinated = 0, sharded = 0, sparse = 0;
  int ties = 0;
};
Seen seen;

void count(const Scenario& scenario, const Plan& plan, const RunRecord& record) {
  seen.lost += !record.lost.empty();
  seen.disturbed += scenario.world.network_disturbed();
  seen.paused += !scenario.world.ranks.empty();
  seen.several_jobs += scenario.world.concurrent_jobs > 1;
  seen.switches += scenario.cluster.nodes_per_leaf > 0;
  seen.unequal += !scenario.cluster.nodes_alike();
  seen.coordinated += plan.coordinated;
  seen.sharded += scenario.shards() > 1;
  seen.sparse += scenario.sparse();
}

Seconds end_of(const RunRecord& record) {
  Seconds end{0};
  for (const auto& steps : record.steps)
    for (const Interval& step : steps) end = std::max(end, step.end);
  return end;
}

/// What two engines say differently, or "".
std::string difference(const Plan& plan, const RunRecord& flow, const RunRecord& simgrid,
                       Seconds slack) {
  if (flow.lost != simgrid.lost) return "lost: '" + flow.lost + "' and '" + simgrid.lost + "'";
  if (flow.flows_simulated != simgrid.flows_simulated) return "other flows";
  if (flow.class_of != simgrid.class_of || flow.steps.size() != simgrid.steps.size())
    return "other classes of ranks";
  const auto apart = [&](Seconds a, Seconds b) { return !(std::abs((a - b).count()) <= slack.count()); };
  for (std::size_t rank = 0; rank < flow.steps.size(); ++rank)
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Interval& its = flow.steps[rank][i];
      const Interval& other = simgrid.steps[rank][i];
      if (apart(its.start, other.start) || apart(its.end, other.end))
        return "class " + std::to_string(rank) + ", '" + plan.steps[i].name + "': " +
               number_to_text(its.start.count()) + " to " + number_to_text(its.end.count()) +
               " s, and SimGrid's " + number_to_text(other.start.count()) + " to " +
               number_to_text(other.end.count()) + " s";
    }
  const IterationResult a = summarize(plan, flow);
  const IterationResult b = summarize(plan, simgrid);
  for (const auto part :
       {&IterationResult::iteration, &IterationResult::forward, &IterationResult::backward,
        &IterationResult::encode, &IterationResult::communication,
        &IterationResult::exposed_communication, &IterationResult::decode, &IterationResult::update,
        &IterationResult::overhead, &IterationResult::wait, &IterationResult::hidden_codec})
    if (apart(a.*part, b.*part)) return "other parts of the iteration";
  return {};
}

/// Whether the run hangs on which of two things comes first that happen at the same date: other
/// durations by some picoseconds then change it by nanoseconds. Rounding decides there, and neither
/// engine is wrong.
bool hangs_on_a_tie(const Plan& plan, const Scenario& scenario, const Engine& engine,
                    const RunRecord& record) {
  for (const int pattern : {2, 3, 5, 7}) {
    Plan other = plan;
    for (std::size_t i = 0; i < other.steps.size(); ++i) {
      const int turn = static_cast<int>((i * 31 + 7) % 97) % pattern;
      other.steps[i].duration += Seconds{5e-12 * turn};
    }
    const RunRecord moved = played(engine, scenario, other);
    if (!difference(plan, moved, record, Seconds{1e-8}).empty()) return true;
  }
  return false;
}

void same_on_both(const Scenario& scenario, const std::string& grain) {
  const Plan plan = make_plan(scenario);
  const RunRecord flow = played(*find_engine("flow-" + grain), scenario, plan);
  const RunRecord simgrid = played(*find_engine("simgrid-" + grain), scenario, plan);
  count(scenario, plan, flow);
  const Seconds slack = kSame * std::max(end_of(flow), end_of(simgrid));
  const std::string differs = difference(plan, flow, simgrid, slack);
  if (differs.empty()) return;
  RC_LOG() << differs << "\n";
  RC_ASSERT(hangs_on_a_tie(plan, scenario, *find_engine("flow-" + grain), flow));
  ++seen.ties;
}

void flow_is_simgrid() {
  const Scenario scenario = *any_scenario();
  same_on_both(scenario, "fluid");
  ++seen.fluid;
  const bool few = messages_of(make_plan(scenario), scenario.cluster) *
                       scenario.world.concurrent_jobs <=
                   kMostMessages;
  if (!few) return;
  same_on_both(scenario, "exact");
  ++seen.exact;
}

/// The bytes that each link carries, by name.
std::string loads_differ(const RunRecord& flow, const RunRecord& simgrid) {
  if (flow.links.size() != simgrid.links.size()) return "other links carry something";
  const auto bytes = [](const LinkLoad& link) {
    double sum = 0;
    for (std::size_t i = 0; i + 1 < link.changes.size(); ++i)
      sum += link.changes[i].rate.value * (link.changes[i + 1].at - link.changes[i].at).count();
    return sum;
  };
  for (std::size_t i = 0; i < flow.links.size(); ++i) {
    if (flow.links[i].name != simgrid.links[i].name) return "other links carry something";
    const double its = bytes(flow.links[i]);
    const double other = bytes(simgrid.links[i]);
    if (!(std::abs(its - other) <= 1e-6 * std::max(its, other) + 1))
      return flow.links[i].name + ": " + number_to_text(its) + " bytes, and SimGrid's " +
             number_to_text(other);
  }
  return {};
}

void flow_loads_links_alike() {
  const Scenario scenario = *any_scenario();
  const Plan plan = make_plan(scenario);
  if (!few_messages(scenario)) RC_DISCARD();
  const auto observed = [&](const char* engine) {
    return find_engine(engine)->run(plan, scenario.cluster, scenario.world, {.links = true});
  };
  const std::string differs = loads_differ(observed("flow-exact"), observed("simgrid-exact"));
  RC_LOG() << differs << "\n";
  RC_ASSERT(differs.empty());
}

}  // namespace

TEST_CASE("flow answers as SimGrid does on 300 random scenarios", "[scenario][contract]") {
  if (!find_engine("simgrid")->built()) return;
  seen = {};
  holds("every step of every rank, exact and fluid", kScenarios, flow_is_simgrid);
  INFO("exact " << seen.exact << ", fluid " << seen.fluid << "; of both: lost " << seen.lost
                << ", disturbed " << seen.disturbed << ", paused " << seen.paused
                << ", several jobs " << seen.several_jobs << ", switches " << seen.switches
                << ", unequal nodes " << seen.unequal << ", coordinated " << seen.coordinated
                << ", sharded " << seen.sharded << ", sparse " << seen.sparse << "; ties "
                << seen.ties);
  CHECK(seen.ties <= 15);
  // Each at least this often, so that nothing goes untested by chance.
  for (const int times : {seen.exact, seen.fluid, seen.lost, seen.disturbed, seen.paused,
                          seen.several_jobs, seen.switches, seen.unequal, seen.coordinated,
                          seen.sharded, seen.sparse})
    CHECK(times >= 10);
}

TEST_CASE("flow loads links as SimGrid does", "[scenario][contract]") {
  if (!find_engine("simgrid")->built()) return;
  holds("bytes of each link", 100, flow_loads_links_alike);
}
