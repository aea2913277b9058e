// What every collective promises. A new one is covered by its line in collectives.def and one in
// kDue below.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/network/collective.hpp"

using namespace gradcast;

namespace {

std::vector<RankLayout> layouts() {
  std::vector<RankLayout> all;
  for (int ranks = 1; ranks <= 17; ++ranks) all.push_back(even_layout(ranks, 1));
  for (const int ranks : {31, 32, 33, 48, 63, 64}) all.push_back(even_layout(ranks, 1));
  for (const int gpus : {2, 3, 8, 13}) all.push_back(even_layout(1, gpus));
  for (const auto& [nodes, gpus] :
       {std::pair{2, 2}, {2, 3}, {3, 2}, {3, 5}, {4, 4}, {4, 8}, {6, 8}})
    all.push_back(even_layout(nodes, gpus));
  all.push_back({{0, 3, 4}});
  all.push_back({{0, 4, 10, 12}});
  return all;
}

/// The table, and what it has around encodings.
std::vector<const Collective*> all_described() {
  std::vector<const Collective*> all;
  for (const Collective* collective : all_collectives()) {
    all.push_back(collective);
    for (const Collective* around : {collective->before, collective->after})
      if (around != nullptr) all.push_back(around);
  }
  return all;
}

bool has_levels(const Collective& collective) {
  return collective.name.starts_with("two-level") || collective.name.starts_with("node-");
}

CollectiveLoad equal_load(std::int64_t payload) {
  return {.payload = {payload}, .elements = std::max<std::int64_t>(1, payload)};
}

CollectiveLoad unequal_load(const RankLayout& layout) {
  CollectiveLoad load{.elements = 100'000};
  for (int rank = 0; rank < layout.ranks(); ++rank)
    load.contributions.push_back({8 * (1000 + (rank * 7919) % 613)});
  load.payload = *std::max_element(load.contributions.begin(), load.contributions.end());
  return load;
}

/// Calls f(collective, layout, phases) for all that serve.
template <class F>
void for_all(const CollectiveLoad& load, F f) {
  for (const RankLayout& layout : layouts())
    for (const Collective* collective : all_described())
      if (layout.even() || !has_levels(*collective)) {
        CAPTURE(collective->name, layout.first_rank, load.payload.count);
        f(*collective, layout, collective->phases(layout, load));
      }
}

void check_well_formed(const RankLayout& layout, const std::vector<Phase>& phases) {
  if (layout.ranks() == 1) REQUIRE(phases.empty());
  std::int64_t sum = 0;
  for (const Phase& phase : phases) {
    REQUIRE(phase.rounds >= 1);
    REQUIRE(phase.reducing_rounds >= 0);
    REQUIRE(phase.reducing_rounds <= phase.rounds);
    REQUIRE_FALSE(phase.messages.empty());
    std::map<std::pair<int, int>, int> edges;
    for (std::size_t i = 0; i < phase.messages.size(); ++i) {
      const Message& message = phase.messages[i];
      std::int64_t most = 0;
      for (int round = 0; round < phase.rounds; ++round) {
        const std::int64_t bytes = phase.bytes_of(i, round).count;
        most = std::max(most, bytes);
        sum += bytes;
      }
      const bool right = message.from >= 0 && message.from < layout.ranks() && message.to >= 0 &&
                         message.to < layout.ranks() && message.from != message.to &&
                         message.bytes.count == most && ++edges[{message.from, message.to}] == 1;
      if (!right) FAIL("message " << i << ": " << message.from << " to " << message.to);
    }
  }
  CHECK(bytes_in(phases).count == sum);
}

}  // namespace

TEST_CASE("messages are between two ranks, and tell the most that passes", "[collective]") {
  for (const std::int64_t payload : {0, 5, 3'000'017})
    for_all(equal_load(payload),
            [](const Collective&, const RankLayout& layout, const std::vector<Phase>& phases) {
              check_well_formed(layout, phases);
            });
  for (const RankLayout& layout : layouts())
    for (const Collective* collective : all_described())
      if (layout.even() || !has_levels(*collective)) {
        CAPTURE(collective->name, layout.first_rank);
        check_well_formed(layout, collective->phases(layout, unequal_load(layout)));
      }
}

TEST_CASE("where a phase says that one node tells all, it does", "[collective]") {
  const auto check = [](const RankLayout& layout, const std::vector<Phase>& phases) {
    for (const Phase& phase : phases) {
      if (!phase.rotational) continue;
      REQUIRE(layout.even());
      std::map<std::pair<int, int>, std::int64_t> sizes;
      for (const Message& message : phase.messages)
        sizes[{message.from, message.to}] = message.bytes.count;
      const int turn = layout.gpus_of(0);
      for (const Message& message : phase.messages) {
        const auto turned = sizes.find(
            {(message.from + turn) % layout.ranks(), (message.to + turn) % layout.ranks()});
        // A division inside a division may leave two bytes.
        if (turned == sizes.end() || std::abs(turned->second - message.bytes.count) > 2)
          FAIL(message.from << " to " << message.to);
      }
    }
  };
  for_all(equal_load(3'000'017), [&](const Collective&, const RankLayout& layout,
                                     const std::vector<Phase>& phases) { check(layout, phases); });
  for (const RankLayout& layout : layouts())
    for (const Collective* collective : all_described())
      if (layout.even() || !has_levels(*collective)) {
        CAPTURE(collective->name, layout.first_rank);
        check(layout, collective->phases(layout, unequal_load(layout)));
      }
}

TEST_CASE("rings look the same from all nodes, which makes large ones cheap", "[collective]") {
  for (const char* name :
       {"ring-all-reduce", "ring-all-gather", "ring-reduce-scatter", "two-level-all-reduce",
        "two-level-all-gather", "two-level-sparse", "bruck-all-gather", "parameter-server"})
    for (const Phase& phase : find_collective(name)->phases(even_layout(4, 8), equal_load(1001))) {
      CAPTURE(name);
      CHECK(phase.rotational);
    }
}

namespace {

// Bytes due in all, of a buffer of S bytes on each of n ranks, or contributions of T bytes
// together. To get the sum of n buffers on n ranks, n - 1 partial sums and n - 1 results of every
// byte must be sent: 2 (n-1) S, which all but one of the all-reduces keep to. A gathered
// contribution is sent to n - 1 ranks.
using Due = std::int64_t (*)(const RankLayout& layout, std::int64_t S, std::int64_t T);

std::int64_t reduced(const RankLayout& layout, std::int64_t S, std::int64_t) {
  return 2 * (layout.ranks() - 1) * S;
}
std::int64_t gathered(const RankLayout& layout, std::int64_t, std::int64_t T) {
  return (layout.ranks() - 1) * T;
}
std::int64_t scattered_in_nodes(const RankLayout& layout, std::int64_t S, std::int64_t) {
  return (layout.ranks() - layout.nodes()) * S;
}

const std::map<std::string_view, Due> kDue{
    {"ring-all-reduce", reduced},
    {"recursive-halving-doubling", reduced},
    {"double-binary-tree", reduced},
    {"two-level-all-reduce", reduced},
    {"parameter-server", reduced},
    {"gtopk", reduced},
    // Buffers are whole in every exchange: p log2(p) of them, and 2 for each rank beyond p.
    {"recursive-doubling-all-reduce",
     [](const RankLayout& layout, std::int64_t S, std::int64_t) {
       const auto n = static_cast<unsigned>(layout.ranks());
       const auto p = std::bit_floor(n);
       return (p * std::countr_zero(p) + 2 * (n - p)) * S;
     }},
    {"ring-reduce-scatter", [](const RankLayout& layout, std::int64_t S,
                               std::int64_t) { return (layout.ranks() - 1) * S; }},
    {"ring-all-gather", gathered},
    {"bruck-all-gather", gathered},
    {"recursive-doubling-all-gather", gathered},
    {"two-level-all-gather", gathered},
    {"two-level-sparse", [](const RankLayout& layout, std::int64_t,
                            std::int64_t T) { return (layout.nodes() - 1) * T; }},
    {"node-reduce-scatter", scattered_in_nodes},
    {"node-all-gather", scattered_in_nodes},
};

}  // namespace

TEST_CASE("bytes sent are bytes due, to the byte", "[collective]") {
  const auto check = [](const Collective& collective, const RankLayout& layout,
                        const CollectiveLoad& load) {
    if (collective.name == "sparse-all-reduce") return;  // has its own case
    CAPTURE(collective.name, layout.first_rank, load.payload.count);
    REQUIRE(kDue.contains(collective.name));
    std::int64_t total = 0;
    for (int rank = 0; rank < layout.ranks(); ++rank) total += load.contribution(rank).count;
    CHECK(bytes_in(collective.phases(layout, load)).count ==
          kDue.at(collective.name)(layout, load.payload.count, total));
  };
  for (const RankLayout& layout : layouts())
    for (const Collective* collective : all_described()) {
      if (!layout.even() && has_levels(*collective)) continue;
      for (const std::int64_t payload : {0, 1, 5, 1000, 2'000'003, 4 * 25'557'032})
        check(*collective, layout, equal_load(payload));
      check(*collective, layout, unequal_load(layout));
    }
}

// 1000 elements, of which every rank selects 100, in pairs of 8 bytes. Expected unions:
//   2 ranks: 1000 (1 - 0.9^2) = 190; 4: 343.9; 6: 468.6. Dense are 4000 bytes, so 500 pairs.
// 6 ranks: 4 take part, 2 of them with a second rank folded in. One selection each comes in, then
// 190 + 190 + 100 + 100 pairs, then 344 + 344 + 190 + 190, and 469 go out to each of the two.
// 16 ranks: 100, 190, 344 and, of 8 ranks, 570 pairs, which is more than dense.
TEST_CASE("sparse sets grow as independent selections do, and become dense", "[collective]") {
  const CollectiveLoad load{.payload = {800}, .elements = 1000};
  const auto bytes = [&](int ranks) {
    return bytes_in(find_collective("sparse-all-reduce")->phases(even_layout(ranks, 1), load))
        .count;
  };
  CHECK(bytes(6) == 8 * (2 * 100 + 2 * 190 + 2 * 100 + 2 * 344 + 2 * 190 + 2 * 469));
  CHECK(bytes(16) == 16 * (8 * (100 + 190 + 344) + 4000));
}

TEST_CASE("sparse sets that hold all elements are no more than dense", "[collective]") {
  CollectiveLoad load{.payload = {8000}, .elements = 1000};
  CHECK(bytes_in(find_collective("sparse-all-reduce")->phases(even_layout(4, 1), load)).count ==
        4 * 2 * 4000);
}

namespace {

/// Contributions, by rank.
using Set = std::uint64_t;

Set everybody(const RankLayout& layout) {
  return layout.ranks() == 64 ? ~Set{0} : (Set{1} << layout.ranks()) - 1;
}

Set node_of(const RankLayout& layout, int rank) {
  Set set = 0;
  for (int other = 0; other < layout.ranks(); ++other)
    if (layout.node_of(other) == layout.node_of(rank)) set |= Set{1} << other;
  return set;
}

/// Runs a description for one byte of the buffer: which ranks' contributions its value on each rank
/// is the sum of. `carries(phase, message, round)` says which messages carry the byte. Nothing may
/// be added twice, and what replaces a value must be the whole sum of a rank's group.
template <class Carries, class Group>
std::vector<Set> summed(const RankLayout& layout, const std::vector<Phase>& phases, Carries carries,
                        Group group) {
  std::vector<Set> sums(static_cast<std::size_t>(layout.ranks()));
  for (std::size_t rank = 0; rank < sums.size(); ++rank) sums[rank] = Set{1} << rank;
  for (std::size_t p = 0; p < phases.size(); ++p)
    for (int round = 0; round < phases[p].rounds; ++round) {
      const std::vector<Set> sent = sums;
      for (std::size_t i = 0; i < phases[p].messages.size(); ++i) {
        if (!carries(p, i, round)) continue;
        const auto from = static_cast<std::size_t>(phases[p].messages[i].from);
        const auto to = static_cast<std::size_t>(phases[p].messages[i].to);
        const bool adds = round < phases[p].reducing_rounds;
        const bool right =
            adds ? (sums[to] & sent[from]) == 0 : sent[from] == group(static_cast<int>(from));
        if (!right) FAIL("phase " << p << ", round " << round << ": " << from << " to " << to);
        sums[to] = adds ? sums[to] | sent[from] : sent[from];
      }
    }
  return sums;
}

/// A buffer of one byte more has this byte more. It goes where messages have become larger.
template <class Describe, class Check, class Group>
void for_added_bytes(const RankLayout& layout, std::int64_t payload, Describe describe, Group group,
                     Check check) {
  std::vector<Phase> without = describe(equal_load(payload));
  // As many bytes as there are chunks, or more, so that all of them have been the one that grew.
  for (int byte = 0; byte < std::max(16, layout.ranks()); ++byte) {
    std::vector<Phase> with = describe(equal_load(++payload));
    REQUIRE(with.size() == without.size());
    const auto carries = [&](std::size_t phase, std::size_t message, int round) {
      return with[phase].bytes_of(message, round) != without[phase].bytes_of(message, round);
    };
    check(summed(layout, with, carries, group));
    without = std::move(with);
  }
}

bool sums_whole_buffers(const Collective& collective) {
  return collective.serves == Aggregation::AllReduce || collective.name == "gtopk";
}

}  // namespace

TEST_CASE("all-reduces leave the sum of all buffers on all ranks", "[collective]") {
  // Nothing, and what a tree cuts into more than one chunk.
  for (const std::int64_t payload : {0, 1'050'000, 6'300'000})
    for (const RankLayout& layout : layouts())
      for (const Collective* collective : all_collectives()) {
        if (!sums_whole_buffers(*collective) || collective->outcome != Outcome::AllReduced)
          continue;
        if (payload > 0 && collective->name != "double-binary-tree") continue;
        if (!layout.even() && has_levels(*collective)) continue;
        CAPTURE(collective->name, layout.first_rank, payload);
        for_added_bytes(
            layout, payload,
            [&](const CollectiveLoad& load) { return collective->phases(layout, load); },
            [&](int) { return everybody(layout); },
            [&](const std::vector<Set>& sums) {
              CHECK(std::count(sums.begin(), sums.end(), everybody(layout)) == layout.ranks());
            });
      }
}

TEST_CASE("reduce-scatters leave each byte's sum on one rank, and every rank has its share",
          "[collective]") {
  for (const RankLayout& layout : layouts())
    for (const Collective* collective : all_described()) {
      if (collective->outcome != Outcome::Scattered) continue;
      const bool inside_nodes = collective->name == "node-reduce-scatter";
      if (inside_nodes && !layout.even()) continue;
      CAPTURE(collective->name, layout.first_rank);
      const auto group = [&](int rank) {
        return inside_nodes ? node_of(layout, rank) : everybody(layout);
      };
      std::vector<int> owned(static_cast<std::size_t>(layout.ranks()));
      for_added_bytes(
          layout, 0, [&](const CollectiveLoad& load) { return collective->phases(layout, load); },
          group,
          [&](const std::vector<Set>& sums) {
            std::map<Set, int> owners;
            for (int rank = 0; rank < layout.ranks(); ++rank)
              if (sums[static_cast<std::size_t>(rank)] == group(rank)) {
                ++owners[group(rank)];
                ++owned[static_cast<std::size_t>(rank)];
              }
            CHECK(static_cast<int>(owners.size()) == (inside_nodes ? layout.nodes() : 1));
            for (const auto& [set, count] : owners) CHECK(count == 1);
          });
      CHECK(*std::min_element(owned.begin(), owned.end()) >= 1);
    }
}

TEST_CASE("what is scattered inside nodes before is gathered inside nodes after", "[collective]") {
  for (const RankLayout& layout : layouts())
    for (const Collective* collective : all_collectives()) {
      if (collective->before == nullptr || !layout.even()) continue;
      REQUIRE(collective->after != nullptr);
      CAPTURE(collective->name, layout.first_rank);
      for_added_bytes(
          layout, 0,
          [&](const CollectiveLoad& load) {
            std::vector<Phase> phases = collective->before->phases(layout, load);
            for (Phase& phase : collective->after->phases(layout, load))
              phases.push_back(std::move(phase));
            return phases;
          },
          [&](int rank) { return node_of(layout, rank); },
          [&](const std::vector<Set>& sums) {
            for (int rank = 0; rank < layout.ranks(); ++rank)
              CHECK(sums[static_cast<std::size_t>(rank)] == node_of(layout, rank));
          });
    }
}

TEST_CASE("a sparse all-reduce merges every selection once", "[collective]") {
  for (const RankLayout& layout : layouts()) {
    CAPTURE(layout.first_rank);
    const std::vector<Phase> phases =
        find_collective("sparse-all-reduce")->phases(layout, equal_load(1000));
    const auto all = [](std::size_t, std::size_t, int) {
      return true;
    };  // a message is a whole set
    const std::vector<Set> sums =
        summed(layout, phases, all, [&](int) { return everybody(layout); });
    CHECK(std::count(sums.begin(), sums.end(), everybody(layout)) == layout.ranks());
  }
}

// Where rank i contributes 2^i bytes, the size of a message tells whose contributions it carries.
// 32 ranks at a time do, and the others have nothing.
TEST_CASE("all-gathers send what is there, once, and bring all of it to all", "[collective]") {
  for (const RankLayout& layout : layouts())
    for (const Collective* collective : all_collectives()) {
      const bool across_nodes = collective->name == "two-level-sparse";
      if (collective->outcome != Outcome::AllGathered && !across_nodes) continue;
      if (!layout.even() && has_levels(*collective)) continue;
      CAPTURE(collective->name, layout.first_rank);
      for (int window = 0; window < layout.ranks(); window += 32) {
        CollectiveLoad load;
        std::vector<std::int64_t> held, due(static_cast<std::size_t>(layout.ranks()));
        for (int rank = 0; rank < layout.ranks(); ++rank) {
          held.push_back(rank / 32 == window / 32 ? std::int64_t{1} << (rank % 32) : 0);
          load.contributions.push_back({held.back()});
          load.payload = std::max(load.payload, load.contributions.back());
        }
        for (int rank = 0; rank < layout.ranks(); ++rank)
          for (int other = 0; other < layout.ranks(); ++other)
            if (!across_nodes || rank % layout.gpus_of(0) == other % layout.gpus_of(0))
              due[static_cast<std::size_t>(rank)] += held[static_cast<std::size_t>(other)];

        for (const Phase& phase : collective->phases(layout, load))
          for (int round = 0; round < phase.rounds; ++round) {
            const std::vector<std::int64_t> sent = held;
            for (std::size_t i = 0; i < phase.messages.size(); ++i) {
              const Message& message = phase.messages[i];
              const std::int64_t carried = phase.bytes_of(i, round).count;
              std::int64_t& there = held[static_cast<std::size_t>(message.to)];
              const bool has = (carried & ~sent[static_cast<std::size_t>(message.from)]) == 0;
              const bool is_new = (carried & there) == 0;
              if (!has || !is_new)
                FAIL("round " << round << ": " << message.from << " to " << message.to);
              there += carried;
            }
          }
        CHECK(held == due);
      }
    }
}

TEST_CASE("a description on two levels refuses unequal nodes and names a remedy", "[collective]") {
  const RankLayout uneven{{0, 4, 10}};
  CHECK_FALSE(uneven.even());
  for (const Collective* collective : all_described()) {
    if (!has_levels(*collective)) continue;
    CAPTURE(collective->name);
    CHECK_THROWS_AS(collective->phases(uneven, equal_load(1000)), ValueError);
    CHECK_THROWS_WITH(collective->phases(uneven, equal_load(1000)),
                      Catch::Contains("nodes have 4 to 6; use") && Catch::Contains("two-level"));
  }
}

TEST_CASE("a layout knows its nodes", "[collective]") {
  const RankLayout layout{{0, 3, 4, 9}};
  CHECK(layout.ranks() == 9);
  CHECK(layout.nodes() == 3);
  CHECK(layout.gpus_of(1) == 1);
  CHECK(layout.node_of(0) == 0);
  CHECK(layout.node_of(2) == 0);
  CHECK(layout.node_of(3) == 1);
  CHECK(layout.node_of(4) == 2);
  CHECK(layout.node_of(8) == 2);
  CHECK(even_layout(3, 5).first_rank == std::vector<int>{0, 5, 10, 15});
  CHECK(even_layout(3, 5).even());
}

TEST_CASE("chunks of an indivisible size lose no byte and differ by at most one", "[collective]") {
  for (const std::int64_t whole : {0L, 1L, 6L, 1000L, 9'000'000'000'000'000'000L}) {
    std::int64_t sum = 0;
    for (int i = 0; i < 7; ++i) {
      const std::int64_t part = chunk(Bytes{whole}, i, 7).count;
      CHECK((part == whole / 7 || part == whole / 7 + 1));
      CHECK(chunks(Bytes{whole}, 0, i, 7).count == sum);
      sum += part;
    }
    CHECK(sum == whole);
    CHECK(chunks(Bytes{whole}, 0, 7, 7).count == whole);
  }
}

TEST_CASE("messages and bytes of all rounds are counted", "[collective]") {
  const std::vector<Phase> phases{
      {.rounds = 3, .messages = {{0, 1, {10}}, {1, 0, {20}}}},
      {.rounds = 2, .messages = {{0, 1, {7}}}, .size = [](std::size_t, int round) {
         return Bytes{7 - round};
       }}};
  CHECK(messages_in(phases) == 8);
  CHECK(bytes_in(phases).count == 3 * 30 + 7 + 6);
}

TEST_CASE("names are found once, and each kind of encoding is served", "[collective]") {
  for (const Collective* collective : all_collectives()) {
    CHECK(find_collective(collective->name) == collective);
    CHECK_FALSE(collective->summary.empty());
    CHECK_FALSE(collective->source.empty());
  }
  CHECK(find_collective("ring") == nullptr);
  CHECK(default_collective(Aggregation::AllReduce).name == "ring-all-reduce");
  CHECK(default_collective(Aggregation::AllGather).name == "ring-all-gather");
}
