#include "sim/base/process_pool.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>
#include <stdexcept>

#include "sim/base/child_process.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {
namespace {

/// Time that the items under way get when the pool is to stop: a user expects an answer within a
/// second.
constexpr std::chrono::milliseconds kPatience{300};

/// Returns false if the other end is gone.
bool read_all(int descriptor, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::read(descriptor, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// The message to the parent: 'R' and an answer, or 'E', an exit code (-1: not an Error) and a
/// text.
struct Reply {
  char kind = 'R';
  std::int32_t code = -1;
  std::string text;
};

bool send(int descriptor, const Reply& reply) {
  const std::uint64_t size = reply.text.size();
  return write_whole(descriptor, &reply.kind, 1) && write_whole(descriptor, &reply.code, 4) &&
         write_whole(descriptor, &size, 8) && write_whole(descriptor, reply.text.data(), size);
}

std::optional<Reply> receive(int descriptor) {
  Reply reply;
  std::uint64_t size = 0;
  if (!read_all(descriptor, &reply.kind, 1) || !read_all(descriptor, &reply.code, 4) ||
      !read_all(descriptor, &size, 8))
    return std::nullopt;
  reply.text.resize(size);
  if (!read_all(descriptor, reply.text.data(), size)) return std::nullopt;
  return reply;
}

[[noreturn]] void be_a_worker(pid_t parent, int tasks, int answers,
                              const std::function<std::string(std::size_t)>& work) {
  die_with(parent);  // nobody would wait for an answer any more
  // Ctrl-C reaches every process of the terminal; the parent decides what it means.
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_IGN);
  for (std::uint64_t item = 0; read_all(tasks, &item, 8);) {
    Reply reply;
    try {
      reply.text = work(item);
    } catch (const std::exception& error) {
      const std::optional<Error> mendable = as_error(error);
      reply = {'E', mendable ? static_cast<std::int32_t>(mendable->code()) : -1,
               mendable ? mendable->what() : error.what()};
    }
    if (!send(answers, reply)) break;
  }
  ::_exit(0);
}

struct Worker {
  pid_t process = -1;
  int tasks = -1;
  int answers = -1;
  std::optional<std::size_t> item{};
};

class Pool {
 public:
  Pool(std::size_t processes, const std::function<std::string(std::size_t)>& work) {
    std::fflush(stdout);  // else every child would print it again
    std::cout.flush();
    for (std::size_t i = 0; i < processes; ++i) start(work);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  /// Workers end when their pipes are closed. Those that are still at work are killed.
  ~Pool() {
    for (Worker& worker : workers_) {
      ::close(worker.tasks);
      ::close(worker.answers);
      if (worker.item) ::kill(worker.process, SIGKILL);
      while (::waitpid(worker.process, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }

  void run(const std::vector<std::size_t>& items, const PoolWork& pool) {
    using Clock = std::chrono::steady_clock;
    std::size_t next = 0;
    bool stopped = false;
    Clock::time_point stopped_at;
    for (;;) {
      if (!stopped && pool.stop()) {
        stopped = true;
        stopped_at = Clock::now();
      }
      if (stopped && Clock::now() - stopped_at > kPatience) return;
      for (Worker& worker : workers_)
        if (!worker.item && next < items.size() && !stopped) give(worker, items[next++], pool);
      if (std::none_of(workers_.begin(), workers_.end(),
                       [](const Worker& worker) { return worker.item.has_value(); }))
        return;
      for (Worker* worker : with_answers()) take(*worker, pool, stopped || pool.stop());
    }
  }

 private:
  void start(const std::function<std::string(std::size_t)>& work) {
    int tasks[2];
    int answers[2];
    if (::pipe(tasks) != 0 || ::pipe(answers) != 0) cannot_start();
    const pid_t parent = ::getpid();
    const pid_t process = ::fork();
    if (process < 0) cannot_start();
    if (process == 0) {
      ::close(tasks[1]);
      ::close(answers[0]);
      for (const Worker& other : workers_) {  // else it would not see the end of its tasks
        ::close(other.tasks);
        ::close(other.answers);
      }
      be_a_worker(parent, tasks[0], answers[1], work);
    }
    ::close(tasks[0]);
    ::close(answers[1]);
    workers_.push_back({process, tasks[1], answers[0]});
  }

  [[noreturn]] void cannot_start() const {
    throw Error(ExitCode::Failure,
                "cannot start process " + std::to_string(workers_.size() + 1) +
                    " to share the work (-j asks for fewer): " + std::strerror(errno));
  }

  void give(Worker& worker, std::size_t item, const PoolWork& pool) {
    const std::uint64_t number = item;
    worker.item = item;
    if (!write_whole(worker.tasks, &number, 8)) died(worker, pool);
  }

  std::vector<Worker*> with_answers() {
    std::vector<pollfd> waited;
    for (const Worker& worker : workers_)
      waited.push_back({worker.item ? worker.answers : -1, POLLIN, 0});
    std::vector<Worker*> ready;
    if (::poll(waited.data(), waited.size(), 200) <= 0) return ready;  // to ask stop() now and then
    for (std::size_t i = 0; i < workers_.size(); ++i)
      if (waited[i].revents != 0) ready.push_back(&workers_[i]);
    return ready;
  }

  void take(Worker& worker, const PoolWork& pool, bool stopped) {
    const std::optional<Reply> reply = receive(worker.answers);
    if (!reply) died(worker, pool);
    const std::size_t item = *worker.item;
    worker.item.reset();
    if (reply->kind == 'R') {
      pool.done(item, reply->text);
    } else if (!stopped) {  // an interrupted engine is no failure
      if (reply->code >= 0) throw Error(static_cast<ExitCode>(reply->code), reply->text);
      throw std::runtime_error(reply->text);
    }
  }

  [[noreturn]] static void died(const Worker& worker, const PoolWork& pool) {
    throw Error(ExitCode::Failure, "the process that did " + pool.name(*worker.item) +
                                       " died before it answered (out of memory?)");
  }

  std::vector<Worker> workers_;
};

}  // namespace

void run_in_pool(std::size_t processes, const std::vector<std::size_t>& items,
                 const PoolWork& pool) {
  if (items.empty()) return;
  Pool(std::min(processes, items.size()), pool.work).run(items, pool);
}

}  // namespace gradcast
