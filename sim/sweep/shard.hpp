// A part of a sweep, for one of several machines, and the folder where parts meet.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/plan.hpp"
#include "sim/sweep/store.hpp"
#include "sim/sweep/task.hpp"

namespace gradcast {

/// More machines than anybody has.
inline constexpr int kMostShards = 100'000;

/// The `number`th of `of`, from 1.
struct Shard {
  int number = 1;
  int of = 1;
};

/// "3/7"; "auto", from what Slurm, SGE or PBS say of a task of a job array, or "auto/7" where they
/// do not say how many there are (PBS). `variable` gives an environment variable, "" where there is
/// none. Throws ValueError.
Shard parse_shard(const std::string& text,
                  const std::function<std::string(const std::string&)>& variable);

/// The order in which a sweep's forecasts are made: drawn, so that long ones lie everywhere.
std::vector<std::size_t> shuffled(std::size_t tasks);

/// The shard's part of these, in that order.
std::vector<std::size_t> tasks_of_shard(const Shard& shard, std::size_t tasks);

std::filesystem::path shard_file(const std::filesystem::path& folder, const Shard& shard);

/// What a folder of shards says of itself.
struct KeptPlan {
  SweepPlan plan;
  int shards = 1;
};

/// Writes it into the folder, or finds that it lies there. `made_by`: version and commit. Throws
/// DataError where the folder holds another sweep's shards, or other shards of this one.
void keep_plan(const std::filesystem::path& folder, const KeptPlan& kept,
               const std::string& made_by);

/// Throws DataError for a folder without one, and for one of another version.
KeptPlan kept_plan(const std::filesystem::path& folder, const std::string& made_by);

/// What all shards of a folder have done, whole or not yet.
Evaluations read_shards(const std::filesystem::path& folder, int shards);

/// Names what is missing, a line a shard: "shard 3/7 lacks 12 of 72 forecasts".
std::vector<std::string> missing_shards(int shards, const SweepTasks& tasks,
                                        const Evaluations& done);

}  // namespace gradcast
