#include "sim/sweep/shard.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "sim/base/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;

namespace {

/// Read in an environment of these variables alone.
Shard shard_in(const std::map<std::string, std::string>& environment, const std::string& text) {
  return parse_shard(text, [&](const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? "" : found->second;
  });
}

std::string as_text(const Shard& shard) {
  return std::to_string(shard.number) + "/" + std::to_string(shard.of);
}

}  // namespace

TEST_CASE("a shard is the third of seven", "[sweep]") {
  CHECK(as_text(shard_in({}, "3/7")) == "3/7");
  for (const char* wrong : {"0/7", "8/7", "3", "3/", "a/7", "3/7/1", "-1/7", ""}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH(shard_in({}, wrong), Catch::Contains("write 3/7 for the third of seven"));
  }
}

TEST_CASE("auto reads the variables of Slurm, SGE and PBS", "[sweep]") {
  // --array=10-22:4 has the tasks 10, 14, 18, 22; 18 is the third of four.
  CHECK(as_text(shard_in({{"SLURM_ARRAY_TASK_ID", "18"},
                          {"SLURM_ARRAY_TASK_MIN", "10"},
                          {"SLURM_ARRAY_TASK_MAX", "22"},
                          {"SLURM_ARRAY_TASK_STEP", "4"},
                          {"SLURM_ARRAY_TASK_COUNT", "4"}},
                         "auto")) == "3/4");
  // qsub -t 1-7
  CHECK(as_text(shard_in({{"SGE_TASK_ID", "2"},
                          {"SGE_TASK_FIRST", "1"},
                          {"SGE_TASK_LAST", "7"},
                          {"SGE_TASK_STEPSIZE", "1"}},
                         "auto")) == "2/7");
  // qsub -J 1-7: PBS does not tell the 7.
  CHECK(as_text(shard_in({{"PBS_ARRAY_INDEX", "5"}}, "auto/7")) == "5/7");
  CHECK_THROWS_WITH(shard_in({{"PBS_ARRAY_INDEX", "5"}}, "auto"),
                    Catch::Contains("write auto/7 for seven"));
}

TEST_CASE("a part of an array that is sent once more does not tell its shards", "[sweep]") {
  const auto slurm = [](const char* task, const char* least, const char* most) {
    return std::map<std::string, std::string>{{"SLURM_ARRAY_TASK_ID", task},
                                              {"SLURM_ARRAY_TASK_MIN", least},
                                              {"SLURM_ARRAY_TASK_MAX", most}};
  };
  CHECK(as_text(shard_in(slurm("3", "1", "7"), "auto/7")) == "3/7");
  CHECK(as_text(shard_in(slurm("3", "0", "6"), "auto/7")) == "4/7");
  // --array=3: the third of 1-7, or the fourth of 0-6?
  CHECK_THROWS_WITH(shard_in(slurm("3", "3", "3"), "auto/7"),
                    Catch::Contains("the tasks of the job array are not 7 (3 to 3)"));
}

TEST_CASE("auto names what it lacks", "[sweep]") {
  CHECK_THROWS_WITH(shard_in({}, "auto"), Catch::Contains("none of their variables is set"));
  CHECK_THROWS_WITH(shard_in({{"SGE_TASK_ID", "undefined"}}, "auto"),
                    Catch::Contains("none of their variables is set"));
  // --array=1,3,7: three tasks, and nothing says which of how many shards they were.
  CHECK_THROWS_WITH(shard_in({{"SLURM_ARRAY_TASK_ID", "3"},
                              {"SLURM_ARRAY_TASK_MIN", "1"},
                              {"SLURM_ARRAY_TASK_MAX", "7"},
                              {"SLURM_ARRAY_TASK_STEP", "1"},
                              {"SLURM_ARRAY_TASK_COUNT", "3"}},
                             "auto"),
                    Catch::Contains("the job array has gaps"));
  CHECK_THROWS_WITH(shard_in({{"SLURM_ARRAY_TASK_ID", "x"}}, "auto/7"),
                    "$SLURM_ARRAY_TASK_ID is 'x', but should be a task's number");
}

TEST_CASE("shards share every task, each once, and nearly as many", "[sweep]") {
  std::set<std::size_t> all;
  for (int number = 1; number <= 7; ++number) {
    const std::vector<std::size_t> its = tasks_of_shard({number, 7}, 100);
    CHECK((its.size() == 14 || its.size() == 15));  // 100 = 2 x 15 + 5 x 14
    for (const std::size_t task : its) CHECK(all.insert(task).second);
  }
  CHECK(all.size() == 100);
  CHECK(tasks_of_shard({1, 1}, 100) == shuffled(100));
  CHECK(tasks_of_shard({5, 7}, 3).empty());
}

TEST_CASE("a folder whose plan was edited is told", "[sweep]") {
  const TemporaryFolder scratch;
  SweepPlan plan;
  plan.axes = {{"model", {"resnet-50"}}, {"nodes", {}}};
  keep_plan(scratch.path, {plan, 2}, "0.1.0");
  CHECK_THROWS_WITH(kept_plan(scratch.path, "0.1.0"), Catch::Contains("this is no plan"));

  const TemporaryFolder other;
  plan.axes.pop_back();
  keep_plan(other.path, {plan, -5}, "0.1.0");
  CHECK_THROWS_WITH(kept_plan(other.path, "0.1.0"), Catch::Contains("this is no plan"));
}
