// The emulator's contract: kernels that are right run, and those that are not say so.
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "kernels/emulator/emulator.hpp"

using namespace gradcast;
using namespace gradcast::emulator;
using Catch::Contains;

TEST_CASE("every thread of every block runs once", "[emulated]") {
  for (const std::uint64_t seed : {0, 1, 2}) {
    std::vector<int> runs(5 * 64);
    run({5, 64, false}, {seed, 2}, [&] { ++runs[self().block.x * 64 + self().thread.x]; });
    CHECK(runs == std::vector<int>(5 * 64, 1));
  }
}

// Lane l votes where l is a multiple of 3: bits 0, 3, 6, ..., 30.
TEST_CASE("a ballot has a bit for every lane of the warp", "[emulated]") {
  std::vector<std::uint32_t> seen(64);
  run({1, 64, false}, {}, [&] { seen[self().thread.x] = ballot(self().thread.x % 32 % 3 == 0); });
  CHECK(seen == std::vector<std::uint32_t>(64, 0x49249249u));
}

// Each lane takes its right neighbour's number, twice: l + 2, round the warp's end.
TEST_CASE("an exchange gives what the other lane has, time after time", "[emulated]") {
  std::vector<unsigned> seen(32);
  run({1, 32, false}, {7, 1}, [&] {
    const unsigned lane = self().thread.x;
    unsigned value = exchange(lane, (lane + 1) % 32);
    value = exchange(value, (lane + 1) % 32);
    seen[lane] = value;
  });
  for (unsigned lane = 0; lane < 32; ++lane) CHECK(seen[lane] == (lane + 2) % 32);
}

TEST_CASE("at the block's barrier everybody has written before anybody reads", "[emulated]") {
  std::vector<unsigned> sums(96);
  run({1, 96, false}, {3, 1}, [&] {
    auto* shared = static_cast<unsigned*>(shared_bytes(96 * sizeof(unsigned)));
    shared[self().thread.x] = self().thread.x;
    meet_block();
    for (unsigned t = 0; t < 96; ++t) sums[self().thread.x] += shared[t];
  });
  CHECK(sums == std::vector<unsigned>(96, 95 * 96 / 2));
}

TEST_CASE("blocks of a cooperative grid may wait for one another", "[emulated]") {
  int arrived = 0;
  int seen = 0;
  run({9, 32, true}, {5, 1}, [&] {
    if (self().thread.x != 0) return;
    ++arrived;
    while (arrived < 9) emulator::pause();
    ++seen;
  });
  CHECK(seen == 9);
}

TEST_CASE("a barrier that some threads never reach is an error, not a hang", "[emulated]") {
  CHECK_THROWS_WITH(run({1, 64, false}, {},
                        [] {
                          if (self().thread.x != 5) meet_block();
                        }),
                    Contains("wait for one another for ever") && Contains("1 have ended, 63 wait"));
}

TEST_CASE("a vote that some lanes do not take part in is an error, not a hang", "[emulated]") {
  CHECK_THROWS_AS(run({1, 32, false}, {},
                      [] {
                        if (self().thread.x < 16) ballot(true);
                      }),
                  std::logic_error);
}

TEST_CASE("waiting for a block that is not resident is an error, not a hang", "[emulated]") {
  for (const std::uint64_t seed : {0, 1}) {
    int arrived = 0;
    CHECK_THROWS_WITH(run({3, 32, false}, {seed, 1},
                          [&] {
                            if (++arrived > 0)
                              while (arrived < 96) emulator::pause();
                          }),
                      Contains("pause for ever"));
  }
}

TEST_CASE("what a thread throws comes out of the run", "[emulated]") {
  CHECK_THROWS_WITH(run({2, 32, false}, {}, [] { throw std::runtime_error("lane says no"); }),
                    "lane says no");
}

TEST_CASE("a write beyond the shared memory that was asked for is found", "[emulated]") {
  CHECK_THROWS_WITH(run({1, 32, false}, {}, [] { static_cast<char*>(shared_bytes(64))[64] = 1; }),
                    Contains("beyond its shared memory"));
}

TEST_CASE("shared memory ends where a device's does", "[emulated]") {
  CHECK_THROWS_WITH(run({1, 32, false}, {}, [] { shared_bytes(48 * 1024 + 1); }),
                    Contains("bytes of shared memory"));
}
