// A shard is a part of a sweep for one of several machines. All shards use one folder.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/limits.hpp"
#include "sim/sweep/plan.hpp"
#include "sim/sweep/store.hpp"
#include "sim/sweep/task.hpp"

namespace gradcast {

/// Shard `number` of `of`, counted from 1.
struct Shard {
  int number = 1;
  int of = 1;
};

/// Parses "3/7", "auto" or "auto/7". "auto" takes both numbers from the variables that Slurm, SGE
/// or PBS set for a task of a job array; "auto/7" is for systems that do not say how many tasks
/// there are (PBS). `variable` gives an environment variable, "" if it is not set. Throws
/// ValueError.
Shard parse_shard(const std::string& text,
                  const std::function<std::string(const std::string&)>& variable);

/// The order in which a sweep's forecasts are made. It is random, so that all shards get long ones.
std::vector<std::size_t> shuffled(std::size_t tasks);

/// The shard's part of the forecasts, in that order.
std::vector<std::size_t> tasks_of_shard(const Shard& shard, std::size_t tasks);

/// The file that keeps the plan of a folder of shards.
std::filesystem::path plan_file(const std::filesystem::path& folder);

std::filesystem::path shard_file(const std::filesystem::path& folder, const Shard& shard);

/// The plan that a folder of shards keeps.
struct KeptPlan {
  SweepPlan plan;
  int shards = 1;
};

/// Writes the plan into the folder, or finds it there. `made_by`: version and commit. Throws
/// DataError if the folder holds another sweep's shards, or other shards of this one.
void keep_plan(const std::filesystem::path& folder, const KeptPlan& kept,
               const std::string& made_by);

/// Reads the plan. Throws DataError for a folder without one, for a plan of another version, and
/// for one that no sweep wrote: too many points, or flags that no sweep has.
KeptPlan kept_plan(const std::filesystem::path& folder, const std::string& made_by);

/// The forecasts of all shards of a folder, also of unfinished shards.
Evaluations read_shards(const std::filesystem::path& folder, int shards);

/// Says what is missing: "shard 3/7 lacks 12 of 72 forecasts", the next shard, "and 5 more". ""
/// where nothing is.
std::string missing_shards(int shards, const SweepTasks& tasks, const Evaluations& done);

}  // namespace gradcast
