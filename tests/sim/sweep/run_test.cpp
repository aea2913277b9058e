#include "sim/sweep/run.hpp"

#include <catch2/catch.hpp>
#include <numeric>

#include "sim/base/sha256.hpp"

using namespace gradcast;

TEST_CASE("any number of threads makes the same forecasts, and reads the same inputs", "[sweep]") {
  if (sha256_hex("").empty()) return;  // a build without OpenSSL keeps no forecasts apart
  const Engine& engine = *find_engine("analytic");
  SweepPlan plan;
  plan.axes = {{"model", {"resnet-50", "alexnet"}},
               {"nodes", {"2", "8"}},
               {"nic-bandwidth", {"1Gbps", "100Gbps"}},
               {"compressor", {"dense", "topk", "powersgd"}}};
  plan.engine = std::string(engine.name);
  plan.software = kUsualSoftware;
  DataFiles files(GRADCAST_SOURCE_DIR);
  const SweepTasks tasks = tasks_of(plan, engine, "", files);
  const auto inputs = files.inputs().size();
  std::vector<std::size_t> numbers(tasks.tasks.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  const auto lines = [&](std::size_t jobs) {
    std::string all;
    for (const auto& [key, evaluation] :
         run_sweep({tasks, numbers, engine, jobs, true}, nullptr, files))
      all += to_line(key, evaluation);
    return all;
  };
  const std::string alone = lines(1);
  CHECK(std::count(alone.begin(), alone.end(), '\n') ==
        static_cast<std::ptrdiff_t>(tasks.tasks.size()));
  for (const std::size_t jobs : {2, 5}) CHECK(lines(jobs) == alone);
  CHECK(files.inputs().size() == inputs);
}
