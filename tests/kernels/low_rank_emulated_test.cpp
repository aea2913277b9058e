// PowerSGD's kernels, run thread by thread on the CPU, against the definition.
#include "kernels/emulator/memory.hpp"
#include "tests/kernels/low_rank_cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

Device on_queue(std::unique_ptr<DeviceQueue> queue) {
  Device device{std::move(queue), on_emulator::make_encoder, on_emulator::make_decoder};
  device.make_low_rank_encoder = on_emulator::make_low_rank_encoder;
  return device;
}

Device emulated(unsigned seed) { return on_queue(on_emulator::make_queue(seed)); }

Device weak(unsigned seed, unsigned resident_blocks = 4) {
  emulator::Schedule schedule;
  schedule.resident_blocks = resident_blocks;
  schedule.seed = seed;
  schedule.weak_memory = true;
  return on_queue(on_emulator::make_queue(schedule));
}

}  // namespace

TEST_CASE("emulated PowerSGD is near the definition", "[emulated]") {
  Device device = emulated(0);
  constexpr std::int64_t kRanks[] = {1, 2, 5};
  check_low_rank_shapes(device, kRanks);
}

TEST_CASE("emulated PowerSGD is near the definition, at high ranks", "[emulated][slow]") {
  Device device = emulated(1);
  constexpr std::int64_t kRanks[] = {3, 4, 17, 1024};
  check_low_rank_shapes(device, kRanks);
}

TEST_CASE("emulated: matrices of one set of launches are as each alone", "[emulated]") {
  Device device = emulated(2);
  check_low_rank_batch(device);
}

TEST_CASE("emulated PowerSGD takes gradients of 16 bits", "[emulated]") {
  Device device = emulated(4);
  check_low_rank_types(device);
}

TEST_CASE("emulated PowerSGD survives an infinity, a NaN and zeros", "[emulated]") {
  Device device = emulated(3);
  check_low_rank_degenerate(device);
}

TEST_CASE("weak memory: PowerSGD's sums are of all warps", "[emulated]") {
  for (unsigned seed = 1; seed < 7; ++seed) {
    Device device = weak(seed);
    LowRankRun run(device, 5, Mode::Code);  // two passes over u
    run.add({40, 600}, 5);
    run.add({300, 70}, 6);
    run.iterate();
  }
}

TEST_CASE("emulated PowerSGD is near the definition where blocks share a thin matrix",
          "[emulated]") {
  Device device = emulated(4);
  check_low_rank_of_several_blocks(device);
}

TEST_CASE("weak memory: the last block of a thin matrix sees what all have added up",
          "[emulated]") {
  const LowRankSettings settings{{257, 32}, 32, Mode::Paper, 9};  // five blocks for P
  LowRankState state = make_state(settings, 9);
  state.q.assign(state.gradient.begin(), state.gradient.begin() + 32 * 32);  // none is drawn
  for (unsigned seed = 1; seed < 60; ++seed) {  // few orders show a fence that is missing
    Device device = weak(seed, 5);
    LowRankRun run(device, 32, Mode::Paper);
    run.add(settings, state);
    run.iterate();
  }
}

// 257 x 64 at rank 2: P in one part and Q in three, so one launch adds parts of Q. 64 x 1 is a
// vector.
TEST_CASE("a low-rank encoder says how much it launches, and refuses what it cannot do",
          "[emulated]") {
  Device device = emulated(0);
  LowRankRun run(device, 2, Mode::Code);
  LowRankPair& pair = run.add({257, 64}, 1);
  run.iterate();
  CHECK(run.encoder().launches() == 6);
  LowRankRun vector(device, 2, Mode::Code);
  vector.add({64, 1}, 1);
  vector.iterate();
  CHECK(vector.encoder().launches() == 3);
  const auto refuses = [&](std::int64_t rank, Mode mode, const std::vector<LowRankTensor>& bad) {
    CHECK_THROWS_AS(device.make_low_rank_encoder(rank, mode, bad, {}), std::invalid_argument);
  };
  const LowRankTensor good = pair.describe();
  refuses(2, Mode::Code, {});
  refuses(0, Mode::Code, {good});
  refuses(1025, Mode::Code, {good});
  refuses(2, Mode::Only, {good});
  LowRankTensor bad = good;
  bad.q = nullptr;
  refuses(2, Mode::Code, {bad});
  bad = good;
  bad.shape = {0, 5};
  refuses(2, Mode::Code, {bad});
  bad.shape = {std::int64_t{1} << 20, std::int64_t{1} << 20};
  refuses(2, Mode::Code, {bad});
}
