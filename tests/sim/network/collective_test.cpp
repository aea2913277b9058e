// The parts of collectives: ranks on nodes, chunks of a buffer, phases of messages; their names.
#include "sim/network/collective.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

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
