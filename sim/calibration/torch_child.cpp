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

namespace {

double positive(const Json& value) {
  const double number = value.get<double>();
  if (!std::isfinite(number) || number < 0) throw ValueError("a number that is no time");
  return number;
}

std::int64_t samples_of(const Json& value) {
  // 1e80 would become any number.
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0)
    throw ValueError("a number of samples that is none");
  return value.get<std::int64_t>();
}

/// [median, p95, samples]
BenchTiming timing_of(const Json& value) {
  return {positive(value.at(0)), positive(value.at(1)), samples_of(value.at(2)), 0};
}

BenchResult result_of(const Json& answer, std::size_t workers) {
  BenchResult result;
  result.encode = timing_of(answer.at("encode"));
  for (const Json& decode : answer.at("decode")) result.decode.push_back(timing_of(decode));
  if (result.decode.size() != workers)
    throw ValueError("another number of decode times than workers");
  result.selected = positive(answer.at("selected"));
  result.recall = positive(answer.at("recall"));
  result.path = answer.value("variant", "");
  return result;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The first line of a text. An error of Python's may go on for many.
std::string first_line_of(const Json& object, const char* key) {
  const std::string text = text_of(object, key);
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string read_torch_hello(const std::string& line) {
  std::string error;
  std::string version;
  try {
    const Json hello = Json::parse(line);
    error = first_line_of(hello, "error");
    version = first_line_of(hello, "torch");
    if (const std::string cuda = first_line_of(hello, "cuda"); !cuda.empty())
      version += ", CUDA " + cuda;
    if (const std::string on = first_line_of(hello, "device"); !on.empty()) version += ", " + on;
  } catch (const Json::exception&) {
    throw ValueError("its first line is not what it should be");
  }
  if (!error.empty()) throw ValueError(error);
  if (version.empty()) throw ValueError("its first line names no torch");
  return version;
}

BenchResult read_torch_answer(const std::string& line, std::size_t workers) {
  const std::string no_answer = "its answer is not what it should be: ";
  std::string refused;
  try {
    const Json answer = Json::parse(line);
    refused = first_line_of(answer, "error");
    if (refused.empty()) return result_of(answer, workers);
  } catch (const Json::exception& error) {
    const std::string what = error.what();
    throw ValueError(no_answer + what.substr(0, what.find('\n')));
  } catch (const ValueError& error) {
    throw ValueError(no_answer + error.what());
  }
  throw TorchRefused(refused);
}

}  // namespace gradcast
