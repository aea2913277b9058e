// The pool of threads keeps the promises of the pool of processes.
#include "sim/base/thread_pool.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <new>
#include <numeric>
#include <set>
#include <thread>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

std::vector<std::size_t> first(std::size_t count) {
  std::vector<std::size_t> items(count);
  std::iota(items.begin(), items.end(), std::size_t{0});
  return items;
}

}  // namespace

TEST_CASE("every item is done once, and told in the caller's thread", "[pool]") {
  for (const std::size_t threads : {1, 2, 7, 200}) {
    std::map<std::size_t, std::string> told;
    std::set<std::thread::id> tellers;
    run_in_threads(threads, first(100),
                   {[](std::size_t item) { return std::to_string(item * item); },
                    [&](std::size_t item, const std::string& answer) {
                      CHECK(told.emplace(item, answer).second);
                      tellers.insert(std::this_thread::get_id());
                    }});
    REQUIRE(told.size() == 100);
    CHECK(told.at(9) == "81");
    CHECK(tellers == std::set{std::this_thread::get_id()});
  }
}

TEST_CASE("two threads work at the same time", "[pool]") {
  std::atomic<int> there = 0;
  run_in_threads(2, first(2),
                 {[&](std::size_t) {
                    ++there;
                    while (there < 2) std::this_thread::yield();
                    return std::string();
                  },
                  [](std::size_t, const std::string&) {}});
  CHECK(there == 2);
}

TEST_CASE("a thread's Error comes out with its code, and anything else with its text", "[pool]") {
  for (const std::size_t threads : {1, 3}) {
    const auto fail_by = [&](auto work) {
      run_in_threads(threads, first(50), {work, [](std::size_t, const std::string&) {}});
    };
    try {
      fail_by([](std::size_t) -> std::string { throw std::bad_alloc(); });
      FAIL("nothing was thrown");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::Failure);
      CHECK_THAT(error.what(), Contains("out of memory"));
    }
    // Not as a ValueError, which a command would take for the user's slip.
    try {
      fail_by([](std::size_t) -> std::string { throw ValueError("odd"); });
      FAIL("nothing was thrown");
    } catch (const ValueError&) {
      FAIL("a ValueError came out");
    } catch (const std::runtime_error& error) {
      CHECK(error.what() == std::string("odd"));
    }
  }
}

TEST_CASE("what the caller throws ends the pool", "[pool]") {
  std::atomic<std::size_t> begun = 0;
  for (const std::size_t threads : {1, 3})
    CHECK_THROWS_WITH(run_in_threads(threads, first(100'000),
                                     {[&](std::size_t) {
                                        ++begun;
                                        return std::string();
                                      },
                                      [](std::size_t, const std::string&) {
                                        throw std::runtime_error("the disk is full");
                                      }}),
                      "the disk is full");
  CHECK(begun < 200'000);
}

TEST_CASE("work that takes long leaves a pool that is to stop, and nothing else", "[pool]") {
  CHECK_NOTHROW(leave_if_stopped());
  for (const std::size_t threads : {1, 2}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::steady_clock::now() - begin; };
    std::size_t done = 0;
    run_in_threads(threads, first(4),
                   {[&](std::size_t) {
                      while (passed() < std::chrono::seconds(60)) leave_if_stopped();
                      return std::string();
                    },
                    [&](std::size_t, const std::string&) { ++done; },
                    [&] { return passed() > std::chrono::milliseconds(100); }});
    CHECK(done == 0);
    CHECK(passed() < std::chrono::seconds(10));
    CHECK_NOTHROW(leave_if_stopped());
  }
}

TEST_CASE("threads that are to stop begin nothing new, and a failure then is none", "[pool]") {
  for (const std::size_t threads : {1, 2}) {
    std::atomic<bool> stop = false;
    std::size_t done = 0;
    run_in_threads(threads, first(1'000'000),
                   {[&](std::size_t item) -> std::string {
                      if (item < 3) return "";
                      stop = true;
                      std::this_thread::sleep_for(std::chrono::milliseconds(1));
                      throw std::runtime_error("interrupted");
                    },
                    [&](std::size_t, const std::string&) { ++done; }, [&] { return stop.load(); }});
    CHECK(done <= 3);
  }
}
