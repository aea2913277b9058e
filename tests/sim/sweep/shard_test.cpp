#include "sim/sweep/shard.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

#include "sim/base/error.hpp"
#include "sim/base/text_file.hpp"
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

TEST_CASE("a folder whose plan was edited is told, with the plan's file", "[sweep]") {
  const std::vector<std::string> many(1001, "8");
  for (const auto& [axes, shards, says] :
       std::vector<std::tuple<std::vector<SweepAxis>, int, std::string>>{
           {{{"model", {"resnet-50"}}, {"nodes", {}}}, 2, "'nodes' in 'axes' has no values"},
           {{{"model", {"resnet-50"}}}, -5, "'shards' is -5, but should be"},
           {{{"model", {"resnet-50"}}}, 100'001, "'shards' is 100001, but should be"},
           {{{"nodess", {"4"}}}, 2, "unknown flag 'nodess' in 'axes'; did you mean 'nodes'?"},
           {{{"nodes", many}, {"batch", many}}, 2, "a sweep has 1000000 at most"}}) {
    CAPTURE(says);
    const TemporaryFolder scratch;
    SweepPlan plan;
    plan.axes = axes;
    keep_plan(scratch.path, {plan, shards}, "0.1.0");
    CHECK_THROWS_WITH(kept_plan(scratch.path, "0.1.0"),
                      Catch::Contains("plan.json: ") && Catch::Contains(says));
  }
}

TEST_CASE("a number of shards that is no int is refused, not cast to one", "[sweep]") {
  for (const char* number : {"1e80", "-1e80", "1.5", "4294967297"}) {
    CAPTURE(number);
    const TemporaryFolder scratch;
    SweepPlan plan;
    plan.axes = {{"model", {"resnet-50"}}};
    keep_plan(scratch.path, {plan, 77}, "0.1.0");
    std::string text = read_text_file(plan_file(scratch.path)).content;
    text.replace(text.find("77"), 2, number);
    write_text_file(plan_file(scratch.path), text);
    CHECK_THROWS_WITH(kept_plan(scratch.path, "0.1.0"),
                      Catch::Contains("but should be a whole number from 1 to 100000"));
  }
}

TEST_CASE("of many shards that lack something the first are named", "[sweep]") {
  SweepTasks tasks;
  for (int i = 0; i < 12; ++i) tasks.tasks.push_back({std::to_string(i), {}});
  Evaluations done;
  CHECK(missing_shards(2, tasks, done) ==
        "shard 1/2 lacks 6 of 6 forecasts; shard 2/2 lacks 6 of 6 forecasts");
  // Twelve of 100,000 shards have a forecast to make: five are named, seven counted.
  const std::string many = missing_shards(100'000, tasks, done);
  CHECK_THAT(many, Catch::StartsWith("shard 1/100000 lacks 1 of 1 forecasts; shard 2/100000 ") &&
                       Catch::EndsWith("; and 7 more"));
  for (const SweepTask& task : tasks.tasks) done[task.key];
  CHECK(missing_shards(100'000, tasks, done).empty());
}

TEST_CASE("a pipe in the place of a plan is refused, not waited for", "[sweep]") {
  const TemporaryFolder scratch;
  REQUIRE(mkfifo(plan_file(scratch.path).c_str(), 0600) == 0);
  CHECK_THROWS_WITH(kept_plan(scratch.path, "0.1.0"), Catch::Contains("is no regular file"));
  CHECK_THROWS_WITH(keep_plan(scratch.path, {}, "0.1.0"), Catch::Contains("is no regular file"));
}

TEST_CASE("a task's number that no batch system gives is refused", "[sweep]") {
  for (const char* number : {"4294967297", "-1", "9223372036854775807"}) {
    CAPTURE(number);
    CHECK_THROWS_WITH(
        shard_in({{"SLURM_ARRAY_TASK_ID", number}, {"SLURM_ARRAY_TASK_MAX", "7"}}, "auto"),
        Catch::Contains("but should be a task's number"));
  }
}
