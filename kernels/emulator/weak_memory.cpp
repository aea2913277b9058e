#include "kernels/emulator/weak_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/emulator/memory.hpp"

namespace gradcast::emulator {
namespace {

template <class Bits>
bool has_bit(const Bits& bits, std::size_t word) {
  return (bits[word / 32] >> word % 32 & 1u) != 0;
}
template <class Bits>
void set_bit(Bits& bits, std::size_t word) {
  bits[word / 32] |= 1u << word % 32;
}
template <class Bits>
void clear_bit(Bits& bits, std::size_t word) {
  bits[word / 32] &= ~(1u << word % 32);
}

/// f(word) for each set bit of 32 words from `first` on.
template <class F>
void for_each_bit(std::size_t first, std::uint32_t bits, const F& f) {
  for (; bits != 0; bits &= bits - 1) f(first + static_cast<std::size_t>(std::countr_zero(bits)));
}

}  // namespace

WeakMemory* weak_memory = nullptr;

WeakMemory::WeakMemory(std::uint64_t seed)
    : random_(seed), eager_atomics_((random_() & 1u) != 0), only_asked_((random_() & 1u) != 0) {
  for (const auto& [begin, bytes] : memory_in_use()) {
    ranges_.push_back({begin, begin + bytes, pages_.size()});
    for (std::size_t at = 0; at < bytes; at += sizeof(Words)) {
      Page& page = pages_.emplace_back();
      page.at = begin + at;
      page.bytes = std::min(sizeof(Words), bytes - at);
      page.main = {};
      std::memcpy(page.main.data(), page.at, page.bytes);
      page.at_start = page.newest = page.main;
      page.version = page.shown = last_version_;
    }
  }
}

WeakMemory::~WeakMemory() {
  for (const auto* late : {&late_stores_, &late_atomics_})
    for (const Late& one : *late) {
      Page& page = pages_[one.page];
      page.main[one.word] = late == &late_stores_ ? one.value : page.newest[one.word];
      page.shown = kMixed;
    }
  for (const Page& page : pages_)
    if (page.shown != page.version) std::memcpy(page.at, page.main.data(), page.bytes);
}

WeakMemory::View WeakMemory::begin() {
  const bool newer = draw_unasked() == Unasked::All;
  View view(pages_.size());
  for (std::size_t p = 0; p < pages_.size(); ++p)
    view[p] = {newer ? pages_[p].main : pages_[p].at_start, {}, {}, newer ? pages_[p].version : 1};
  return view;
}

void WeakMemory::enter(View& view) {
  drift_late_atomics();
  drift(view);
  for (std::size_t p = 0; p < pages_.size(); ++p)
    if (view[p].has_own() || view[p].version == kMixed || view[p].version != pages_[p].shown)
      std::memcpy(pages_[p].at, view[p].words.data(), pages_[p].bytes);
  running_ = &view;
}

void WeakMemory::leave() {
  collect_stores();
  for (std::size_t p = 0; p < pages_.size(); ++p) {
    SeenPage& seen = (*running_)[p];
    if (eager_atomics_ && seen.modified != Bits{}) {
      publish_atomics(pages_[p], seen, Unasked::All);
      std::memcpy(pages_[p].at, seen.words.data(), pages_[p].bytes);
    }
    pages_[p].shown = seen.has_own() ? kMixed : seen.version;
  }
  running_ = nullptr;
}

void WeakMemory::end(View& view) {
  for (std::size_t p = 0; p < pages_.size(); ++p)
    for (std::size_t i = 0; i < view[p].stored.size(); ++i) {
      const auto leave_to = [&](std::vector<Late>& late) {
        return [&, p](std::size_t w) { late.push_back({p, w, view[p].words[w]}); };
      };
      for_each_bit(32 * i, view[p].stored[i], leave_to(late_stores_));
      for_each_bit(32 * i, view[p].modified[i], leave_to(late_atomics_));
    }
  view.clear();
}

void WeakMemory::fence() {
  collect_stores();
  for (std::size_t p = 0; p < pages_.size(); ++p) {
    SeenPage& seen = (*running_)[p];
    if (!seen.has_own() && seen.version == pages_[p].version) continue;
    publish_stores(pages_[p], seen, Unasked::All);
    publish_atomics(pages_[p], seen, Unasked::All);
    seen.words = pages_[p].main;
    seen.version = pages_[p].version;
    std::memcpy(pages_[p].at, seen.words.data(), pages_[p].bytes);
  }
}

std::uint32_t WeakMemory::load(const std::uint32_t* word) {
  const Place place = find(word);
  if (place.page == nullptr) return *word;
  SeenPage& seen = *place.seen;
  // The block's own store or atomic is the newest that it may see, until that is in main memory.
  const bool own = *word != seen.words[place.word] || has_bit(seen.stored, place.word) ||
                   has_bit(seen.modified, place.word);
  const std::uint32_t main = place.page->main[place.word];
  if (own || *word == main || random_() % 2 == 0) return *word;
  seen.version = kMixed;
  seen.words[place.word] = main;
  return *const_cast<std::uint32_t*>(word) = main;
}

void WeakMemory::begin_atomic(std::uint32_t* word) {
  const Place place = find(word);
  if (place.page == nullptr) return;
  SeenPage& seen = *place.seen;
  // The block's own store to this word comes before the atomic.
  if (*word != seen.words[place.word] || has_bit(seen.stored, place.word)) {
    clear_bit(seen.stored, place.word);
    store(place, *word);
  }
  *word = place.page->newest[place.word];
}

void WeakMemory::end_atomic(const std::uint32_t* word) {
  const Place place = find(word);
  if (place.page == nullptr) return;
  place.page->newest[place.word] = place.seen->words[place.word] = *word;
  set_bit(place.seen->modified, place.word);
}

bool WeakMemory::gives_way(const std::uint32_t* word) {
  return find(word).page != nullptr && gives_way();
}

WeakMemory::Place WeakMemory::find(const void* word) {
  const auto* at = static_cast<const std::byte*>(word);
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), at,
                                      [](const void* a, const Range& r) { return a < r.begin; });
  if (after == ranges_.begin() || at >= std::prev(after)->end) return {};
  const Range& range = *std::prev(after);
  const auto offset = static_cast<std::size_t>(at - range.begin);
  const std::size_t page = range.first_page + offset / sizeof(Words);
  return {&pages_[page], &(*running_)[page], offset % sizeof(Words) / sizeof(std::uint32_t)};
}

/// Notes what the running block has stored since it was last asked.
void WeakMemory::collect_stores() {
  for (std::size_t p = 0; p < pages_.size(); ++p) {
    SeenPage& seen = (*running_)[p];
    if (std::memcmp(pages_[p].at, seen.words.data(), pages_[p].bytes) == 0) continue;
    const Words before = seen.words;
    std::memcpy(seen.words.data(), pages_[p].at, pages_[p].bytes);
    for (std::size_t w = 0; w < kPageWords; ++w)
      if (seen.words[w] != before[w]) {
        set_bit(seen.stored, w);
        clear_bit(seen.modified, w);
      }
  }
}

/// Main memory has got words from this view.
void WeakMemory::changed(Page& page, SeenPage& seen) {
  const bool agreed = seen.version == page.version;
  page.version = ++last_version_;
  seen.version = agreed ? page.version : kMixed;
}

void WeakMemory::store(const Place& place, std::uint32_t value) {
  place.page->main[place.word] = place.page->newest[place.word] = value;
  place.seen->words[place.word] = value;
  changed(*place.page, *place.seen);
}

void WeakMemory::publish_stores(Page& page, SeenPage& seen, Unasked how_many) {
  publish(page, seen, seen.stored, seen.words, how_many);
}

/// Publishes a view's atomics, with those of others on the same word before them.
void WeakMemory::publish_atomics(Page& page, SeenPage& seen, Unasked how_many) {
  publish(page, seen, seen.modified, page.newest, how_many);
}

void WeakMemory::publish(Page& page, SeenPage& seen, Bits& of, const Words& values,
                         Unasked how_many) {
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i] == 0) continue;
    const std::uint32_t words = of[i] & draw_words(how_many);
    of[i] &= ~words;
    for_each_bit(32 * i, words, [&](std::size_t w) { store({&page, &seen, w}, values[w]); });
  }
}

/// Words of others become new, as far as the block has not written them itself.
void WeakMemory::renew(const Page& page, SeenPage& seen, Unasked how_many) {
  if (how_many == Unasked::None || seen.version == page.version) return;
  for (std::size_t i = 0; i < seen.stored.size(); ++i)
    for_each_bit(32 * i, draw_words(how_many) & ~seen.own(i),
                 [&](std::size_t w) { seen.words[w] = page.main[w]; });
  seen.version = how_many == Unasked::All ? page.version : kMixed;
}

/// Moves words unasked before a block's turn.
void WeakMemory::drift(View& view) {
  const Unasked out = draw_unasked();
  const Unasked in = draw_unasked();
  const Unasked atomics = all_wait_             ? Unasked::All
                          : random_() % 16 == 0 ? Unasked::Some
                                                : Unasked::None;
  for (std::size_t p = 0; p < pages_.size(); ++p) {
    if (out != Unasked::None) publish_stores(pages_[p], view[p], out);
    if (atomics != Unasked::None) publish_atomics(pages_[p], view[p], atomics);
    renew(pages_[p], view[p], in);
  }
}

void WeakMemory::drift_late_atomics() {
  if (!all_wait_ && random_() % 16 != 0) return;
  std::erase_if(late_atomics_, [&](const Late& late) {
    if (!all_wait_ && random_() % 2 == 0) return false;
    Page& page = pages_[late.page];
    page.main[late.word] = page.newest[late.word];
    page.version = ++last_version_;
    return true;
  });
}

WeakMemory::Unasked WeakMemory::draw_unasked() {
  if (only_asked_) return Unasked::None;
  const std::uint64_t drawn = random_() % 4;
  return drawn == 0 ? Unasked::All : drawn == 1 ? Unasked::Some : Unasked::None;
}

/// A bit for each of 32 words that is taken.
std::uint32_t WeakMemory::draw_words(Unasked how_many) {
  return how_many == Unasked::All    ? ~0u
         : how_many == Unasked::Some ? static_cast<std::uint32_t>(random_())
                                     : 0u;
}

}  // namespace gradcast::emulator
