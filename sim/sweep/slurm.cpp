#include "sim/sweep/slurm.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/shell_word.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {
namespace {

/// Slurm reads its own lines without a shell, but with its quotes and backslashes: a '#' begins a
/// comment where it is in no quotes.
std::string directive(const std::string& flag, const std::string& value) {
  const bool plain = value.find_first_of(" \t#\"'\\") == std::string::npos;
  if (plain) return "#SBATCH --" + flag + "=" + value + "\n";
  std::string text;
  for (const char letter : value) {
    if (letter == '"' || letter == '\\') text += '\\';
    text += letter;
  }
  return "#SBATCH --" + flag + "=\"" + text + "\"\n";
}

/// A file of the folder of logs. Slurm replaces %A, %j and others in the names of outputs, but in
/// no other path; %% is the sign itself.
std::string log_file(const SlurmJob& job, const std::string& name) {
  std::string text;
  for (const char letter : (job.folder / "logs").string())
    text += letter == '%' ? std::string("%%") : std::string(1, letter);
  return text + "/" + name;
}

/// Rejects names that a line `#SBATCH` cannot hold. A line break would begin a line of shell. A
/// backslash in the name of an output makes Slurm replace nothing, so that all tasks would write
/// one log.
void require_sayable(const std::string& what, const std::filesystem::path& path, bool holds_logs) {
  const std::string text = path.string();
  const bool control = std::any_of(text.begin(), text.end(), is_control);
  if (!control && !(holds_logs && text.find('\\') != std::string::npos)) return;
  throw UsageError(what + " '" + one_line(text) + "' has a " +
                   (control ? "control character, such as a line break," : "backslash") +
                   " in its name, which Slurm's scripts cannot hold; take another");
}

std::string program_line(const SlurmJob& job) {
  return "program=" + in_shell_quotes(job.program.string()) + "\n";
}

/// The path of this program, or another that $GRADCAST names.
constexpr const char* kProgram = "\"${GRADCAST:-$program}\"";

std::string common_head(const SlurmJob& job, const std::string& name) {
  return "#!/bin/sh\n" + directive("job-name", name) + directive("chdir", job.directory.string()) +
         directive("cpus-per-task", "1") + "#SBATCH --requeue\n";
}

std::string run_script(const SlurmJob& job) {
  const std::string last = std::to_string(job.shards);
  std::string command;
  for (const std::string& argument : job.arguments) command += " " + in_shell_quotes(argument);
  return common_head(job, "gradcast-sweep") + directive("array", "1-" + last) +
         directive("output", log_file(job, "%A_%a.log")) + "# A task does one shard of " + last +
         ". What it has done it keeps: requeued, it goes on from there.\n" + program_line(job) +
         "exec " + kProgram + " sweep" + command + " --shard \"${SLURM_ARRAY_TASK_ID}/" + last +
         "\" -j \"${SLURM_CPUS_PER_TASK:-1}\" -o " + in_shell_quotes(job.folder.string()) + "\n";
}

std::string merge_script(const SlurmJob& job) {
  return common_head(job, "gradcast-merge") + directive("output", log_file(job, "merge-%j.log")) +
         "# Names what is missing and fails where a shard did not end.\n" + program_line(job) +
         kProgram + " sweep merge " + in_shell_quotes(job.folder.string()) + " -o " +
         in_shell_quotes((job.folder / "result.json").string()) + " &&\nexec " + kProgram +
         " sweep merge " + in_shell_quotes(job.folder.string()) + " -o " +
         in_shell_quotes((job.folder / "result.csv").string()) + "\n";
}

std::string submit_script(const SlurmJob& job) {
  const auto script = [&](const char* name) {
    return in_shell_quotes((job.folder / name).string());
  };
  return "#!/bin/sh\n"
         "# Submits the array, and the merge for when every task has ended, well or not. Arguments "
         "go\n"
         "# to sbatch: --partition, --account, --time, ...\n"
         "set -e\n"
         "array=$(sbatch --parsable \"$@\" " +
         script("run.sbatch") +
         ")\n"
         "sbatch --dependency=\"afterany:${array%%;*}\" \"$@\" " +
         script("merge.sbatch") + "\n";
}

}  // namespace

void require_slurm_names(const SlurmJob& job) {
  require_sayable("--emit-slurm: the folder", job.folder, true);
  require_sayable("--emit-slurm: the folder where the tasks run,", job.directory, false);
}

void write_slurm_scripts(const SlurmJob& job) {
  require_slurm_names(job);
  for (const char* script : {"run.sbatch", "merge.sbatch", "submit.sh"})
    static_cast<void>(
        kept_file_at(job.folder / script));  // says so where it is a pipe, which nobody reads
  make_folder(job.folder / "logs");
  write_text_file(job.folder / "run.sbatch", run_script(job));
  write_text_file(job.folder / "merge.sbatch", merge_script(job));
  write_text_file(job.folder / "submit.sh", submit_script(job));
}

int usual_shards(std::size_t forecasts) {
  constexpr std::size_t kForecastsOfATask = 500;  // about a minute
  constexpr std::size_t kMost = 200;
  return static_cast<int>(
      std::clamp((forecasts + kForecastsOfATask - 1) / kForecastsOfATask, std::size_t{1}, kMost));
}

}  // namespace gradcast
