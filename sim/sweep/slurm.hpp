// Writes a sweep as a Slurm job array.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace gradcast {

struct SlurmJob {
  std::filesystem::path folder;        // for shards, scripts and logs
  std::filesystem::path program;       // this one
  std::filesystem::path directory;     // working directory: the plan's relative paths begin there
  std::vector<std::string> arguments;  // the sweep's, without its first word
  int shards = 1;
};

/// Throws UsageError for a folder that a script for Slurm cannot name.
void require_slurm_names(const SlurmJob& job);

/// Writes three scripts into the folder: run.sbatch (the array, one task per shard), merge.sbatch
/// (brings the shards together) and submit.sh (submits both, the second to run after the first). A
/// task that is requeued, or runs twice, changes nothing. Throws UsageError as above, Error (1) if
/// the folder cannot be written.
void write_slurm_scripts(const SlurmJob& job);

/// The default number of shards: enough forecasts for a task to be worth its start, and at most 200
/// shards.
int usual_shards(std::size_t forecasts);

}  // namespace gradcast
