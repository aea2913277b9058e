// Threads that share a loop's items. Chance decides which thread does which item, so an item's
// result may not depend on the thread.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gradcast::lab {

class Team {
 public:
  /// `members` counts the calling thread; at least 1.
  explicit Team(std::size_t members);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::size_t members() const { return threads_.size() + 1; }

  /// Calls work(member, item) for each item from 0 to `items` - 1, and returns when all are done.
  /// One member does one item at a time. The first exception that an item throws is thrown here.
  void each(std::size_t items,
            const std::function<void(std::size_t member, std::size_t item)>& work);

 private:
  void take_items(std::size_t member);
  void serve(std::size_t member);

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(std::size_t, std::size_t)>* work_ = nullptr;
  std::size_t items_ = 0;
  std::size_t next_ = 0;  // item to take
  std::size_t done_ = 0;
  std::exception_ptr failure_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gradcast::lab
