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
#include "sim/calibration/points.hpp"

namespace gradcast {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr Seconds kTimeToEnd{2};

double positive(const Json& value) {
  const double number = value.get<double>();
  if (!std::isfinite(number) || number < 0) throw std::runtime_error("a number that is no time");
  return number;
}

/// [median, p95, samples]
BenchTiming timing_of(const Json& value) {
  if (!value.at(2).is_number_integer())  // 1e80 would become any number
    throw std::runtime_error("a number of samples that is none");
  return {positive(value.at(0)), positive(value.at(1)), value.at(2).get<std::int64_t>(), 0};
}

BenchResult result_of(const Json& answer, std::size_t workers) {
  BenchResult result;
  result.encode = timing_of(answer.at("encode"));
  for (const Json& decode : answer.at("decode")) result.decode.push_back(timing_of(decode));
  if (result.decode.size() != workers)
    throw std::runtime_error("another number of decode times than workers");
  result.selected = positive(answer.at("selected"));
  result.recall = positive(answer.at("recall"));
  result.path = answer.value("variant", "");
  return result;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

TorchChild::TorchChild(const std::vector<std::string>& command, std::function<bool()> interrupted,
                       Seconds patience)
    : interrupted_(std::move(interrupted)), patience_(patience) {
  start(command);
  std::string error;
  try {
    const Json hello = Json::parse(receive());
    error = text_of(hello, "error");
    version_ = text_of(hello, "torch");
    if (const std::string cuda = text_of(hello, "cuda"); !cuda.empty())
      version_ += ", CUDA " + cuda;
    if (const std::string on = text_of(hello, "device"); !on.empty()) version_ += ", " + on;
  } catch (const Json::exception&) {
    gone("its first line is not what it should be");
  }
  if (!error.empty()) gone(error);
  if (version_.empty()) gone("its first line names no torch");
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
  const std::string line = receive();
  std::string refused;
  try {
    const Json answer = Json::parse(line);
    refused = text_of(answer, "error");
    if (refused.empty()) return result_of(answer, point.workers.size());
  } catch (const std::exception& error) {
    gone(std::string("its answer is not what it should be: ") + error.what());
  }
  throw TorchRefused(refused);
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
