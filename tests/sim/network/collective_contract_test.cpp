// The contract of every collective on its messages and bytes. A new one is covered by its line in
// collectives.def and one in kDue below. Results on the ranks: collective_outcome_test.cpp.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/base/error.hpp"
#include "tests/sim/network/every_collective.hpp"

using namespace gradcast;
using namespace gradcast::contract;

namespace {

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
    REQUIRE(phase.channels >= 1);
    std::map<std::tuple<int, int, int>, int> edges;
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
                         message.channel >= 0 && message.channel < phase.channels &&
                         message.bytes.count == most &&
                         ++edges[{message.channel, message.from, message.to}] == 1;
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
      std::map<std::tuple<int, int, int>, std::int64_t> sizes;
      for (const Message& message : phase.messages)
        sizes[{message.channel, message.from, message.to}] = message.bytes.count;
      const int turn = layout.gpus_of(0);
      for (const Message& message : phase.messages) {
        const auto turned = sizes.find({message.channel, (message.from + turn) % layout.ranks(),
                                        (message.to + turn) % layout.ranks()});
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
        "two-level-all-gather", "two-level-sparse", "bruck-all-gather", "parameter-server",
        "rail-ring-all-reduce", "rail-ring-all-gather", "rail-ring-reduce-scatter",
        "segmented-ring-all-reduce"})
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
std::int64_t scattered(const RankLayout& layout, std::int64_t S, std::int64_t) {
  return (layout.ranks() - 1) * S;
}
std::int64_t scattered_in_nodes(const RankLayout& layout, std::int64_t S, std::int64_t) {
  return (layout.ranks() - layout.nodes()) * S;
}

const std::map<std::string_view, Due> kDue{
    {"ring-all-reduce", reduced},
    {"rail-ring-all-reduce", reduced},
    {"nccl-tree", reduced},
    {"segmented-ring-all-reduce", reduced},
    {"reduce-broadcast", reduced},
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
    {"ring-reduce-scatter", scattered},
    {"rail-ring-reduce-scatter", scattered},
    {"ring-all-gather", gathered},
    {"rail-ring-all-gather", gathered},
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
