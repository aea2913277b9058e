#include "sim/base/child_process.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>

#include "sim/base/error.hpp"
#include "sim/base/write_whole.hpp"

namespace gradcast {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

/// Runs in the child.
void answer(int descriptor, const void* data, std::size_t size) {
  if (!write_whole(descriptor, data, size)) ::_exit(1);  // nobody reads any more
}

std::string read_all(int descriptor) {
  std::string text;
  char block[65536];
  for (;;) {
    const ssize_t got = ::read(descriptor, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(block, static_cast<std::size_t>(got));
  }
}

/// Sends 'R' and the numbers, or 'E' and the text of an exception ('V' for a ValueError).
[[noreturn]] void be_the_child(int pipe, const std::function<std::vector<double>()>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for an answer any more
  for (const int number : {SIGABRT, SIGSEGV, SIGINT, SIGTERM})
    std::signal(number, SIG_DFL);  // the parent's handlers are not for the child
  try {
    const std::vector<double> numbers = work();
    answer(pipe, "R", 1);
    answer(pipe, numbers.data(), numbers.size() * sizeof(double));
  } catch (const std::exception& error) {
    const bool of_value = dynamic_cast<const ValueError*>(&error) != nullptr;
    answer(pipe, of_value ? "V" : "E", 1);
    answer(pipe, error.what(), std::strlen(error.what()));
  }
  ::_exit(0);  // not exit(): the parent cleans up what this process inherited
}

std::string last_line(std::FILE* file) {
  std::rewind(file);
  std::string text = read_all(::fileno(file));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

std::vector<double> run_in_child(const std::string& what,
                                 const std::function<std::vector<double>()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) fail(what + ": pipe");
  std::FILE* complaints = std::tmpfile();
  if (complaints == nullptr) fail(what + ": temporary file");
  std::fflush(stdout);  // else the child would print it again
  std::cout.flush();
  const pid_t child = ::fork();
  if (child < 0) fail(what + ": fork");
  if (child == 0) {
    ::close(ends[0]);
    ::dup2(::fileno(complaints), STDERR_FILENO);
    be_the_child(ends[1], work);
  }
  ::close(ends[1]);
  const std::string answer = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string complaint = last_line(complaints);
  std::fclose(complaints);

  const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (ended_well && answer.starts_with('R') && (answer.size() - 1) % sizeof(double) == 0) {
    std::vector<double> numbers((answer.size() - 1) / sizeof(double));
    if (!numbers.empty())
      std::memcpy(numbers.data(), answer.data() + 1, numbers.size() * sizeof(double));
    return numbers;
  }
  if (ended_well && answer.starts_with('V')) throw ValueError(answer.substr(1));
  if (ended_well && answer.starts_with('E')) throw std::runtime_error(answer.substr(1));
  throw std::runtime_error(what +
                           (WIFSIGNALED(status)
                                ? " stopped by signal " + std::to_string(WTERMSIG(status))
                                : " ended without an answer") +
                           (complaint.empty() ? "" : ": " + complaint));
}

}  // namespace gradcast
