#include "sim/base/child_process.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

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
