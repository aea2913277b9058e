// A sweep as a job array of Slurm's.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace gradcast {

struct SlurmJob {
  std::filesystem::path folder;     // of shards, scripts and logs
  std::filesystem::path program;    // this one
  std::filesystem::path directory;  // where the tasks run: relative paths of the plan begin there
  std::vector<std::string> arguments;  // of the sweep, without its first word
  int shards = 1;
};

/// Writes run.sbatch (the array, a task a shard), merge.sbatch (what brings them together) and
/// submit.sh (both, the second after the first) into the folder. A task that is requeued, or runs
/// twice, changes nothing. Throws Error (1) where the folder refuses.
void write_slurm_scripts(const SlurmJob& job);

/// Shards of so many forecasts: a task should be worth its start, and 200 are many.
int usual_shards(std::size_t forecasts);

}  // namespace gradcast
