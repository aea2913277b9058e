#include "sim/forecast/workers.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

using namespace gradcast;

namespace {

/// The process that did each of three items.
std::vector<pid_t> processes(Workers workers) {
  std::vector<pid_t> all;
  run_forecasts(
      workers, 2, {0, 1, 2},
      {[](std::size_t) { return std::to_string(::getpid()); },
       [&](std::size_t, const std::string& answer) { all.push_back(std::stoi(answer)); }});
  return all;
}

}  // namespace

TEST_CASE("engines work in threads, but SimGrid's in processes", "[workers]") {
  for (const Engine& engine : all_engines()) {
    CAPTURE(engine.name);
    const bool simgrid = engine.name.starts_with("simgrid");
    CHECK(workers_for(engine, false) == (simgrid ? Workers::Processes : Workers::Threads));
    CHECK(workers_for(engine, true) == Workers::Processes);  // SimGrid reads the platform
  }
}

TEST_CASE("threads are of this process, and processes are not", "[workers]") {
  for (const pid_t process : processes(Workers::Threads)) CHECK(process == ::getpid());
  for (const pid_t process : processes(Workers::Processes)) CHECK(process != ::getpid());
}
