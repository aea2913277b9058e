#include "sim/base/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/interruption.hpp"

namespace gradcast {
namespace {

/// The pool asks this often whether it is to stop, while no answer comes.
constexpr std::chrono::milliseconds kBetweenAsks{50};

/// The answer of an item, or the failure that took its place.
struct TaskOutcome {
  std::size_t item = 0;
  std::string answer{};
  std::exception_ptr failure{};
};

/// Tells whether the pool that this thread works for is to stop. nullptr: it works for none.
thread_local const std::function<bool()>* is_stopped = nullptr;

class WorksFor {
 public:
  explicit WorksFor(const std::function<bool()>& stopped) : before_(is_stopped) {
    is_stopped = &stopped;
  }
  ~WorksFor() { is_stopped = before_; }
  WorksFor(const WorksFor&) = delete;
  WorksFor& operator=(const WorksFor&) = delete;

 private:
  const std::function<bool()>* before_;
};

TaskOutcome outcome_of(std::size_t item, const PoolWork& pool,
                       const std::function<bool()>& stopped) {
  const WorksFor here(stopped);
  try {
    return {item, pool.work(item)};
  } catch (const std::exception& error) {
    // A process tells its parent the same of an exception, so both pools throw the same.
    const std::optional<Error> mendable = as_error(error);
    return {item,
            {},
            mendable ? std::make_exception_ptr(*mendable)
                     : std::make_exception_ptr(std::runtime_error(error.what()))};
  }
}

void take(const TaskOutcome& outcome, const PoolWork& pool) {
  if (outcome.failure) std::rethrow_exception(outcome.failure);
  pool.done(outcome.item, outcome.answer);
}

class ThreadPool {
 public:
  ThreadPool(std::size_t threads, const std::vector<std::size_t>& items, const PoolWork& pool)
      : items_(items), pool_(pool), working_(threads) {
    const SignalsHeld held;  // in all threads but this one: it decides what a signal means
    try {
      threads_.reserve(threads);
      while (threads_.size() < threads) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      const std::size_t started = threads_.size();
      end();
      throw Error(ExitCode::Failure,
                  "cannot start thread " + std::to_string(started + 1) +
                      " to share the work (-j asks for fewer): " + error.code().message());
    }
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() { end(); }

  void run() {
    std::vector<TaskOutcome> outcomes;
    for (bool more = true; more;) {
      {
        std::unique_lock held(lock_);
        came_.wait_for(held, kBetweenAsks, [&] { return !outcomes_.empty() || working_ == 0; });
        std::swap(outcomes, outcomes_);
        more = working_ > 0;
      }
      const bool stopped = pool_.stop();
      if (stopped) stopped_ = true;
      for (const TaskOutcome& outcome : outcomes)
        if (!stopped || !outcome.failure) take(outcome, pool_);
      outcomes.clear();
    }
  }

 private:
  void work() {
    for (std::optional<std::size_t> item = next(); item; item = next()) {
      TaskOutcome outcome = outcome_of(*item, pool_, [this] { return stopped_.load(); });
      const std::lock_guard held(lock_);
      outcomes_.push_back(std::move(outcome));
      came_.notify_one();
    }
    const std::lock_guard held(lock_);
    --working_;
    came_.notify_one();
  }

  std::optional<std::size_t> next() {
    const std::lock_guard held(lock_);
    if (stopped_ || next_ == items_.size()) return std::nullopt;
    return items_[next_++];
  }

  void end() {
    stopped_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const std::vector<std::size_t>& items_;
  const PoolWork& pool_;
  std::mutex lock_;  // of what follows, but the threads
  std::condition_variable came_;
  std::vector<TaskOutcome> outcomes_;  // that nobody has taken
  std::size_t next_ = 0;
  std::size_t working_;  // threads
  std::atomic<bool> stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

void run_in_threads(std::size_t threads, const std::vector<std::size_t>& items,
                    const PoolWork& pool) {
  const std::size_t wanted = std::min(threads, items.size());
  if (wanted > 1) {
    ThreadPool(wanted, items, pool).run();
    return;
  }
  for (const std::size_t item : items) {
    if (pool.stop()) return;
    const TaskOutcome outcome = outcome_of(item, pool, pool.stop);
    if (!outcome.failure || !pool.stop()) take(outcome, pool);
  }
}

void leave_if_stopped() {
  if (is_stopped != nullptr && (*is_stopped)()) throw Error(ExitCode::Interrupted, "interrupted");
}

}  // namespace gradcast
