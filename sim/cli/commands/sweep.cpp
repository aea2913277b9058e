// `gradcast sweep`: every combination of lists of flags.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "sim/answers/version.hpp"
#include "sim/base/caller.hpp"
#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/shell_word.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"
#include "sim/options/assumption_notes.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/options/flags.hpp"
#include "sim/sweep/run.hpp"
#include "sim/sweep/shard.hpp"
#include "sim/sweep/slurm.hpp"

namespace gradcast::commands {
namespace {

namespace fs = std::filesystem;

Flags sweep_flags() {
  Flags flags(
      "sweep",
      "Forecasts every combination of lists: --nodes 1,2,4..64 --nic-bandwidth 10Gbps,25Gbps.\n"
      "Whole numbers in a range double, others step 1, 2, 5 a decade; `all` stands for all\n"
      "models, compressors, clusters or collectives. PLAN.toml holds the same flags as keys; "
      "flags\n"
      "of the command line override it. The verdict is that of the forecast with software costs\n"
      "(--fitted): surely pays, surely does not pay, or cannot be told and what to measure; "
      "physics\n"
      "alone stands beside. CSV and JSON name the forecast as `simulate` does "
      "(iteration_seconds),\n"
      "and physics alone with a prefix (physics_seconds). With -o, finished forecasts are kept\n"
      "beside the answer (FILE.points): after ctrl-C, or with more points or changed files, the\n"
      "same command makes only those that are missing. Points that a sweep leaves out are dropped.",
      {"sweep --model resnet-50,vgg-16 --nic-bandwidth 25Gbps,100Gbps  (which network to buy)",
       "sweep --model resnet-50 --compressor all --nodes 1,2,4..64 -o sweep.csv",
       "sweep plan.toml -j 8 -o sweep.json",
       "sweep plan.toml --shard 3/7 -o shards        (one of seven machines)",
       "sweep merge shards -o sweep.json             (what they did, together)",
       "sweep plan.toml --emit-slurm shards          (scripts of a job array)"});
  add_sweep_axes(flags);
  add_engine_flag(flags);
  flags.add("fitted",
            "the software of the forecast, unless --stack names it: a stack of `gradcast list` or "
            "a file; a fitted cluster, for its own and for those without a fit; or none: one "
            "forecast a point, as --stack has it, and no physics beside it",
            kUsualSoftware);
  flags.add(
      "against",
      "the dense run that a compressor must beat: best (the fastest of merged, ddp and layer, "
      "overlapped; the stack's own too) or same (by the compressor's own schedule)",
      to_text(Against::Best));
  add_jobs_flag(flags);
  flags.add("shard",
            "I/N: make the I-th of N parts, in the folder of -o; auto: take I and N from Slurm, "
            "SGE or PBS");
  flags.add_written("emit-slurm", Writes::Folder,
                    "a folder: write the scripts of a Slurm job array into it, and run nothing");
  flags.add("shards",
            "number of shards for --emit-slurm (default: 500 forecasts each, 200 shards at most)");
  flags.add_switch("dry-run", "say how many points and forecasts there are, and make none");
  flags.add_words("PLAN.toml | merge FOLDER",
                  "a file with the lists as keys; or a folder whose shards are brought together",
                  2);
  return flags;
}

int parse_shards(std::string_view text) { return parse_count_to(kMostShards, text); }

/// The file that keeps forecasts, beside the answer. None if the answer does not go to a file.
std::optional<fs::path> store_of(const Flags& flags) {
  const fs::path answer = flags.written("output");
  if (answer.empty() || answer == "-") return std::nullopt;
  std::error_code ignored;
  if (fs::is_directory(answer, ignored))
    throw UsageError("-o: '" + answer.string() +
                     "' is a folder; name a file, or one shard of several with --shard");
  if (fs::exists(answer, ignored) && !fs::is_regular_file(answer, ignored)) return std::nullopt;
  return answer.string() + ".points";
}

class Sweep {
 public:
  explicit Sweep(const Flags& flags) : flags_(flags), files_(DataFiles::standard()) {}

  int run() {
    require_hashes();
    const std::vector<std::string> words = flags_.words();
    if (!words.empty() && words[0] == "merge") return merge(words);
    if (words.size() > 1) throw UsageError("'" + words[1] + "' is a second plan: a sweep has one");
    plan_ = read_sweep_plan(flags_, words.empty() ? "" : words[0], files_);
    plan_.engine = chosen_engine(flags_).name;
    // --stack none is physics alone, as in simulate.
    const bool no_stack = std::any_of(plan_.axes.begin(), plan_.axes.end(), [](const auto& axis) {
      return axis.flag == "stack" && axis.values == std::vector<std::string>{"none"};
    });
    plan_.software = no_stack && !flags_.given("fitted") ? "none" : flags_.text("fitted");
    plan_.against = flags_.value("against", parse_against);
    plan_.arguments = flags_.arguments();
    if (flags_.given("emit-slurm")) return emit_slurm();
    make_tasks();
    for (const InputFile& input : files_.inputs()) flags_.refuse_to_overwrite(input.path);
    if (flags_.given("dry-run")) return dry_run();
    return flags_.given("shard") ? run_shard() : run_all();
  }

 private:
  static void require_hashes() {
    if (sha256_hex("").empty())
      throw MissingError(
          "`sweep` keeps forecasts by their SHA-256, which needs OpenSSL, and this build has none");
  }

  const Engine& engine() const { return *find_engine(plan_.engine); }

  void make_tasks() { tasks_ = tasks_of(plan_, engine(), version_and_commit(), files_); }

  SweepRun sweep_run(std::vector<std::size_t> numbers) const {
    return {tasks_, std::move(numbers), engine(), chosen_jobs(flags_), flags_.quiet()};
  }

  int dry_run() {
    write_stdout(std::to_string(tasks_.points.size()) + " points, " +
                 std::to_string(tasks_.tasks.size()) + " forecasts (with fitted software and " +
                 "without, and dense runs to compare with)\n");
    return 0;
  }

  int run_all() {
    std::optional<Store> store;
    if (const auto file = store_of(flags_)) store.emplace(*file);
    answer(run_sweep(sweep_run(shuffled(tasks_.tasks.size())), store ? &*store : nullptr, files_),
           {});
    const bool names_cluster =
        std::any_of(plan_.axes.begin(), plan_.axes.end(),
                    [](const SweepAxis& axis) { return axis.flag == "cluster"; });
    if (!names_cluster) note_usual_cluster(flags_, tasks_.points.front().request);
    return 0;
  }

  int run_shard() {
    if (!flags_.given("output"))
      throw UsageError("--shard needs -o, a folder where the shards meet");
    const fs::path folder = flags_.written("output");
    const Shard shard = flags_.value("shard", [](const std::string& text) {
      return parse_shard(text, [](const std::string& name) {
        const char* value = std::getenv(name.c_str());
        return std::string(value != nullptr ? value : "");
      });
    });
    keep_plan(folder, {plan_, shard.of}, version_and_commit());
    Store store(shard_file(folder, shard));
    run_sweep(sweep_run(tasks_of_shard(shard, tasks_.tasks.size())), &store, files_);
    flags_.note("shard " + std::to_string(shard.number) + "/" + std::to_string(shard.of) +
                " is done; when all are: gradcast sweep merge " + shell_word(folder.string()));
    return 0;
  }

  int merge(const std::vector<std::string>& words) {
    if (words.size() < 2) throw UsageError("`sweep merge` needs the folder where the shards lie");
    for (const std::string& name : flags_.own_names())
      if (flags_.typed(name) && name != "jobs")
        throw UsageError("--" + name + " is not for `sweep merge`: the plan in the folder has it");
    flags_.refuse_to_overwrite(plan_file(words[1]));
    const KeptPlan kept = kept_plan(words[1], version_and_commit());
    plan_ = kept.plan;
    if (find_engine(plan_.engine) == nullptr || !engine().built())
      throw MissingError("these shards are of engine '" + plan_.engine +
                         "', which is not in this build");
    try {
      make_tasks();
    } catch (const Error& error) {  // a usage error here is an error in the plan's file
      if (error.code() != ExitCode::Usage) throw;
      throw DataError(plan_file(words[1]).string(), 0, error.what());
    }
    for (int number = 1; number <= kept.shards; ++number)
      flags_.refuse_to_overwrite(shard_file(words[1], {number, kept.shards}));
    const Evaluations done = read_shards(words[1], kept.shards);
    if (const std::string missing = missing_shards(kept.shards, tasks_, done); !missing.empty())
      throw Error(ExitCode::Failure, words[1] + ": " + missing + ": run them, and merge again");
    answer(done, plan_.inputs);
    return 0;
  }

  int emit_slurm() {
    if (caller() != nullptr)
      throw UsageError("--emit-slurm writes scripts that start this program: ask the program");
    const fs::path here = current_folder();
    const fs::path folder = (here / flags_.written("emit-slurm")).lexically_normal();
    SlurmJob job{folder, own_program(), here, {}, 0};
    require_slurm_names(job);
    make_tasks();
    const int shards = flags_.given("shards") ? flags_.value("shards", parse_shards)
                                              : usual_shards(tasks_.tasks.size());
    job.shards = shards;
    const std::vector<std::string>& all = flags_.arguments();
    for (std::size_t i = 2; i < all.size(); ++i) {  // after "gradcast sweep"
      if (all[i] == "--emit-slurm" || all[i] == "--shards")
        ++i;  // with its value
      else
        job.arguments.push_back(all[i]);
    }
    plan_.arguments = {"gradcast", "sweep"};
    plan_.arguments.insert(plan_.arguments.end(), job.arguments.begin(), job.arguments.end());
    keep_plan(folder, {plan_, shards}, version_and_commit());
    write_slurm_scripts(job);
    flags_.note(std::to_string(tasks_.points.size()) + " points in " + std::to_string(shards) +
                " shards; submit them with: sh " + (folder / "submit.sh").string());
    return 0;
  }

  /// `inputs`: those that are known besides what was read here.
  void answer(const Evaluations& done, std::vector<InputFile> inputs) {
    Answer answer = sweep_answer(plan_, tasks_, done, files_);
    for (const InputFile& input : files_.inputs()) {
      const bool known = std::any_of(inputs.begin(), inputs.end(), [&](const InputFile& other) {
        return other.typed == input.typed && other.sha256 == input.sha256;
      });
      if (!known) inputs.push_back(input);
    }
    answer.arguments = plan_.arguments;
    deliver(flags_, inputs, plan_.engine, answer);
    std::vector<std::string> compressors;
    bool usual = true;  // no collective is named
    for (const SweepTask& task : tasks_.tasks) {
      compressors.push_back(task.asked.request.compressor);
      usual = usual && task.asked.request.collective.empty();
    }
    std::vector<Request> asked;
    for (const SweepPoint& point : tasks_.points) asked.push_back(point.request);
    note_untimed(flags_, asked, files_);
    note_cpus_trace(flags_, asked, files_);
    note_sharding(flags_, asked, files_);
    note_gpus_of_node(flags_, asked, files_);
    note_memory(flags_, asked, files_);
    note_density(flags_, compressors);
    if (usual) note_collective(flags_, compressors);
    const Json& summary = answer.summary;
    const auto number = [&](const char* name) { return summary.at(name).get<std::size_t>(); };
    if (number("points_without_answer") > 0)
      flags_.note(std::to_string(number("points_without_answer")) + " of " +
                  std::to_string(number("points")) +
                  " points have no answer; column `problem` says "
                  "why");
    if (number("disagree") > 0)
      flags_.note("in " + std::to_string(number("disagree")) + " of " +
                  std::to_string(number("points")) +
                  " points physics alone names another faster run than the forecast with software "
                  "(column `agree`)");
  }

  const Flags& flags_;
  DataFiles files_;
  SweepPlan plan_;
  SweepTasks tasks_;
};

}  // namespace

int sweep(int argc, const char* const* argv) {
  Flags flags = sweep_flags();
  if (!flags.parse(argc, argv)) return 0;
  return Sweep(flags).run();
}

}  // namespace gradcast::commands
