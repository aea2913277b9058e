// The scenarios on which engines that promise the same answers are held against each other. They
// are the same in every build: this project's own random numbers draw them, by their numbers.
#pragma once
#include <algorithm>
#include <cstdint>

#include "sim/base/random.hpp"
#include "sim/plan/plan_summary.hpp"
#include "tests/sim/engine/random_scenario.hpp"

namespace gradcast::scenarios {

inline constexpr std::uint64_t kContractSeed = 2026;
inline constexpr int kContractScenarios = 360;

/// More messages than this take their time and show nothing new.
inline constexpr std::int64_t kMostContractMessages = 5'000;

struct ContractScenario {
  Scenario scenario;
  Plan plan;
  bool observed = false;  // also record the links' loads
};

/// Draws properties that the scenarios of properties leave out.
inline void draw_more_software(Cluster& cluster) {
  if (chance(20)) cluster.eager_limit = Bytes{number(1, 1'000'000)};
  if (chance(20)) cluster.staging_bandwidth = rate();
  if (chance(20)) cluster.nic_share = number(30, 99) / 100.0;
  if (chance(20)) cluster.host_bandwidth = rate();
}

/// Requirements on a scenario. Left to chance, collectives that few compressors and clusters can
/// use, and shards, would hardly be drawn.
struct ContractTurn {
  const Collective* collective = nullptr;  // nullptr: any, or the fastest
  bool sharded = false;

  bool taken_by(const Scenario& scenario) const {
    return (collective == nullptr || scenario.collective == collective) &&
           (!sharded || scenario.sharding.kind != Sharding::None);
  }
};

/// Each collective in turn, three times shards, three times anything.
inline ContractTurn contract_turn(int which) {
  const auto all = all_collectives();
  const std::size_t turn = static_cast<std::size_t>(which) % (all.size() + 6);
  if (turn < all.size()) return {all[turn], false};
  return {nullptr, turn < all.size() + 3};
}

/// `which`: from 0 to kContractScenarios - 1, or any other.
inline ContractScenario contract_scenario(int which) {
  DrawName name{kContractSeed, static_cast<std::uint64_t>(which), Draw::Samples, 0};
  const ChosenBy chosen([&name](int least, int most) {
    const int choices = most - least + 1;
    const int choice = static_cast<int>(uniform(name) * choices);
    ++name.index;
    return least + std::min(choice, choices - 1);
  });
  const ContractTurn turn = contract_turn(which);
  for (;;) {
    ContractScenario drawn;
    drawn.scenario = draw_scenario({});
    if (!turn.taken_by(drawn.scenario)) continue;
    draw_more_software(drawn.scenario.cluster);
    drawn.observed = chance(25);
    drawn.plan = make_plan(drawn.scenario);
    const std::int64_t messages =
        messages_of(drawn.plan, drawn.scenario.cluster) * drawn.scenario.world.concurrent_jobs;
    if (messages > 0 && messages <= kMostContractMessages) return drawn;
  }
}

}  // namespace gradcast::scenarios
