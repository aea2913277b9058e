#include "sim/lab/team.hpp"

#include <utility>

namespace gradcast::lab {

Team::Team(std::size_t members) {
  for (std::size_t member = 1; member < members; ++member)
    threads_.emplace_back([this, member] { serve(member); });
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::each(std::size_t items, const std::function<void(std::size_t, std::size_t)>& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    items_ = items;
    next_ = done_ = 0;
    failure_ = nullptr;
  }
  changed_.notify_all();
  take_items(0);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ == items_; });
  work_ = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Team::take_items(std::size_t member) {
  std::unique_lock lock(mutex_);
  while (work_ != nullptr && next_ < items_) {
    const std::size_t item = next_++;
    const auto& work = *work_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work(member, item);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    if (++done_ == items_) changed_.notify_all();
  }
}

void Team::serve(std::size_t member) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ends_ || (work_ != nullptr && next_ < items_); });
      if (ends_) return;
    }
    take_items(member);
  }
}

}  // namespace gradcast::lab
