// What every collective promises. A new one is covered by its line in collectives.def.
#include <catch2/catch.hpp>
#include <string>

#include "sim/collective.hpp"

using namespace gradcast;

TEST_CASE("in every round, sends and receives pair up", "[collective]") {
  for (const Collective* collective : all_collectives())
    for (const int ranks : {1, 2, 3, 8, 13, 64})
      DYNAMIC_SECTION(std::string(collective->name) << " on " << ranks << " ranks") {
        for (int round = 0; round < collective->rounds(ranks); ++round)
          for (int rank = 0; rank < ranks; ++rank) {
            const Step mine = collective->step(rank, round, ranks, Bytes{1000});
            CAPTURE(round, rank);
            REQUIRE(mine.send_to != rank);
            CHECK(collective->step(mine.send_to, round, ranks, Bytes{1000}).receive_from == rank);
          }
      }
}

// Each of n ranks must get what it lacks. All-reduce: n-1 partial sums and n-1 results of 1/n of
// the buffer per rank, 2(n-1) buffers in all. All-gather: n-1 contributions per rank, n(n-1) in
// all.
TEST_CASE("bytes sent are bytes due, to the byte", "[collective]") {
  for (const Collective* collective : all_collectives())
    for (const int ranks : {1, 2, 3, 7, 16})
      for (const std::int64_t payload : {0, 1, 5, 1000, 4 * 25'557'032}) {
        std::int64_t sent = 0;
        for (int round = 0; round < collective->rounds(ranks); ++round)
          for (int rank = 0; rank < ranks; ++rank)
            sent += collective->step(rank, round, ranks, Bytes{payload}).send.count;
        const std::int64_t others = ranks - 1;
        CAPTURE(collective->name, ranks, payload);
        CHECK(sent ==
              payload * others * (collective->serves == Aggregation::AllReduce ? 2 : ranks));
      }
}

TEST_CASE("chunks of an indivisible size lose no byte and differ by at most one", "[collective]") {
  for (const std::int64_t whole : {0L, 1L, 6L, 1000L, 9'000'000'000'000'000'000L}) {
    std::int64_t sum = 0;
    for (int i = 0; i < 7; ++i) {
      const std::int64_t part = chunk(Bytes{whole}, i, 7).count;
      CHECK((part == whole / 7 || part == whole / 7 + 1));
      sum += part;
    }
    CHECK(sum == whole);
  }
}

TEST_CASE("names are found, and each kind of encoding is served", "[collective]") {
  for (const Collective* collective : all_collectives())
    CHECK(find_collective(collective->name) == collective);
  CHECK(find_collective("ring") == nullptr);
  CHECK(default_collective(Aggregation::AllReduce).name == "ring-all-reduce");
  CHECK(default_collective(Aggregation::AllGather).name == "ring-all-gather");
}
