#include "sim/calibration/torch_child.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <thread>

#include "kernels/bench/sampling.hpp"
#include "sim/answers/document.hpp"
#include "sim/base/error.hpp"
#include "sim/calibration/points.hpp"

namespace gradcast {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr Seconds kTimeToEnd{2};

}  // namespace

TorchChild::TorchChild(const std::vector<std::string>& command, std::function<bool()> interrupted,
                       Seconds patience)
    : interrupted_(std::move(interrupted)), patience_(patience) {
  start(command);
  try {
    version_ = read_torch_hello(receive());
  } catch (const ValueError& error) {
    gone(error.what());
  }
}

TorchChild::Process::~Process() {
  if (channel >= 0) ::close(channel);
  if (id > 0) {
    const double begin = steady_seconds();
    int status = 0;
    bool ended = ::waitpid(id, &status, WNOHANG) != 0;
    while (!ended && !busy && steady_seconds() - begin < kTimeToEnd.count()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ended = ::waitpid(id, &status, WNOHANG) != 0;
    }
    if (!ended) {
      ::kill(-id, SIGKILL);
      while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
      }
    }
  }
}

void TorchChild::start(const std::vector<std::string>& command) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) gone(std::strerror(errno));
  process_.channel = ends[0];
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, process_.complaints.descriptor(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The child gets its own process group, so that a terminal's ctrl-C reaches only this process;
  // and default signal handlers.
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int failed =
      ::posix_spawnp(&process_.id, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  if (failed != 0) {
    process_.id = -1;
    gone(command[0] + ": " + std::strerror(failed));
  }
}

BenchResult TorchChild::measure(const BenchPoint& point, Seconds seconds) {
  const Json question{{"compressor", point.compressor},
                      {"mode", mode_text(point.mode)},
                      {"tensors", point.tensors},
                      {"wanted", point.wanted},
                      {"distribution", input_text(point.input)},
                      {"workers", point.workers},
                      {"seconds", seconds.count()},
                      {"seed", point.seed}};
  send(question.dump() + "\n");
  try {
    return read_torch_answer(receive(), point.workers.size());
  } catch (const ValueError& error) {
    gone(error.what());
  }
}

void TorchChild::send(const std::string& line) {
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t now =
        ::send(process_.channel, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) gone("it ended");
    sent += static_cast<std::size_t>(now);
  }
}

std::string TorchChild::receive() {
  const double begin = steady_seconds();
  process_.busy = true;
  for (;;) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      process_.busy = false;
      return line;
    }
    if (interrupted_ && interrupted_()) throw BenchInterrupted{};
    if (steady_seconds() - begin > patience_.count())
      gone("it did not answer within " + std::to_string(std::lround(patience_.count())) + " s");
    if (received_.size() > kLongestLine) gone("its line has no end");
    struct pollfd waiting {
      process_.channel, POLLIN, 0
    };
    if (::poll(&waiting, 1, 100) <= 0) continue;
    char block[4096];
    const ssize_t got = ::read(process_.channel, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) gone("it ended");
    received_.append(block, static_cast<std::size_t>(got));
  }
}

void TorchChild::gone(const std::string& why) {
  const std::string complaint = process_.complaints.last_line();
  throw TorchGone(why + (complaint.empty() ? "" : " (" + complaint + ")"));
}

}  // namespace gradcast
