// Kernels of a few lines on the emulator's weak memory. Each is wrong under some seed if a fence,
// an atomic or a volatile load is missing, and right under all if none is.
#include <catch2/catch.hpp>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "kernels/device/dialect.cuh"

using Catch::Contains;

namespace gradcast::on_emulator {
namespace {

using on_emulator::pause;  // rather than that of unistd.h

constexpr unsigned kSeeds = 40;

/// Words of device memory, 0 at first.
class DeviceWords {
 public:
  explicit DeviceWords(std::size_t count) : count_(count), bytes_(count * sizeof(std::uint32_t)) {
    clear_bytes(bytes_.get(), bytes_.size());
  }
  std::uint32_t* get() const { return static_cast<std::uint32_t*>(bytes_.get()); }
  std::vector<std::uint32_t> read() const { return {get(), get() + count_}; }

 private:
  std::size_t count_;
  DeviceBytes bytes_;
};

/// True if `run(schedule)` is right; a hang is not.
template <class Run>
bool is_right(unsigned seed, const Run& run) {
  emulator::Schedule schedule;
  schedule.seed = seed;
  schedule.weak_memory = true;
  try {
    return run(schedule);
  } catch (const std::logic_error& error) {
    REQUIRE_THAT(error.what(), Contains("pause for ever"));
    return false;
  }
}

/// The number of seeds under which it is right.
template <class Run>
unsigned right_runs(const Run& run) {
  unsigned right = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) right += is_right(seed, run) ? 1 : 0;
  return right;
}

// ---- one block sends 256 words to another
// --------------------------------------------------------

struct Message {
  bool barrier_before = true, fence_before = true;  // the flag's
  bool volatile_spin = true;
  bool fence_after = true, barrier_after = true;
};

void send_message(Message how, std::uint32_t* words, std::uint32_t* flag, std::uint32_t* seen) {
  const unsigned thread = threadIdx.x;
  if (blockIdx.x == 0) {
    words[thread] = thread + 1;
    if (how.barrier_before) block_barrier();
    if (thread != 0) return;
    if (how.fence_before) memory_fence();
    add_atomic(flag, 1);
  } else {
    if (thread == 0) {
      while ((how.volatile_spin ? read_now(flag) : *flag) == 0) pause();
      if (how.fence_after) memory_fence();
    }
    if (how.barrier_after) block_barrier();
    seen[thread] = words[thread];
  }
}

unsigned messages_received(const Message& how) {
  return right_runs([&](const emulator::Schedule& schedule) {
    const DeviceWords words(kBlockThreads), flag(1), seen(kBlockThreads);
    launch(send_message, {2, true}, &schedule, how, words.get(), flag.get(), seen.get());
    return seen.read() == words.read();
  });
}

// ---- a flag that is no atomic
// ---------------------------------------------------------------------

void raise_by_store(std::uint32_t* flag, std::uint32_t* seen) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *flag = 1;
    while (read_now(seen) == 0) pause();
  } else {
    while (read_now(flag) == 0) pause();
    add_atomic(seen, 1);
  }
}

// ---- Dekker: each block says that it is there, then looks for the other
// --------------------------

void say_and_look(bool fences, std::uint32_t* there, std::uint32_t* missed) {
  if (threadIdx.x != 0) return;
  there[blockIdx.x] = 1;
  if (fences) memory_fence();
  if (read_now(&there[1 - blockIdx.x]) == 0) add_atomic(missed, 1);
}

// ---- the last of many blocks adds up what all have left
// ------------------------------------------

struct LastBlock {
  bool fence_before = true, fence_after = true;
};

void add_up(LastBlock how, std::uint32_t* parts, std::uint32_t* done, std::uint32_t* sum) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = blockIdx.x + 1;
  if (how.fence_before) memory_fence();
  if (add_atomic(done, 1) + 1 != gridDim.x) return;
  if (how.fence_after) memory_fence();
  for (unsigned b = 0; b < gridDim.x; ++b) *sum += parts[b];
}

// 1 + 2 + ... + 9 = 45.
unsigned sums_of_nine(const LastBlock& how) {
  return right_runs([&](const emulator::Schedule& schedule) {
    const DeviceWords parts(9), done(1), sum(1);
    launch(add_up, {9}, &schedule, how, parts.get(), done.get(), sum.get());
    return sum.read()[0] == 45;
  });
}

// ---- a message that is handed on
// ------------------------------------------------------------------

// Block 0 tells block 1, which tells block 2. Block 2 may read the word that 0 wrote, though they
// never met.
void hand_on(std::uint32_t* word, std::uint32_t* flags, std::uint32_t* seen) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) *word = 7;
    if (blockIdx.x > 0)
      while (read_now(&flags[blockIdx.x]) == 0) pause();
    memory_fence();
    if (blockIdx.x < 2) or_atomic(&flags[blockIdx.x + 1], 1);
  }
  block_barrier();
  if (blockIdx.x == 2 && threadIdx.x == 200) *seen = *word;
}

}  // namespace

TEST_CASE("weak memory: a message between two fences arrives", "[emulated]") {
  CHECK(messages_received({}) == kSeeds);
}

TEST_CASE("weak memory: a message without one of its fences is lost at times", "[emulated]") {
  Message no_fence_before, no_fence_after;
  no_fence_before.fence_before = no_fence_after.fence_after = false;
  CHECK(messages_received(no_fence_before) < kSeeds);
  CHECK(messages_received(no_fence_after) < kSeeds);
}

TEST_CASE("weak memory: a message without one of its barriers is lost at times", "[emulated]") {
  Message no_barrier_before, no_barrier_after;
  no_barrier_before.barrier_before = no_barrier_after.barrier_after = false;
  CHECK(messages_received(no_barrier_before) < kSeeds);
  CHECK(messages_received(no_barrier_after) < kSeeds);
}

TEST_CASE("weak memory: a plain load may never see what it waits for", "[emulated]") {
  Message plain_spin;
  plain_spin.volatile_spin = false;
  CHECK(messages_received(plain_spin) < kSeeds);
}

TEST_CASE("weak memory: a plain store may never be seen by who waits for it", "[emulated]") {
  CHECK(right_runs([](const emulator::Schedule& schedule) {
          const DeviceWords flag(1), seen(1);
          launch(raise_by_store, {2, true}, &schedule, flag.get(), seen.get());
          return true;
        }) < kSeeds);
}

TEST_CASE("weak memory: two blocks miss each other only where a fence is missing", "[emulated]") {
  for (const bool fences : {true, false}) {
    const unsigned right = right_runs([&](const emulator::Schedule& schedule) {
      const DeviceWords there(2), missed(1);
      launch(say_and_look, {2, true}, &schedule, fences, there.get(), missed.get());
      return missed.read()[0] < 2;
    });
    CHECK((right == kSeeds) == fences);
  }
}

TEST_CASE("weak memory: the last block sees what all have left, between two fences", "[emulated]") {
  CHECK(sums_of_nine({}) == kSeeds);
  CHECK(sums_of_nine({false, true}) < kSeeds);
  CHECK(sums_of_nine({true, false}) < kSeeds);
}

TEST_CASE("weak memory: what a block was told it may tell", "[emulated]") {
  CHECK(right_runs([](const emulator::Schedule& schedule) {
          const DeviceWords word(1), flags(3), seen(1);
          launch(hand_on, {3, true}, &schedule, word.get(), flags.get(), seen.get());
          return seen.read()[0] == 7;
        }) == kSeeds);
}

// Every block adds 1 for each of its threads, without a fence: 5 x 256 = 1280.
TEST_CASE("weak memory: atomics lose nothing, with or without fences", "[emulated]") {
  CHECK(right_runs([](const emulator::Schedule& schedule) {
          const DeviceWords sum(1);
          launch(
              +[](std::uint32_t* to) { add_atomic(to, 1); }, {5}, &schedule, sum.get());
          return sum.read()[0] == 1280;
        }) == kSeeds);
}

// Each block stores 1 beside the other's word, in one 128-byte line and in every page: nobody's
// store takes a neighbour's with it. The next kernel sees all: 2 x 600 words.
TEST_CASE("weak memory: stores of neighbouring words keep apart, and a kernel's end publishes all",
          "[emulated]") {
  CHECK(right_runs([](const emulator::Schedule& schedule) {
          const DeviceWords words(1200), sum(1);
          launch(
              +[](std::uint32_t* to) {
                for (unsigned i = threadIdx.x; i < 600; i += kBlockThreads)
                  to[2 * i + blockIdx.x] = 1;
              },
              {2}, &schedule, words.get());
          launch(
              +[](const std::uint32_t* from, std::uint32_t* to) {
                for (unsigned i = threadIdx.x; i < 1200; i += kBlockThreads)
                  add_atomic(to, from[i]);
              },
              {1}, &schedule, words.get(), sum.get());
          return sum.read()[0] == 1200;
        }) == kSeeds);
}

// The same words: a block that reads what it has stored, also after others' atomics beside it.
TEST_CASE("weak memory: a block sees its own stores at once", "[emulated]") {
  CHECK(right_runs([](const emulator::Schedule& schedule) {
          const DeviceWords words(3 * kBlockThreads), counter(1), wrong(1);
          launch(
              +[](std::uint32_t* own, std::uint32_t* count, std::uint32_t* bad) {
                std::uint32_t* mine = own + 3 * threadIdx.x + blockIdx.x;
                for (std::uint32_t n = 1; n <= 4; ++n) {
                  *mine = n;
                  add_atomic(count, 1);
                  pause();
                  if (*mine != n) add_atomic(bad, 1);
                  if (read_now(mine) != n) add_atomic(bad, 1);
                  if (add_atomic(mine, 1) != n) add_atomic(bad, 1);
                  if (*mine != n + 1) add_atomic(bad, 1);
                }
              },
              {3}, &schedule, words.get(), counter.get(), wrong.get());
          return wrong.read()[0] == 0 && counter.read()[0] == 3 * 4 * kBlockThreads;
        }) == kSeeds);
}

}  // namespace gradcast::on_emulator
