// Runs a kernel's own source on the CPU: every thread of a block is a fiber, and what a GPU does
// for threads together (votes, shuffles, barriers) waits until all of them have come. So kernels
// are tested, bit for bit, where there is no GPU; and the order in which threads and blocks run is
// drawn from a seed, so that a missing barrier shows.
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

/// How blocks and threads take turns.
struct Schedule {
  std::uint64_t seed = 0;
  unsigned resident_blocks = 4;  // at once, of a grid that is not cooperative
};

struct Index {
  unsigned x = 0;
};

/// A meeting point: whoever comes last lets all go on.
struct Meeting {
  unsigned arrived = 0;
  unsigned generation = 0;
};

struct Warp {
  Meeting meeting;
  // Two of each: a lane may be one exchange ahead of the slowest.
  std::array<std::array<std::uint64_t, kWarpThreads>, 2> words{};
};

/// What a running thread knows of itself.
struct Thread {
  Index thread, block, block_threads, grid_blocks;
  Warp* warp = nullptr;
  Meeting* block_meeting = nullptr;
  std::byte* shared = nullptr;
  std::size_t* shared_used = nullptr;
};

/// The thread that runs. Only inside run().
const Thread& self();

/// Runs `body` once for every thread of the grid. Throws what a thread throws, and std::logic_error
/// where threads wait for one another for ever.
void run(const Grid& grid, const Schedule& schedule, const std::function<void()>& body);

/// Lets others run, as a thread does that waits for a word in memory.
void pause();

/// __syncthreads
void meet_block();

/// Waits for the warp's other lanes; gives the exchange's turn, 0 or 1.
unsigned meet_warp();

/// Of the block's shared memory, which holds garbage at first. Throws std::logic_error beyond its
/// end.
void* shared_bytes(std::size_t bytes);

/// What lane `from` of the warp has in `value`. All lanes call it together.
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
