// Things that are due at a date.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"

namespace gradcast {

/// Items in order of their dates. Items of the same date keep the order in which they were added.
///
/// Ranks that nothing tells apart do everything at the same date, to the last bit. So items of a
/// date share one entry of the heap, as long as the date is among the last few that were added to:
/// thousands of ranks then cost no more an item than a few do.
template <class Item>
class Agenda {
 public:
  bool empty() const { return left_ == 0; }

  /// The first date. The agenda must not be empty.
  Seconds next() {
    drop_finished();
    return heap_.front().when;
  }

  /// The item that take() would remove. The agenda must not be empty.
  const Item& first() {
    drop_finished();
    const Page& page = pages_[heap_.front().page];
    return page.items[page.taken];
  }

  void add(Seconds when, Item item) {
    ++left_;
    pages_[page_of(when)].items.push_back(std::move(item));
  }

  /// Removes the first item. The agenda must not be empty.
  Item take() {
    drop_finished();
    --left_;
    Page& page = pages_[heap_.front().page];
    return std::move(page.items[page.taken++]);
  }

 private:
  /// The items of one date.
  struct Page {
    std::vector<Item> items;
    std::size_t taken = 0;  // of them
  };
  struct Entry {
    Seconds when;
    std::uint64_t number;  // of equal dates the page that was begun first is first
    std::uint32_t page;
  };
  struct Recent {
    Seconds when{std::numeric_limits<double>::quiet_NaN()};  // equal to no date
    std::uint32_t page = 0;
  };

  static bool later(const Entry& a, const Entry& b) {
    return a.when > b.when || (a.when == b.when && a.number > b.number);
  }

  std::uint32_t page_of(Seconds when) {
    for (const Recent& recent : recent_)
      if (recent.when == when) return recent.page;
    std::uint32_t page = 0;
    if (free_.empty()) {
      page = static_cast<std::uint32_t>(pages_.size());
      pages_.emplace_back();
    } else {
      page = free_.back();
      free_.pop_back();
    }
    heap_.push_back({when, count_++, page});
    std::push_heap(heap_.begin(), heap_.end(), later);
    // A page that leaves this list gets no more items: those that come have a later page.
    recent_[next_recent_++ % recent_.size()] = {when, page};
    return page;
  }

  /// A page is kept until the next one is asked for, because its last item often adds another of
  /// the same date.
  void drop_finished() {
    while (!heap_.empty()) {
      const std::uint32_t number = heap_.front().page;
      Page& page = pages_[number];
      if (page.taken < page.items.size()) return;
      page.items.clear();
      page.taken = 0;
      free_.push_back(number);
      for (Recent& recent : recent_)
        if (recent.page == number) recent.when = Recent{}.when;
      std::pop_heap(heap_.begin(), heap_.end(), later);
      heap_.pop_back();
    }
  }

  std::size_t left_ = 0;  // items
  std::uint64_t count_ = 0;
  std::vector<Entry> heap_;  // the first on top
  std::vector<Page> pages_;
  std::vector<std::uint32_t> free_;  // of pages_
  std::array<Recent, 4> recent_;
  std::size_t next_recent_ = 0;
};

}  // namespace gradcast
