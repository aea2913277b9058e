#include "sim/base/process_pool.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <new>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

TEST_CASE("memory that runs out in a worker is said, with exit code 1", "[pool]") {
  try {
    run_in_pool(1, {0}, {[](std::size_t) -> std::string { throw std::bad_alloc(); }, {}});
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::Failure);
    CHECK_THAT(error.what(), Contains("out of memory"));
  }
}

TEST_CASE("a pool that is to stop does not wait for an item that takes long", "[pool]") {
  const auto begin = std::chrono::steady_clock::now();
  std::size_t done = 0;
  run_in_pool(
      2, {0, 1, 2, 3},
      {[](std::size_t) {
         ::sleep(60);
         return std::string();
       },
       [&](std::size_t, const std::string&) { ++done; },
       [&] { return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(100); }});
  CHECK(done == 0);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}
