// The readers of training logs, as readers.def names them: a run becomes a measured row.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "sim/base/error.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"
#include "sim/import/network/log_words.hpp"
#include "sim/import/network/network_facts.hpp"
#include "sim/import/readers.hpp"
#include "sim/import/text/training_log.hpp"
#include "sim/import/text/training_schedule.hpp"
#include "sim/network/nccl_rule.hpp"

namespace gradcast::import_readers {
namespace {

/// A run, its place, and the counts that a row needs.
struct RunOfLog {
  Trainer trainer;
  std::string path;
  std::string name;  // of its file, for notes
  LoggedRun logged;
  std::int64_t ranks = 0;
  int gpus_per_node = 0;
  std::int64_t samples = 0;  // of a GPU in an iteration
  std::int64_t accumulation = 1;
  std::int64_t sequence = 0;

  DataError failure(const std::string& what) const { return {path, logged.setup_line, what}; }
};

/// 0 where the log does not say it.
std::int64_t ranks_in(const LoggedSetup& setup) {
  if (const std::int64_t world = setup.group("world_size"); world > 0) return world;
  if (const std::int64_t data = setup.group("data_parallel_size"); data > 0) return data;
  std::int64_t ranks = setup.groups.empty() ? 0 : 1;
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  for (const char* name : {"dp", "dp_shard", "dp_replicate"})
    if (const std::int64_t size = setup.group(name); size > 1)
      ranks = std::min(kMost, ranks * std::min(kMost, size));
  if (ranks == 0 && setup.micro_batch > 0 && setup.global_batch > 0 && setup.accumulation > 0)
    ranks = setup.global_batch / (setup.micro_batch * setup.accumulation);
  return ranks;
}

/// GPUs of a node: those that the user says, else the log, else the cluster's. 0: nobody says it.
std::int64_t node_size(const RunOfLog& run, const ImportOptions& options) {
  if (options.layout.gpus_per_node) return *options.layout.gpus_per_node;
  if (options.layout.nodes && run.ranks > 0)
    return std::max<std::int64_t>(1, run.ranks / *options.layout.nodes);
  if (run.logged.setup.gpus_per_node > 0) return run.logged.setup.gpus_per_node;
  return options.machine ? options.machine->gpus_per_node : 0;
}

/// Fills in how the ranks lie on nodes; what nobody says stays 0.
void lay_out(RunOfLog& run, const ImportOptions& options) {
  run.ranks = ranks_in(run.logged.setup);
  const std::int64_t size = node_size(run, options);
  const std::optional<int> nodes = options.layout.nodes;
  if (run.ranks == 0 && nodes) run.ranks = *nodes * size;
  if (run.ranks > kMostRanks)
    throw run.failure("more than " + std::to_string(kMostRanks) + " ranks");
  if (run.ranks == 0 || size == 0) return;
  run.gpus_per_node = static_cast<int>(std::min(size, run.ranks));
  if (run.ranks % run.gpus_per_node != 0 || (nodes && run.ranks != *nodes * run.gpus_per_node))
    throw UsageError(run.name + ": " + std::to_string(run.ranks) + " ranks do not fill " +
                     (nodes ? std::to_string(*nodes) + " " : "") + "nodes of " +
                     std::to_string(run.gpus_per_node) +
                     " GPUs: say how they lie by --gpus-per-node");
}

/// Fills in the samples of an iteration; what nobody says stays 0.
void count(RunOfLog& run, const ImportOptions& options) {
  const LoggedSetup& setup = run.logged.setup;
  const std::int64_t ranks = std::max<std::int64_t>(1, run.ranks);
  run.sequence = setup.sequence > 0 ? setup.sequence : options.derive.weights.sequence.value_or(0);
  run.accumulation = std::max<std::int64_t>(1, setup.accumulation);
  if (setup.rank_tokens > 0) {
    run.accumulation = std::max<std::int64_t>(1, setup.step_tokens / setup.rank_tokens / ranks);
    if (run.sequence > 0) run.samples = run.accumulation * (setup.rank_tokens / run.sequence);
  } else if (run.trainer == Trainer::Torchtitan) {
    run.samples = setup.micro_batch * run.accumulation;
  } else if (run.ranks > 0) {
    run.samples = setup.global_batch / ranks;
    if (setup.micro_batch > 0)
      run.accumulation = std::max<std::int64_t>(1, run.samples / setup.micro_batch);
  }
  if (run.samples > 0 && options.batch && *options.batch != run.samples)
    throw UsageError("--batch " + std::to_string(*options.batch) + ": " + run.name + " says " +
                     std::to_string(run.samples) + " samples of a GPU in an iteration");
  if (run.samples == 0) run.samples = options.batch.value_or(0);
}

/// Throws UsageError that names all that is missing, each by its flag.
void require_known(const RunOfLog& run, const ImportOptions& options, bool compute) {
  const std::string& model = run.logged.setup.model;
  const bool cluster = !options.said.cluster.empty();
  std::vector<std::string> missing;
  const auto need = [&](bool known, const std::string& flag) {
    if (!known) missing.push_back(flag);
  };
  need(!options.said.model.empty(),
       "--model" + (model.empty() ? "" : " (it trains " + in_quotes(model) + ")"));
  need(cluster, "--cluster");
  need(compute, "--compute-seconds (an iteration on one GPU alone; or a log of one GPU beside it)");
  need(run.ranks > 0, "--nodes and --gpus-per-node");
  need(run.ranks == 0 || run.gpus_per_node > 0 || !cluster, "--gpus-per-node");
  need(run.sequence > 0 || run.trainer == Trainer::Megatron, "--sequence (tokens of a sample)");
  need(run.samples > 0 || (run.logged.setup.rank_tokens > 0 && run.sequence == 0),
       "--batch (samples of a GPU in an iteration)");
  if (!missing.empty())
    throw UsageError(run.name + " does not say all that a measured row needs; give " +
                     and_joined(missing));
  if (run.samples > INT32_MAX) throw run.failure("more samples of a GPU than anybody has");
}

Seconds seconds_of(const RunOfLog& run, double figure) {
  if (run.trainer == Trainer::Megatron) return Seconds{figure};
  return Seconds{static_cast<double>(run.samples * run.sequence) / figure};
}

/// The row of a run, with the middle 90 % of its iterations.
ImportedRun row_of(const RunOfLog& run, const ImportOptions& options, Seconds compute) {
  const LoggedSetup& setup = run.logged.setup;
  const auto as_sent = [&] {
    try {
      return sent_as(run.trainer, setup, run.ranks, run.gpus_per_node, options.said.elements);
    } catch (const ValueError& error) {
      throw run.failure(error.what());
    }
  };
  const SentAs sent = as_sent();
  std::vector<double> seconds;
  for (const double figure : run.logged.figures) seconds.push_back(seconds_of(run, figure).count());
  std::sort(seconds.begin(), seconds.end());
  ImportedRun made;
  made.words = sent.words;
  made.iterations = static_cast<int>(seconds.size());
  made.least = Seconds{nearest_rank(seconds, 0.05)};
  made.most = Seconds{nearest_rank(seconds, 0.95)};
  made.tokens = run.samples * run.sequence;
  MeasuredRun& row = made.row;
  row.source = options.name;
  row.model = options.said.model;
  row.trace = options.said.trace;
  row.batch = static_cast<int>(run.samples);
  row.compute = compute;
  row.cluster = options.said.cluster;
  row.nodes = static_cast<int>(run.ranks / run.gpus_per_node);
  row.gpus_per_node = run.gpus_per_node;
  row.compressor = "dense";
  row.fusion = sent.fusion;
  row.overlap = sent.overlap;
  row.iteration = Seconds{median(seconds)};
  row.collective = "nccl";
  try {
    if (!setup.nccl.empty()) row.nccl = to_text(parse_nccl_version(setup.nccl));
  } catch (const ValueError&) {
    // Older than any that is known: the forecast takes the usual one.
  }
  row.accumulation = static_cast<int>(std::min<std::int64_t>(run.accumulation, INT32_MAX));
  row.stack = sent.stack;
  row.sharding = sent.sharding;
  row.precision = sent.precision;
  row.assumed = sent.assumed;
  return made;
}

void add_notes(ImportNotes& notes, const RunOfLog& run, const ImportedRun& made,
               const ImportOptions& options) {
  const auto times = [](std::size_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  const LoggedRun& logged = run.logged;
  const LoggedSetup& setup = logged.setup;
  const std::string its = run.name + ": ";
  notes.used.push_back(its + "the median of " + times(logged.figures.size(), "printed iteration") +
                       (run.trainer == Trainer::Megatron
                            ? ""
                            : ", " + std::to_string(made.tokens) + " tokens of a GPU over tps"));
  notes.dropped.push_back(
      its + "the first printed iteration" +
      (logged.starts > 1 ? " of each of " + std::to_string(logged.starts) + " starts" : "") +
      ": it has the warm-up");
  if (logged.cut > 0)
    notes.dropped.push_back(its + times(logged.cut, "iteration") + " without a whole number");
  if (logged.other_size > 0)
    notes.dropped.push_back(its + times(logged.other_size, "iteration") +
                            " with another global batch than the last");
  notes.inferred.push_back(its + made.words + "; software " + made.row.stack +
                           (made.row.assumed.empty() ? "" : "; assumed: " + made.row.assumed));
  if (!options.layout.gpus_per_node && !options.layout.nodes && setup.gpus_per_node == 0)
    notes.inferred.push_back(
        its + std::to_string(made.row.nodes) + " x " + std::to_string(made.row.gpus_per_node) +
        " GPUs, on nodes like those of " + made.row.cluster + "; --gpus-per-node says otherwise");
  if (setup.groups.empty())
    notes.unknown.push_back(its +
                            "whether ranks were divided by tensor or pipeline parallelism: no line "
                            "says it, and none is assumed");
  constexpr double kNear = 0.02;
  const auto said = static_cast<double>(setup.parameters);
  const auto named = static_cast<double>(options.said.elements);
  if (said > 0 && named > 0 && std::abs(said - named) > kNear * said)
    notes.unknown.push_back(its + "why its model has " + std::to_string(setup.parameters) +
                            " parameters and " + made.row.model + " " +
                            std::to_string(options.said.elements) +
                            ": is --model the one that ran?");
}

std::vector<RunOfLog> runs_in(const std::vector<std::filesystem::path>& paths,
                              const ImportOptions& options, Trainer trainer) {
  std::vector<RunOfLog> runs;
  for (const std::filesystem::path& path : paths) {
    const TextFile file = read_log(path);
    const std::vector<LoggedRun> logged = runs_in_log(file, trainer);
    if (logged.empty())
      throw DataError(
          path.string(), 0,
          std::string("prints no iteration: no line like '") +
              (trainer == Trainer::Torchtitan
                   ? "step: 10  loss: 9.88  memory: ...  tps: 7,026"
                   : "iteration 10/ 500 | ... elapsed time per iteration (ms): 494.3 |") +
              "'");
    constexpr std::size_t kMostRuns = 1000;
    if (runs.size() + logged.size() > kMostRuns)
      throw DataError(path.string(), 0, "more than " + std::to_string(kMostRuns) + " runs");
    for (const LoggedRun& each : logged) {
      RunOfLog run{trainer, path.string(), noted_name(file), each};
      if (const std::string other = other_parallelism(each.setup); !other.empty())
        throw run.failure(other + ": gradcast forecasts data parallelism alone");
      lay_out(run, options);
      count(run, options);
      if (each.figures.empty())
        throw run.failure("prints one iteration, and the first has the warm-up: a run needs two");
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

/// "2 samples of 8192 tokens".
std::string batch_of(const RunOfLog& run) {
  return std::to_string(run.samples) + (run.samples == 1 ? " sample" : " samples") +
         (run.sequence > 0 ? " of " + std::to_string(run.sequence) + " tokens" : "");
}

/// Files of two ranks of one run would count it twice.
void note_twins(ImportNotes& notes, const std::vector<RunOfLog>& runs) {
  constexpr double kAlike = 0.002;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (runs[i].path != runs[j].path && runs[i].logged.setup == runs[j].logged.setup &&
          std::abs(median(runs[i].logged.figures) / median(runs[j].logged.figures) - 1) < kAlike)
        return notes.unknown.push_back("whether " + runs[j].name + " and " + runs[i].name +
                                       " are of one run: they are alike. If so, give one of them");
}

/// The time of an iteration on one GPU: as the user says, or by the log of one with the same batch.
std::optional<Seconds> compute_of(const std::vector<RunOfLog>& runs, std::size_t which,
                                  std::size_t place, const std::vector<Seconds>& said) {
  if (!said.empty()) return said[said.size() > 1 ? place : 0];
  const RunOfLog& run = runs[which];
  for (const RunOfLog& alone : runs)
    if (alone.ranks == 1 && alone.samples == run.samples && alone.sequence == run.sequence &&
        alone.accumulation == run.accumulation)
      return seconds_of(alone, median(alone.logged.figures));
  return std::nullopt;
}

Imported read_training_logs(const std::vector<std::filesystem::path>& paths,
                            const ImportOptions& options, Trainer trainer) {
  const std::vector<RunOfLog> runs = runs_in(paths, options, trainer);
  const auto several = static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [](const RunOfLog& run) { return run.ranks != 1; }));
  const std::vector<Seconds>& said = options.said.compute;
  if (several == 0)
    throw DataError(paths.front().string(), 0,
                    "is of one GPU, which sends nothing: give it together with logs of several");
  if (said.size() > 1 && said.size() != several)
    throw UsageError("--compute-seconds: " + std::to_string(said.size()) + " times for " +
                     std::to_string(several) + " runs; give one, or one for each");
  Imported imported;
  imported.kind = trainer == Trainer::Torchtitan ? "torchtitan" : "megatron";
  const RunOfLog* first = nullptr;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunOfLog& run = runs[i];
    if (imported.device.empty()) imported.device = run.logged.setup.device;
    if (run.ranks == 1) {
      imported.notes.used.push_back(run.name + ": a run of one GPU, for compute_seconds of others");
      continue;
    }
    const auto compute = compute_of(runs, i, imported.runs.size(), said);
    require_known(run, options, compute.has_value());
    if (first == nullptr) first = &run;
    if (said.size() == 1 && batch_of(run) != batch_of(*first))
      throw UsageError("--compute-seconds: one time for GPUs that take " + batch_of(*first) +
                       " and " + batch_of(run) + "; give one for each run");
    ImportedRun made = row_of(run, options, *compute);
    // Its classes around the model are there on one GPU too.
    made.row.framework_in_compute = said.empty() && trainer == Trainer::Megatron;
    add_notes(imported.notes, run, made, options);
    imported.world_size = std::max(imported.world_size, made.row.nodes * made.row.gpus_per_node);
    imported.steps_used += made.iterations;
    imported.steps_dropped +=
        static_cast<int>(run.logged.starts + run.logged.cut + run.logged.other_size);
    imported.runs.push_back(std::move(made));
  }
  note_twins(imported.notes, runs);
  return imported;
}

}  // namespace

bool torchtitan_recognises(const FileHead& head) {
  return is_training_log(head.bytes, Trainer::Torchtitan);
}

Imported torchtitan_read(const std::vector<std::filesystem::path>& paths,
                         const ImportOptions& options) {
  return read_training_logs(paths, options, Trainer::Torchtitan);
}

bool megatron_recognises(const FileHead& head) {
  return is_training_log(head.bytes, Trainer::Megatron);
}

Imported megatron_read(const std::vector<std::filesystem::path>& paths,
                       const ImportOptions& options) {
  return read_training_logs(paths, options, Trainer::Megatron);
}

}  // namespace gradcast::import_readers
