// Runs the source of a kernel on the CPU. Every thread of a block is a fiber, and operations of
// several threads (votes, shuffles, barriers) wait until all of them have come. So kernels can be
// tested, bit for bit, without a GPU. The order in which threads and blocks run is drawn from a
// seed, so that a missing barrier shows.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

namespace gradcast::emulator {

inline constexpr unsigned kWarpThreads = 32;

struct Grid {
  unsigned blocks = 1;
  unsigned threads = 32;     // a multiple of 32
  bool cooperative = false;  // all blocks at once, so that they may wait for one another
};

/// The order in which blocks and threads take turns.
struct Schedule {
  std::uint64_t seed = 0;
  unsigned resident_blocks = 4;  // at once, of a grid that is not cooperative
  bool weak_memory = false;      // blocks see each other's stores late: weak_memory.hpp
};

struct Index {
  unsigned x = 0;
};

/// A meeting point: the last thread to come lets all go on.
struct Meeting {
  unsigned arrived = 0;
  unsigned generation = 0;
};

struct Warp {
  Meeting meeting;
  // Two of each: a lane may be one exchange ahead of the slowest.
  std::array<std::array<std::uint64_t, kWarpThreads>, 2> words{};
  std::array<std::uint32_t, 2> votes{};
};

/// The running thread's place, warp and shared memory.
struct Thread {
  Index thread, block, block_threads, grid_blocks;
  Warp* warp = nullptr;
  Meeting* block_meeting = nullptr;
  std::byte* shared = nullptr;
  std::size_t* shared_used = nullptr;
};

/// The thread that is running. May be called inside run() only.
const Thread& self();

/// Runs `body` once for every thread of the grid. Throws what a thread throws, and std::logic_error
/// if threads wait for one another for ever.
void run(const Grid& grid, const Schedule& schedule, const std::function<void()>& body);

/// Lets other threads run. A thread that waits for a word in memory calls it.
void pause();

/// Lets other threads run, and at times other blocks for long.
void stall();

/// __syncthreads
void meet_block();

/// Waits for the warp's other lanes. Returns the turn of the exchange, 0 or 1.
unsigned meet_warp();

/// A piece of the block's shared memory, which holds garbage at first. Throws std::logic_error
/// beyond its end.
void* shared_bytes(std::size_t bytes);

/// The `value` of lane `from` of the warp. All lanes must call it together.
template <class T>
T exchange(T value, unsigned from) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  Warp& warp = *self().warp;
  const unsigned turn = warp.meeting.generation & 1u;
  warp.words[turn][self().thread.x % kWarpThreads] = word;
  meet_warp();
  std::memcpy(&value, &warp.words[turn][from % kWarpThreads], sizeof value);
  return value;
}

/// Bit l is lane l's vote. All lanes call it together.
std::uint32_t ballot(bool vote);

}  // namespace gradcast::emulator
