// The scenarios of the contract between engines: that they leave out nothing, and that whatever
// holds two records against each other sees a difference.
#include "tests/sim/engine/contract_scenarios.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "tests/sim/engine/same_run.hpp"
#include "tests/sim/engine/scenario_in_words.hpp"

using namespace gradcast;
using namespace gradcast::scenarios;

namespace {

/// Counts the scenarios that have each feature.
class Census {
 public:
  void count(const std::string& what, bool is_so = true) { counts_[what] += is_so ? 1 : 0; }

  std::string table() const {
    std::string text;
    for (const auto& [what, count] : counts_) text += std::to_string(count) + "  " + what + "\n";
    return text;
  }

  /// Features that fewer scenarios have than these.
  std::string rare(int least) const {
    std::string text;
    for (const auto& [what, count] : counts_)
      if (count < least) text += what + " ";
    return text;
  }

 private:
  std::map<std::string, int> counts_;
};

void count_training(Census& census, const Scenario& scenario) {
  for (const Compressor* compressor : all_compressors())
    census.count("compressor " + std::string(compressor->name), scenario.compressor == compressor);
  census.count("collective alone", scenario.payload.count > 0);
  for (const Fusion::Kind kind :
       {Fusion::Kind::Layer, Fusion::Kind::Merged, Fusion::Kind::Size, Fusion::Kind::Ddp,
        Fusion::Kind::Cycle, Fusion::Kind::MgWfbp, Fusion::Kind::Omgs})
    census.count("fusion " + std::to_string(static_cast<int>(kind)), scenario.fusion.kind == kind);
  census.count("unused parameters", scenario.fusion.finds_unused);
  census.count("overlap", scenario.overlap);
  census.count("no overlap", !scenario.overlap);
  census.count("priority queue", scenario.queue == Queue::Priority);
  census.count("several network streams", scenario.network_streams > 1);
  census.count("encoding on the side", scenario.encode_stream == EncodeStream::Side);
  census.count("counts differ", scenario.count_spread > 0);
  census.count("micro-steps", scenario.accumulation > 1);
  for (const Sharding kind : {Sharding::None, Sharding::Zero1, Sharding::Zero2, Sharding::Fsdp})
    census.count("sharding " + std::to_string(static_cast<int>(kind)),
                 scenario.sharding.kind == kind);
}

void count_cluster(Census& census, const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  census.count("one node", cluster.nodes == 1);
  census.count("several nodes", cluster.nodes > 1);
  census.count("several GPUs a node", cluster.ranks() > cluster.nodes);
  census.count("several NICs", cluster.nics_per_node > 1);
  census.count("PCIe", cluster.pcie_bandwidth.value > 0);
  census.count("leaves", cluster.nodes_per_leaf > 0);
  census.count("pods", cluster.leaves_per_pod > 0);
  census.count("nodes with other properties", !cluster.overrides().empty());
  for (const NodeOverride& override : cluster.overrides())
    census.count("nodes with another " + override.property);
  census.count("NICs drawn slower", !cluster.nic_slowness.empty());
  census.count("ranks of other speeds", !scenario.rank_speeds.empty());
  census.count("eager limit", cluster.eager_limit.count > 0);
  census.count("staging through the host", cluster.staging_bandwidth.value > 0);
  census.count("share of a NIC", cluster.nic_share < 1);
  census.count("software a message", cluster.per_message_latency.count() > 0);
  census.count("sums take their time", cluster.reduction_bandwidth.value > 0);
  census.count("computing slows collectives", cluster.computing_slowdown > 0);
  census.count("collectives start late", cluster.late_start > 0);
  census.count("FSDP copies what it gathers", cluster.shard_copy_passes > 0);
}

std::string lasting(const Period& period) { return period.lasting ? " for a while" : " for ever"; }

void count_world(Census& census, const World& world) {
  for (const RankEvent& event : world.ranks)
    census.count((event.speed == 0 ? "a rank pauses" : "a rank slows down") +
                 lasting(event.period));
  for (const LinkEvent& event : world.links)
    census.count((event.share == 0  ? "a link is down"
                  : event.share < 1 ? "a link is narrower"
                                    : "a link is wider") +
                 lasting(event.period));
  for (const BackgroundFlow& flow : world.flows)
    census.count((flow.most.value > 0 ? "others send at a rate" : "others send what they can") +
                 lasting(flow.period));
  for (int jobs = 1; jobs <= 3; ++jobs)
    census.count("jobs " + std::to_string(jobs), world.concurrent_jobs == jobs);
}

void count_plan(Census& census, const Plan& plan) {
  std::set<const Collective*> used;  // also of shards, and before and after others
  std::set<int> communicators;
  for (const PlanStep& step : plan.steps)
    if (step.kind == StepKind::Collective) {
      used.insert(step.collective);
      communicators.insert(step.communicator);
    }
  census.count("several communicators", communicators.size() > 1);
  census.count("coordinated queue", plan.coordinated);
  for (const Collective* collective : all_collectives())
    census.count("collective " + std::string(collective->name), used.count(collective) > 0);
}

RunRecord short_record() {
  RunRecord record;
  record.steps = {{{Seconds{0}, Seconds{1}}}};
  record.links = {{"node0.nic0.up", {{Seconds{0}, {10}}, {Seconds{0.5}, {0}}}}};
  return record;
}

Plan short_plan() {
  Plan plan;
  plan.rank_speeds = {1};
  plan.steps.push_back({StepKind::Forward, "forward", {}, Seconds{1}, nullptr, {}});
  return plan;
}

}  // namespace

// With -s it prints how many have what.
TEST_CASE("the scenarios of the contract leave out nothing", "[contract]") {
  Census census;
  for (int which = 0; which < kContractScenarios; ++which) {
    const ContractScenario drawn = contract_scenario(which);
    count_training(census, drawn.scenario);
    count_cluster(census, drawn.scenario);
    count_world(census, drawn.scenario.world);
    count_plan(census, drawn.plan);
    census.count("observed", drawn.observed);
  }
  INFO(census.table());
  CHECK(census.rare(2) == "");
}

TEST_CASE("a scenario of the contract is the same whenever it is drawn", "[contract]") {
  const ContractScenario drawn = contract_scenario(7);
  static_cast<void>(contract_scenario(8));
  const ContractScenario again = contract_scenario(7);
  CHECK(described(drawn.scenario) == described(again.scenario));
  CHECK(described(drawn.scenario) != described(contract_scenario(8).scenario));
}

/// Traffic of others is sent in pieces of whole bytes. The last bit of a date may make a piece a
/// byte longer; there are some tens of pieces.
Seconds slack_of(const Scenario& scenario, const RunRecord& record) {
  Seconds slack = kSameTime * end_of(record);
  if (scenario.world.flows.empty()) return slack;
  double narrowest = std::numeric_limits<double>::infinity();
  for (const TopologyLink& link : make_topology(scenario.cluster).links)
    narrowest = std::min(narrowest, link.bandwidth.value);
  return slack + Bytes{10} / BytesPerSecond{narrowest};
}

// Two events at the same date happen in some order. If a run depends on it, rounding decides, and
// neither engine is wrong. `kMostTies`: none of these 600, and 2 of 600 that were drawn otherwise.
TEST_CASE("flow answers as SimGrid does, in both grains", "[contract]") {
  if (!find_engine("simgrid")->built()) return;
  constexpr int kMostTies = 6;
  Census census;
  int ties = 0;
  for (const std::string grain : {"exact", "fluid"}) {
    const Engine& flow = *find_engine("flow-" + grain);
    const Engine& simgrid = *find_engine("simgrid-" + grain);
    for (int which = 0; which < kContractScenarios; ++which) {
      const ContractScenario drawn = contract_scenario(which);
      const auto play = [&](const Engine& engine, const Plan& plan) {
        return engine.run(plan, drawn.scenario.cluster, drawn.scenario.world,
                          {.links = drawn.observed});
      };
      const RunRecord record = play(flow, drawn.plan);
      const std::string difference = difference_of(drawn.plan, record, play(simgrid, drawn.plan),
                                                   slack_of(drawn.scenario, record));
      census.count(grain + ": lost", !record.lost.empty());
      census.count(grain + ": loads of links", !record.links.empty());
      if (difference.empty()) continue;
      CAPTURE(grain, which, difference, described(drawn.scenario));
      CHECK(hangs_on_a_tie(drawn.plan, record, [&](const Plan& plan) { return play(flow, plan); }));
      ++ties;
    }
  }
  INFO(census.table() << ties << "  ties");
  CHECK(census.rare(2) == "");
  CHECK(ties <= kMostTies);
}

// 1e-9 of a second are within what may differ, 2e-9 are not.
TEST_CASE("a record that differs from another is seen", "[contract]") {
  const Plan plan = short_plan();
  const RunRecord record = short_record();
  CHECK(difference_of(plan, record, record) == "");
  const auto changed = [&](auto change) {
    RunRecord other = record;
    change(other);
    return difference_of(plan, record, other);
  };
  CHECK(changed([](RunRecord& other) { other.lost = "x"; }) != "");
  CHECK(changed([](RunRecord& other) { other.class_of = {0}; }) == "");  // the same rank
  CHECK(changed([](RunRecord& other) { other.class_of = {0, 0}; }) != "");
  CHECK(changed([](RunRecord& other) { other.flows_simulated = 1; }) != "");
  CHECK(changed([](RunRecord& other) { other.links_note = "x"; }) != "");
  const auto later = [&](double seconds) {
    return changed([&](RunRecord& other) { other.steps[0][0].end += Seconds{seconds}; });
  };
  CHECK(later(0.9e-9) == "");
  CHECK(later(2e-9) != "");
  // 5 bytes in half a second, of which a millionth may differ.
  const auto wider = [&](double share) {
    return changed([&](RunRecord& other) { other.links[0].changes[0].rate.value *= 1 + share; });
  };
  CHECK(wider(0.9e-6) == "");
  CHECK(wider(1e-5) != "");
  CHECK(changed([](RunRecord& other) { other.links.clear(); }) != "");
}
