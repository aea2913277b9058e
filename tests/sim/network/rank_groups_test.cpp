// Collectives in groups of ranks: all groups do the same as a group alone, each on its own ranks.
#include "sim/network/rank_groups.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/network/collective_time.hpp"
#include "tests/sim/network/every_collective.hpp"
#include "tests/sim/network/one_switch.hpp"

using namespace gradcast;
using namespace gradcast::contract;
using namespace gradcast::one_switch;

namespace {

std::vector<RankGroups> groups_of(int ranks) {
  std::vector<RankGroups> all;
  for (int stride = 1; stride <= ranks; ++stride)
    for (int length = 1; ranks % stride == 0 && length <= ranks / stride; ++length)
      if (ranks / stride % length == 0) all.push_back({stride, length});
  return all;
}

/// The layout of a group's members, written out.
RankLayout alone(const RankLayout& layout, const std::vector<int>& members) {
  RankLayout own;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (i == 0 || layout.node_of(members[i]) != layout.node_of(members[i - 1]))
      own.first_rank.push_back(static_cast<int>(i));
  own.first_rank.push_back(static_cast<int>(members.size()));
  return own;
}

/// The members of each group, by the words of the header: blocks of stride * length ranks.
std::vector<std::vector<int>> members_of(const RankGroups& groups, int ranks) {
  std::vector<std::vector<int>> all;
  for (int block = 0; block < ranks; block += groups.stride * groups.length)
    for (int offset = 0; offset < groups.stride; ++offset) {
      all.emplace_back();
      for (int i = 0; i < groups.length; ++i)
        all.back().push_back(block + offset + i * groups.stride);
    }
  return all;
}

/// Every message of every round: phase, round, channel, from and to, and what it carries.
using Traffic = std::map<std::tuple<std::size_t, int, int, int, int>, std::int64_t>;

void add_traffic(Traffic& traffic, const std::vector<Phase>& phases,
                 const std::vector<int>& members) {
  for (std::size_t p = 0; p < phases.size(); ++p)
    for (int round = 0; round < phases[p].rounds; ++round)
      for (std::size_t i = 0; i < phases[p].messages.size(); ++i) {
        const Message& message = phases[p].messages[i];
        const int from =
            members.empty() ? message.from : members[static_cast<std::size_t>(message.from)];
        const int to = members.empty() ? message.to : members[static_cast<std::size_t>(message.to)];
        traffic[{p, round, message.channel, from, to}] += phases[p].bytes_of(i, round).count + 1;
      }
}

CollectiveLoad load_alone(const CollectiveLoad& load, const std::vector<int>& members) {
  if (load.contributions.empty()) return load;
  CollectiveLoad own = load;
  own.contributions.clear();
  for (const int rank : members) own.contributions.push_back(load.contribution(rank));
  own.payload = *std::max_element(own.contributions.begin(), own.contributions.end());
  return own;
}

/// Nodes with equal GPUs, or not: layouts for the shards and replicas of a job.
std::vector<RankLayout> nodes_of_all_kinds() {
  return {even_layout(4, 1), even_layout(6, 1), even_layout(1, 8), even_layout(2, 4),
          even_layout(4, 2), even_layout(3, 4), even_layout(4, 4), even_layout(2, 6),
          {{0, 3, 4}},       {{0, 4, 10, 12}},  {{0, 1, 4, 8}},    {{0, 2, 6, 8}}};
}

}  // namespace

TEST_CASE("every rank of a group sends and receives what it does when the group is alone",
          "[groups]") {
  for (const RankLayout& layout : nodes_of_all_kinds())
    for (const RankGroups& groups : groups_of(layout.ranks()))
      for (const Collective* collective : all_described())
        for (const CollectiveLoad& load :
             {equal_load(0), equal_load(1'003), equal_load(3'000'017), unequal_load(layout)}) {
          CAPTURE(collective->name, layout.first_rank, groups.stride, groups.length,
                  load.payload.count);
          Traffic expected;
          std::int64_t bytes = 0;
          bool served = true;
          std::vector<std::vector<std::tuple<int, int, bool>>> rounds;
          for (const std::vector<int>& members : members_of(groups, layout.ranks())) {
            try {
              const std::vector<Phase> phases =
                  collective->phases(alone(layout, members), load_alone(load, members));
              add_traffic(expected, phases, members);
              bytes += bytes_in(phases).count;
              rounds.emplace_back();
              for (const Phase& phase : phases)
                rounds.back().emplace_back(phase.rounds, phase.reducing_rounds, phase.lockstep);
            } catch (const ValueError&) {
              served = false;
            }
          }
          const bool in_step = std::count(rounds.begin(), rounds.end(), rounds.front()) ==
                               static_cast<std::ptrdiff_t>(rounds.size());
          if (!served || !in_step) {
            CHECK_THROWS_AS(phases_in(groups, *collective, layout, load), ValueError);
            continue;
          }
          const std::vector<Phase> phases = phases_in(groups, *collective, layout, load);
          Traffic seen;
          add_traffic(seen, phases, {});
          CHECK(seen == expected);
          CHECK(bytes_in(phases).count == bytes);
          REQUIRE(phases.size() == rounds.front().size());
          for (std::size_t p = 0; p < phases.size(); ++p)
            CHECK(std::tuple(phases[p].rounds, phases[p].reducing_rounds, phases[p].lockstep) ==
                  rounds.front()[p]);
        }
}

TEST_CASE("where groups say that one node tells all, it does", "[groups]") {
  int turning = 0;
  for (const RankLayout& layout : nodes_of_all_kinds())
    for (const RankGroups& groups : groups_of(layout.ranks()))
      for (const Collective* collective : all_described()) {
        CAPTURE(collective->name, layout.first_rank, groups.stride, groups.length);
        std::vector<Phase> phases;
        try {
          phases = phases_in(groups, *collective, layout, equal_load(3'000'017));
        } catch (const ValueError&) {
          continue;
        }
        for (const Phase& phase : phases) {
          if (!phase.rotational) continue;
          ++turning;
          REQUIRE(layout.even());
          const int turn = layout.gpus_of(0);
          const int block = phase.turning_ranks > 0 ? phase.turning_ranks : layout.ranks();
          REQUIRE(layout.ranks() % block == 0);
          std::map<std::tuple<int, int, int>, std::int64_t> sizes;
          for (const Message& message : phase.messages)
            sizes[{message.channel, message.from, message.to}] += message.bytes.count;
          for (const auto& [ends, bytes] : sizes) {
            const auto [channel, from, to] = ends;
            const int first = from / block * block;
            REQUIRE(to / block * block == first);
            const auto turned = sizes.find({channel, first + (from - first + turn) % block,
                                            first + (to - first + turn) % block});
            const auto next = sizes.find(
                {channel, (from + block) % layout.ranks(), (to + block) % layout.ranks()});
            if (turned == sizes.end() || std::abs(turned->second - bytes) > 2 ||
                next == sizes.end() || std::abs(next->second - bytes) > 2)
              FAIL(from << " to " << to);
          }
        }
      }
  CHECK(turning > 500);
}

// Thousands of nodes depend on this: shards inside a node, shards of whole nodes, replicas of both.
TEST_CASE("rings in groups that fit the nodes look the same from all nodes", "[groups]") {
  const RankLayout layout = even_layout(16, 8);
  for (const RankGroups& groups : {RankGroups{1, 2},
                                   {1, 8},
                                   {1, 32},
                                   {1, 128},
                                   {2, 4},
                                   {8, 16},
                                   {4, 32},
                                   {32, 4},
                                   {8, 4},
                                   {16, 2}})
    for (const char* name : {"ring-all-reduce", "ring-all-gather", "ring-reduce-scatter",
                             "rail-ring-all-reduce", "rail-ring-all-gather"})
      for (const Phase& phase :
           phases_in(groups, *find_collective(name), layout, equal_load(1001))) {
        CAPTURE(name, groups.stride, groups.length);
        CHECK(phase.rotational);
      }
  // Inside nodes even what is not the same for all ranks is.
  for (const Phase& phase :
       phases_in({1, 8}, *find_collective("double-binary-tree"), layout, equal_load(1001)))
    CHECK(phase.rotational);
}

TEST_CASE("one node tells for groups what all nodes tell", "[groups]") {
  for (const auto& [nodes, gpus] : {std::pair{4, 4}, {6, 2}, {8, 1}, {2, 6}})
    for (const RankGroups& groups : groups_of(nodes * gpus))
      for (const Collective* collective : all_collectives()) {
        CAPTURE(collective->name, nodes, gpus, groups.stride, groups.length);
        const Topology alike = cluster(nodes, gpus);
        Topology each = alike;
        each.nodes_alike = false;
        std::vector<Phase> phases;
        try {
          phases = phases_in(groups, *collective, even_layout(nodes, gpus), equal_load(2'400'000));
        } catch (const ValueError&) {
          continue;  // two levels, on groups that are on their nodes unevenly
        }
        CHECK(collective_time(phases, alike, kNone).count() ==
              Approx(collective_time(phases, each, kNone).count()).epsilon(1e-5).margin(0));
      }
}

TEST_CASE("groups on links of their own take as long as one of them alone", "[groups]") {
  // Inside nodes: each GPU has its own link.
  for (const int length : {2, 4, 8})
    for (const Collective* collective : all_collectives()) {
      CAPTURE(collective->name, length);
      const auto all =
          phases_in({1, length}, *collective, even_layout(3, 8), equal_load(2'400'000));
      const auto one = collective->phases(even_layout(1, length), equal_load(2'400'000));
      CHECK(
          collective_time(all, cluster(3, 8), kNone).count() ==
          Approx(collective_time(one, cluster(1, length), kNone).count()).epsilon(1e-9).margin(0));
    }
  // One GPU a node: each has its own NIC, whatever the stride.
  for (const RankGroups& groups : groups_of(12))
    for (const Collective* collective : all_collectives()) {
      CAPTURE(collective->name, groups.stride, groups.length);
      const auto all = phases_in(groups, *collective, even_layout(12, 1), equal_load(2'400'000));
      const auto one = collective->phases(even_layout(groups.length, 1), equal_load(2'400'000));
      const double alone_takes =
          one.empty() ? 0 : collective_time(one, cluster(groups.length, 1), kNone).count();
      CHECK(collective_time(all, cluster(12, 1), kNone).count() ==
            Approx(alone_takes).epsilon(1e-9).margin(0));
    }
}

// Four nodes of eight GPUs and one NIC; replicas of the eight shards: eight rings of four ranks, a
// message of each through every NIC in every round. 4 MB are chunks of 1 MB: 6 rounds of 26 us and
// 8 MB at 1.2 GB/s.
TEST_CASE("replica groups share their nodes' NIC", "[groups]") {
  const auto phases = phases_in({8, 4}, *find_collective("ring-all-reduce"), even_layout(4, 8),
                                equal_load(4'000'000));
  CHECK(collective_time(phases, cluster(4, 8), kNone).count() ==
        Approx(6 * (26e-6 + 8e6 / 1.2e9)).epsilon(1e-9));
}

TEST_CASE("the first group's layout tells which of its ranks share a node", "[groups]") {
  const RankLayout layout = even_layout(4, 8);
  CHECK(layout_in({}, layout).first_rank == layout.first_rank);
  CHECK(layout_in({1, 8}, layout).first_rank == std::vector{0, 8});
  CHECK(layout_in({1, 16}, layout).first_rank == std::vector{0, 8, 16});
  CHECK(layout_in({4, 8}, layout).first_rank == std::vector{0, 2, 4, 6, 8});
  CHECK(layout_in({8, 4}, layout).first_rank == std::vector{0, 1, 2, 3, 4});
  CHECK(layout_in({1, 4}, {{0, 3, 8}}).first_rank == std::vector{0, 3, 4});
}

TEST_CASE("groups that do not divide the ranks are refused, and what would is said", "[groups]") {
  const Collective& ring = *find_collective("ring-all-reduce");
  CHECK_THROWS_WITH(phases_in({1, 5}, ring, even_layout(2, 4), equal_load(8)),
                    "groups of 5 ranks do not divide 8 ranks; groups of ranks 1 apart may have 1, "
                    "2, 4, 8");
  CHECK_THROWS_WITH(layout_in({2, 3}, even_layout(2, 4)),
                    "groups of 3 ranks, 2 apart do not divide 8 ranks; groups of ranks 2 apart may "
                    "have 1, 2, 4");
  CHECK_THROWS_WITH(layout_in({3, 2}, even_layout(2, 4)),
                    Catch::Contains("may be as far apart as a divisor of 8"));
  for (const RankGroups& wrong : {RankGroups{0, 2}, {-1, 8}, {1, -4}, {16, 1}, {1, 16}})
    CHECK_THROWS_AS(phases_in(wrong, ring, even_layout(2, 4), equal_load(8)), ValueError);
}

// Nodes of 4, 2 and 2 GPUs: the first four ranks share a node, the others are on two.
TEST_CASE("groups that go in other rounds than others are refused, and a remedy is said",
          "[groups]") {
  const RankLayout layout{{0, 4, 6, 8}};
  CHECK_THROWS_WITH(
      phases_in({1, 4}, *find_collective("two-level-all-gather"), layout, equal_load(800)),
      Catch::Contains("two-level-all-gather in groups of 4 ranks goes in other rounds in some") &&
          Catch::Contains("ring-all-gather"));
  CHECK_NOTHROW(phases_in({1, 4}, *find_collective("ring-all-gather"), layout, equal_load(800)));
}

// Nodes of 5 GPUs in groups of 3: ranks 0 to 2 share a node, one ring; ranks 3 to 5 are on two
// nodes, rails of two channels. With 1000 bytes a second to add up with, ranks 0 to 2 take no
// longer for it than alone: a chunk of 1000 bytes in each of two rounds.
TEST_CASE("a ring in one group goes beside rails in another", "[groups]") {
  const auto phases = phases_in({1, 3}, *find_collective("rail-ring-reduce-scatter"),
                                even_layout(3, 5), equal_load(3000));
  REQUIRE(phases.size() == 1);
  CHECK(phases[0].channels == 2);
  Topology topology = cluster(3, 5, {1e15, 0}, {1e15, 0});
  topology.nodes_alike = false;
  CHECK(collective_time(phases, topology, {.reduction_bandwidth = {1000}}).count() ==
        Approx(2).epsilon(1e-9));
}

TEST_CASE("parameter servers in many large groups are refused before they fill the memory",
          "[groups]") {
  CHECK_THROWS_WITH(phases_in({1, 4096}, *find_collective("parameter-server"), even_layout(2048, 8),
                              equal_load(800)),
                    Catch::Contains("messages at once; the most is"));
}
