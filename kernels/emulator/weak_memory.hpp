// A memory order that is weaker than the emulator's own. The blocks of a GPU do not see one memory:
// a load may return an older value, and a store may reach others late, until fences say otherwise.
//
// Each resident block has a view of the device's memory, as if it had a cache that nobody keeps
// coherent and a buffer of its stores. Beside the views there is main memory. Kernels use plain
// pointers, so the view of the block whose turn it is lies at the memory's own addresses, and is
// exchanged when another block's turn comes. Words that have changed there since are the block's
// stores.
//
//   plain load     of the own view. A word that another block wrote is new there after a fence of
//                  this block; before that, word by word, at times drawn from the seed or never.
//   plain store    to the own view. It is in main memory after a fence of this block; before that,
//                  word by word and in any order, at times drawn from the seed or at the kernel's
//                  end.
//   volatile load  of the own view or of main memory, as drawn: a value that it waits for comes.
//   atomic         reads the newest value of all atomics on the word, and other atomics see its own
//                  at once. For loads it is a store, but one that reaches main memory some time
//                  without a fence.
//   fence          publishes the own stores and atomics, then renews the own view.
//   barrier        orders the threads of a block, which share a view; nothing in main memory.
//
// The PTX memory model allows all of this. It orders a store before another block's load if a chain
// leads from the one to the other: program order, barriers, and a fence, an atomic, an atomic or
// volatile load that sees it, and a fence. Along such a chain the store is in main memory when the
// atomic is made, and in the other view after the second fence. Fences are in one order, as
// __threadfence's are. So kernels that are right are right here.
//
// It does not show all that the model allows:
//   - As threads share their block's view, one thread's fence serves stores of others that no
//     barrier puts before it, and loads of others that no barrier puts after it. The drawn order of
//     warps shows most barriers that are missing.
//   - Loads happen no later than the program says: they do not move behind stores that follow.
//   - Every fence is a __threadfence. Narrower scopes are not modelled, nor what a compiler moves.
//   - A store of the value that a view already has is no store.
//   - A word is 4 bytes. If accesses race, a double may be half old.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/emulator/emulator.hpp"

namespace gradcast::emulator {

class WeakMemory {
  static constexpr std::size_t kPageWords = 256;
  using Words = std::array<std::uint32_t, kPageWords>;
  using Bits = std::array<std::uint32_t, kPageWords / 32>;  // one for each word

 public:
  /// One block's view of a page.
  struct SeenPage {
    Words words;
    Bits stored, modified;  // by stores, by atomics, and not in main memory yet
    // Version of main memory whose words these are, but for the block's own words; or kMixed.
    std::uint64_t version;

    std::uint32_t own(std::size_t i) const { return stored[i] | modified[i]; }
    bool has_own() const { return stored != Bits{} || modified != Bits{}; }
  };
  using View = std::vector<SeenPage>;

  /// A kernel begins. The views are of all emulator memory in use.
  explicit WeakMemory(std::uint64_t seed);
  /// The end of weak memory: all that was stored is in memory.
  ~WeakMemory();
  WeakMemory(const WeakMemory&) = delete;
  WeakMemory& operator=(const WeakMemory&) = delete;

  /// A new block sees memory as it was when the kernel began, or newer.
  View begin();
  /// The turn of a block begins and ends.
  void enter(View& view);
  void leave();
  /// Ends the block whose turn was last. Words that it has not published reach main memory later.
  void end(View& view);

  /// `all_wait`: atomics that somebody may wait for reach main memory now.
  void set_waiting(bool all_wait) { all_wait_ = all_wait; }

  /// During a turn: a fence of the block.
  void fence();
  /// A volatile load. Words of shared memory, which it does not know, are as they are.
  std::uint32_t load(const std::uint32_t* word);
  /// Before and after an atomic: the newest value comes to the word, and the word's is the newest.
  void begin_atomic(std::uint32_t* word);
  void end_atomic(const std::uint32_t* word);
  /// True if other threads are to run before an atomic, a volatile load or a fence, as the seed has
  /// it.
  bool gives_way(const std::uint32_t* word);
  bool gives_way() { return random_() % 4 == 0; }

 private:
  static constexpr std::uint64_t kMixed = 0;  // words of several versions

  struct Page {
    std::byte* at;  // where kernels see it
    std::size_t bytes;
    Words at_start, main;
    Words newest;           // for atomics
    std::uint64_t version;  // of main: another after each change
    std::uint64_t shown;    // that lies at `at` between turns, or kMixed
  };
  struct Range {
    std::byte *begin, *end;
    std::size_t first_page;
  };
  struct Place {
    Page* page;
    SeenPage* seen;
    std::size_t word;
  };
  /// Share of the words that could reach or leave main memory unasked and do so.
  enum class Unasked { None, Some, All };

  Place find(const void* word);
  void collect_stores();
  void changed(Page& page, SeenPage& seen);
  void store(const Place& place, std::uint32_t value);
  void publish_stores(Page& page, SeenPage& seen, Unasked how_many);
  void publish_atomics(Page& page, SeenPage& seen, Unasked how_many);
  void publish(Page& page, SeenPage& seen, Bits& of, const Words& values, Unasked how_many);
  void renew(const Page& page, SeenPage& seen, Unasked how_many);
  void drift(View& view);
  void drift_late_atomics();
  Unasked draw_unasked();
  std::uint32_t draw_words(Unasked how_many);

  std::mt19937_64 random_;
  bool all_wait_ = false;
  bool eager_atomics_;  // in main memory at a turn's end; a kernel may have either kind
  bool only_asked_;     // stores and loads do not drift: the staler, the more shows
  std::vector<Range> ranges_;
  std::vector<Page> pages_;
  std::uint64_t last_version_ = 1;
  View* running_ = nullptr;
  struct Late {
    std::size_t page, word;
    std::uint32_t value;
  };
  std::vector<Late> late_stores_, late_atomics_;  // of blocks that have ended
};

/// While a kernel runs on weak memory: that.
extern WeakMemory* weak_memory;

/// f(word), an atomic.
template <class F>
auto atomically(std::uint32_t* word, const F& f) {
  if (weak_memory == nullptr) return f(*word);
  if (weak_memory->gives_way(word)) stall();
  weak_memory->begin_atomic(word);
  const auto result = f(*word);
  weak_memory->end_atomic(word);
  return result;
}

inline std::uint32_t load_volatile(const std::uint32_t* word) {
  if (weak_memory == nullptr) return *static_cast<const volatile std::uint32_t*>(word);
  if (weak_memory->gives_way(word)) stall();
  return weak_memory->load(word);
}

inline void fence() {
  if (weak_memory == nullptr) return;
  if (weak_memory->gives_way()) stall();
  weak_memory->fence();
}

}  // namespace gradcast::emulator
