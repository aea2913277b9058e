#include "sim/base/child_process.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>
#include <stdexcept>

#include "sim/base/error.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {
namespace {

[[noreturn]] void cannot_start(const std::string& what) {
  throw Error(ExitCode::Failure,
              "cannot start a process for " + what + ": " + std::strerror(errno));
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

/// Sends 'R' and the numbers, or the text of an exception: 'X' and the exit code of an Error before
/// it, 'V' for a ValueError, 'E' for any other.
[[noreturn]] void be_the_child(pid_t parent, int pipe,
                               const std::function<std::vector<double>()>& work) {
  die_with(parent);  // nobody would wait for an answer any more
  for (const int number : {SIGABRT, SIGSEGV, SIGINT, SIGTERM})
    std::signal(number, SIG_DFL);  // the parent's handlers are not for the child
  try {
    const std::vector<double> numbers = work();
    answer(pipe, "R", 1);
    answer(pipe, numbers.data(), numbers.size() * sizeof(double));
  } catch (const std::exception& error) {
    if (const std::optional<Error> mendable = as_error(error)) {
      const auto code = static_cast<std::uint8_t>(mendable->code());
      answer(pipe, "X", 1);
      answer(pipe, &code, 1);
      answer(pipe, mendable->what(), std::strlen(mendable->what()));
    } else {
      const bool of_value = dynamic_cast<const ValueError*>(&error) != nullptr;
      answer(pipe, of_value ? "V" : "E", 1);
      answer(pipe, error.what(), std::strlen(error.what()));
    }
  }
  ::_exit(0);  // not exit(): the parent cleans up what this process inherited
}

}  // namespace

Complaints::Complaints() : descriptor_(::memfd_create("complaints", MFD_CLOEXEC)) {
  if (descriptor_ < 0)
    throw Error(ExitCode::Failure,
                std::string("cannot keep what a process complains of: ") + std::strerror(errno));
}

Complaints::~Complaints() { ::close(descriptor_); }

std::string Complaints::last_line() const {
  constexpr off_t kLongestLine = 65536;
  struct stat there {};
  if (::fstat(descriptor_, &there) != 0) return {};
  std::string text(static_cast<std::size_t>(std::min(there.st_size, kLongestLine)), '\0');
  // pread: the child, which may still write, shares the place where its next line goes.
  const ssize_t got = ::pread(descriptor_, text.data(), text.size(),
                              there.st_size - static_cast<off_t>(text.size()));
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
}

std::vector<double> run_in_child(const std::string& what,
                                 const std::function<std::vector<double>()>& work) {
  const Complaints complaints;
  int ends[2];
  if (::pipe(ends) != 0) cannot_start(what);
  std::fflush(stdout);  // else the child would print it again
  std::cout.flush();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    const int why = errno;
    for (const int end : ends) ::close(end);
    errno = why;
    cannot_start(what);
  }
  if (child == 0) {
    ::close(ends[0]);
    ::dup2(complaints.descriptor(), STDERR_FILENO);
    be_the_child(parent, ends[1], work);
  }
  ::close(ends[1]);
  const std::string answer = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string complaint = complaints.last_line();

  const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (ended_well && answer.starts_with('R') && (answer.size() - 1) % sizeof(double) == 0) {
    std::vector<double> numbers((answer.size() - 1) / sizeof(double));
    if (!numbers.empty())
      std::memcpy(numbers.data(), answer.data() + 1, numbers.size() * sizeof(double));
    return numbers;
  }
  if (ended_well && answer.starts_with('X') && answer.size() >= 2)
    throw Error(static_cast<ExitCode>(static_cast<unsigned char>(answer[1])), answer.substr(2));
  if (ended_well && answer.starts_with('V')) throw ValueError(answer.substr(1));
  if (ended_well && answer.starts_with('E')) throw std::runtime_error(answer.substr(1));
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    throw Error(ExitCode::Failure, what + " was killed (out of memory?)");
  throw std::runtime_error(what +
                           (WIFSIGNALED(status)
                                ? " stopped by signal " + std::to_string(WTERMSIG(status))
                                : " ended without an answer") +
                           (complaint.empty() ? "" : ": " + complaint));
}

}  // namespace gradcast
