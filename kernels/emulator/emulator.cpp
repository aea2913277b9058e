#include "kernels/emulator/emulator.hpp"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

#include "kernels/emulator/weak_memory.hpp"

namespace gradcast::emulator {
namespace {

namespace context = boost::context;

// Not a multiple of 4096: at equal offsets in their pages the tops of all stacks would share a few
// sets of the caches, and nearly every switch would miss.
constexpr std::size_t kStackBytes = 65'536 + 13 * 64;
constexpr std::size_t kSharedBytes = 49'152;  // what any CUDA device gives a block unasked
constexpr std::byte kGarbage{0xA5};
constexpr int kIdleSweeps = 1'000'000;  // of threads that only pause: nobody will wake them
constexpr int kIdleSweepsWeak = 2'000;  // on weak memory, where each takes longer
constexpr int kPatientSweeps = 8;       // after which it must be memory that all wait for
constexpr int kMostSweepsOfTurn = 64;   // on weak memory: views are not exchanged in every sweep

/// A thread's fiber and what it waits for.
struct Fiber {
  Thread thread;
  context::fiber inside;   // to go on with the thread
  context::fiber outside;  // to come back from it
  const Meeting* waits_at = nullptr;
  unsigned waits_in = 0;  // the generation that it waits to see end
  bool paused = false;
  bool done = false;

  bool can_run() const { return !done && (!waits_at || waits_at->generation != waits_in); }
};

struct Block {
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  Meeting meeting;
  std::vector<std::byte> shared;
  std::size_t shared_used = 0;
  // On weak memory, where blocks take turns:
  WeakMemory::View view;
  std::uint64_t late_warps = 0;
  bool asleep = false;

  bool done() const {
    return std::all_of(fibers.begin(), fibers.end(), [](const Fiber& f) { return f.done; });
  }
};

/// Stacks are kept from run to run: fresh memory is zeroed by the system page by page.
context::pooled_fixedsize_stack& stacks() {
  static context::pooled_fixedsize_stack kept(kStackBytes);
  return kept;
}

Fiber* running = nullptr;
bool stalled = false;  // a thread wants its block to fall behind
std::exception_ptr failure;

void leave() {
  Fiber& fiber = *running;
  fiber.outside = std::move(fiber.outside).resume();
}

void wait_at(Meeting& meeting, unsigned everybody) {
  Fiber& fiber = *running;
  if (++meeting.arrived == everybody) {
    meeting.arrived = 0;
    ++meeting.generation;
    return;
  }
  fiber.waits_at = &meeting;
  fiber.waits_in = meeting.generation;
  leave();
  fiber.waits_at = nullptr;
}

class Run {
 public:
  Run(const Grid& grid, const Schedule& schedule, const std::function<void()>& body)
      : grid_(grid), body_(body), random_(schedule.seed) {
    if (grid.threads == 0 || grid.threads % kWarpThreads != 0)
      throw std::logic_error("emulator: a block needs whole warps");
    const unsigned at_once = grid.cooperative ? grid.blocks : schedule.resident_blocks;
    order_.resize(grid.blocks);
    for (unsigned i = 0; i < grid.blocks; ++i) order_[i] = i;
    if (schedule.seed != 0) std::shuffle(order_.begin(), order_.end(), random_);
    shuffled_ = schedule.seed != 0;
    resident_.resize(std::min(std::max(1u, at_once), grid.blocks));
    if (schedule.weak_memory) weak_memory = &memory_.emplace(schedule.seed);
  }
  ~Run() { weak_memory = nullptr; }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void go() {
    for (auto& block : resident_) start_next(block);
    int idle = 0;
    while (!resident_.empty()) {
      const Progress progress = sweep();
      if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
      if (progress == Progress::None) throw std::logic_error("emulator: " + stuck());
      idle = progress == Progress::OnlyPauses ? idle + 1 : 0;
      if (memory_) memory_->set_waiting(idle > kPatientSweeps);
      if (idle > (memory_ ? kIdleSweepsWeak : kIdleSweeps))
        throw std::logic_error("emulator: threads pause for ever");
    }
  }

 private:
  enum class Progress { None, OnlyPauses, Some };

  void start_next(std::unique_ptr<Block>& place) {
    place.reset();
    if (next_ == order_.size()) return;
    const unsigned index = order_[next_++];
    place = std::make_unique<Block>();
    Block& block = *place;
    block.shared.assign(kSharedBytes, kGarbage);
    block.warps.resize(grid_.threads / kWarpThreads);
    block.fibers.resize(grid_.threads);
    if (memory_) block.view = memory_->begin();
    for (unsigned t = 0; t < grid_.threads; ++t) {
      Fiber& fiber = block.fibers[t];
      fiber.thread = {{t},
                      {index},
                      {grid_.threads},
                      {grid_.blocks},
                      &block.warps[t / kWarpThreads],
                      &block.meeting,
                      block.shared.data(),
                      &block.shared_used};
      fiber.inside =
          context::fiber(std::allocator_arg, stacks(), [this, &fiber](context::fiber&& outside) {
            fiber.outside = std::move(outside);
            try {
              body_();
            } catch (const std::exception&) {  // not the library's own, which unwinds a stack
              failure = std::current_exception();
            }
            fiber.done = true;
            return std::move(fiber.outside);
          });
    }
  }

  /// Lets every thread that can run do so once, or on weak memory some times.
  Progress sweep() {
    Progress progress = Progress::None;
    if (shuffled_) std::shuffle(resident_.begin(), resident_.end(), random_);
    for (auto& place : resident_) {
      progress = std::max(progress, memory_ ? turn(*place) : sweep(*place, draw_late_warps()));
      if (failure) return progress;
      if (place->done()) {
        require_no_overrun(*place);
        if (memory_) memory_->end(place->view);
        start_next(place);
      }
    }
    std::erase(resident_, nullptr);
    // No block stays behind when all others wait.
    if (progress != Progress::Some)
      for (auto& place : resident_) place->asleep = false;
    return progress;
  }

  /// A block's turn with its view of memory. A warp or a whole block that stays behind may do so
  /// until all others wait for it.
  Progress turn(Block& block) {
    if (block.asleep && random_() % 1024 != 0) return Progress::OnlyPauses;
    const int sweeps = shuffled_ ? 1 << random_() % 7 : 1;  // as exchanging views takes long
    memory_->enter(block.view);
    Progress progress = Progress::None;
    stalled = false;
    for (int i = 0; i < sweeps && !failure && !stalled; ++i) {
      const Progress now = sweep(block, block.late_warps);
      progress = std::max(progress, now);
      if (now != Progress::Some) break;
    }
    memory_->leave();
    if (shuffled_) {
      if (progress != Progress::Some || random_() % 4 == 0) block.late_warps = draw_late_warps();
      block.asleep = random_() % (stalled ? 2 : 8) == 0;
    }
    return progress;
  }

  /// Some warps stay behind, so that what another warp has not done yet is not there: a bit of
  /// each.
  std::uint64_t draw_late_warps() { return shuffled_ ? random_() & random_() : 0; }  // a quarter

  Progress sweep(Block& block, std::uint64_t late_warps) {
    std::vector<Fiber>& fibers = block.fibers;
    const bool backwards = shuffled_ && (random_() & 1u) != 0;
    Progress progress = Progress::None;
    for (std::size_t i = 0; i < fibers.size(); ++i) {
      Fiber& fiber = fibers[backwards ? fibers.size() - 1 - i : i];
      if (!fiber.can_run()) continue;
      if ((late_warps >> (fiber.thread.thread.x / kWarpThreads % 64) & 1u) != 0) {
        progress = std::max(progress, Progress::OnlyPauses);
        continue;
      }
      fiber.paused = false;
      running = &fiber;
      fiber.inside = std::move(fiber.inside).resume();
      running = nullptr;
      if (failure) return Progress::Some;
      progress = std::max(progress, fiber.paused ? Progress::OnlyPauses : Progress::Some);
    }
    return progress;
  }

  /// Throws if the bytes after the requested shared memory have changed.
  static void require_no_overrun(const Block& block) {
    const auto end = block.shared.begin() + static_cast<std::ptrdiff_t>(block.shared_used);
    if (!std::all_of(end, block.shared.end(), [](std::byte b) { return b == kGarbage; }))
      throw std::logic_error("emulator: a thread wrote beyond its shared memory");
  }

  std::string stuck() const {
    const Block& block = *resident_.front();
    std::size_t done = 0;
    std::size_t in_block = 0;
    for (const Fiber& fiber : block.fibers) {
      done += fiber.done ? 1 : 0;
      in_block += fiber.waits_at == &block.meeting ? 1 : 0;
    }
    return "threads wait for one another for ever: of block " +
           std::to_string(block.fibers[0].thread.block.x) + "'s " +
           std::to_string(block.fibers.size()) + " threads " + std::to_string(done) +
           " have ended, " + std::to_string(in_block) + " wait at the block's barrier";
  }

  Grid grid_;
  const std::function<void()>& body_;
  std::mt19937_64 random_;
  std::optional<WeakMemory> memory_;
  std::vector<unsigned> order_;
  std::size_t next_ = 0;
  bool shuffled_ = false;
  std::vector<std::unique_ptr<Block>> resident_;
};

}  // namespace

const Thread& self() { return running->thread; }

void run(const Grid& grid, const Schedule& schedule, const std::function<void()>& body) {
  if (running != nullptr) throw std::logic_error("emulator: a kernel cannot start another");
  if (grid.blocks == 0) return;
  Run(grid, schedule, body).go();
}

void pause() {
  running->paused = true;
  leave();
}

void stall() {
  stalled = true;
  pause();
}

void meet_block() { wait_at(*self().block_meeting, self().block_threads.x); }

unsigned meet_warp() {
  const unsigned turn = self().warp->meeting.generation & 1u;
  wait_at(self().warp->meeting, kWarpThreads);
  return turn;
}

void* shared_bytes(std::size_t bytes) {
  if (bytes > kSharedBytes)
    throw std::logic_error("emulator: " + std::to_string(bytes) + " bytes of shared memory");
  *self().shared_used = std::max(*self().shared_used, bytes);
  return self().shared;
}

std::uint32_t ballot(bool vote) {
  Warp& warp = *self().warp;
  std::uint32_t& votes = warp.votes[warp.meeting.generation & 1u];
  if (warp.meeting.arrived == 0) votes = 0;
  votes |= (vote ? 1u : 0u) << self().thread.x % kWarpThreads;
  meet_warp();
  return votes;
}

}  // namespace gradcast::emulator
