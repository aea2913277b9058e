#include "sim/base/child_process.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <new>
#include <numeric>
#include <stdexcept>

#include "sim/base/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

std::vector<double> one() { return {1}; }

/// Runs `body` in a process of its own, whose limits it may change, and returns its result.
int apart(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int kSaid = 10;
constexpr int kSkipped = 77;

/// Whether a child could not be started, and that was said as this machine's refusal.
int refused(const std::string& why) {
  try {
    run_in_child("the engine", one);
  } catch (const Error& error) {
    const std::string what = error.what();
    return error.code() == ExitCode::Failure && what.find(why) != std::string::npos ? kSaid : 2;
  } catch (const std::exception&) {
    return 3;
  }
  return 0;
}

}  // namespace

TEST_CASE("numbers come back from a child as they are, few or many", "[child]") {
  CHECK(run_in_child("it", [] { return std::vector<double>{}; }).empty());
  std::vector<double> many(1'000'000);  // more than a pipe holds
  std::iota(many.begin(), many.end(), 0.1);
  CHECK(run_in_child("it", [&] { return many; }) == many);
}

TEST_CASE("what a child changes stays in the child", "[child]") {
  static int state = 1;
  run_in_child("it", [] {
    state = 2;
    return std::vector<double>{};
  });
  CHECK(state == 1);
}

TEST_CASE("a value that a child refuses is refused here as one", "[child]") {
  CHECK_THROWS_AS(
      run_in_child("it", []() -> std::vector<double> { throw ValueError("no such link"); }),
      ValueError);
}

TEST_CASE("an exception comes back with its text", "[child]") {
  CHECK_THROWS_WITH(
      run_in_child("it", []() -> std::vector<double> { throw std::range_error("too far"); }),
      "too far");
}

// An interrupted command may end between the fork and the child's first step, when the kernel has
// nothing to tell any more. The child's end of the pipe closes without a word.
TEST_CASE("a child whose parent is dead already does not begin", "[child]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const pid_t dying = ::getpid();
    if (::fork() == 0) {
      while (::getppid() == dying) ::usleep(1000);
      die_with(dying);
      ::_exit(::write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  ::waitpid(parent, nullptr, 0);
  char word = 0;
  CHECK(::read(ends[0], &word, 1) == 0);
  ::close(ends[0]);
}

TEST_CASE("a child that dies is reported with its last words", "[child]") {
  CHECK_THROWS_WITH(run_in_child("the engine",
                                 []() -> std::vector<double> {
                                   const char words[] = "first\nassertion failed\n";
                                   static_cast<void>(!::write(2, words, sizeof words - 1));
                                   std::abort();
                                 }),
                    Contains("the engine stopped by signal 6") && Contains("assertion failed"));
  CHECK_THROWS_WITH(run_in_child("the engine", []() -> std::vector<double> { ::_exit(3); }),
                    Contains("ended without an answer"));
}

TEST_CASE("memory that runs out in a child, and a child that is killed, are no defects",
          "[child]") {
  for (const auto& [work, says] :
       std::vector<std::pair<std::function<std::vector<double>()>, std::string>>{
           {[]() -> std::vector<double> { throw std::bad_alloc(); }, "out of memory"},
           {[]() -> std::vector<double> {
              std::raise(SIGKILL);
              return {};
            },
            "the engine was killed (out of memory?)"},
           {[]() -> std::vector<double> { throw DataError("a.xml", 3, "no such host"); },
            "a.xml:3: no such host"}}) {
    CAPTURE(says);
    try {
      run_in_child("the engine", work);
      FAIL("nothing was thrown");
    } catch (const Error& error) {
      CHECK_THAT(error.what(), Contains(says));
      CHECK(error.code() == (says[0] == 'a' ? ExitCode::BadInput : ExitCode::Failure));
    }
  }
}

TEST_CASE("a machine that gives no process, or no pipe, is said so", "[child]") {
  CHECK(apart([] {
          if (::geteuid() == 0 && ::setuid(65534) != 0) return kSkipped;  // no limit holds for root
          const rlimit none{0, 0};
          ::setrlimit(RLIMIT_NPROC, &none);
          return refused("cannot start a process for the engine: Resource temporarily unavailable");
        }) == kSaid);
  CHECK(apart([] {
          for (int open = 3; open < 256; ++open) ::close(open);  // files that the caller left open
          const rlimit few{4, 4};
          ::setrlimit(RLIMIT_NOFILE, &few);
          return refused("cannot start a process for the engine: Too many open files");
        }) == kSaid);
}

TEST_CASE("a child needs no folder for temporary files", "[child]") {
  const TemporaryFolder empty;  // and so without a /tmp
  const int answer = apart([&] {
    if (::geteuid() != 0 && ::unshare(CLONE_NEWUSER) != 0) return kSkipped;
    if (::chroot(empty.path.c_str()) != 0) return kSkipped;
    return run_in_child("the engine", one) == one() ? kSaid : 1;
  });
  if (answer == kSkipped)
    WARN("skipped: this machine lets no test change its root");
  else
    CHECK(answer == kSaid);
}
