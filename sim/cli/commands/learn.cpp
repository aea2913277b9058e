// `gradcast learn`: the software costs of a cluster, from a few measured runs of one's own.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "sim/answers/answer.hpp"
#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/progress.hpp"
#include "sim/base/text.hpp"
#include "sim/compare/comparison.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/forecast/software_spread.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/population/learned_report.hpp"

namespace gradcast::commands {
namespace {

namespace fs = std::filesystem;

Flags learn_flags() {
  Flags flags(
      "learn",
      "Learns from a few measured runs of your own what the software costs on your cluster. What\n"
      "is known of your software stack elsewhere comes first; 1 to 60 runs of one job's software\n"
      "on one cluster then change it. Says how good that is (each run forecast by the others) and\n"
      "which run to measure next. Three runs help: dense, dense without overlap, one compressed.",
      {"learn my-runs.csv -o my-cluster", "learn my-runs.csv --stack horovod-nccl -o my-cluster",
       "simulate --model resnet-50 --cluster my-cluster/platforms/mine.csv "
       "--stack my-cluster/platforms/stack-my-runs.csv --nodes 8"},
      "the folder that platforms/ is written into (default: nothing is written)", Writes::Folder);
  flags.add_words("RUNS",
                  "your measured runs: a .csv file like traces/examples/measured.csv, or a name "
                  "of `gradcast list`",
                  1);
  flags.add("stack",
            "the software that ran: a name of `gradcast list`, or a .csv file (default: the stack "
            "that the runs name; if they name none, ddp-nccl)");
  flags.add("seed", "seed of the Markov chain", "1");
  return flags;
}

/// Rows that can be learned from, and why others are not.
struct Usable {
  MeasuredRuns measured;
  std::vector<std::string> left_out;
};

Usable usable_runs(const Flags& flags, DataFiles& files) {
  if (flags.words().empty())
    throw UsageError(
        "a file is missing: your measured runs, like traces/examples/measured.csv; see `gradcast "
        "learn --help`");
  const auto read = [&]() -> const TextFile& {
    try {
      return files.read(kMeasuredRuns, flags.words()[0]);
    } catch (const ValueError& error) {
      throw UsageError(error.what());
    }
  };
  Usable usable{load_measured_runs(read()), {}};
  std::vector<MeasuredRun>& runs = usable.measured.runs;
  for (const MeasuredRun& run : runs)
    if (!run.outside.empty())
      usable.left_out.push_back("line " + std::to_string(run.line) + ": " + run.outside);
  std::erase_if(runs, [](const MeasuredRun& run) { return !run.outside.empty(); });
  const std::string& path = usable.measured.path;
  if (runs.empty())
    throw DataError(path, 0, "every run is outside what the model claims (column 'outside')");
  if (runs.size() > kMostLearned)
    throw DataError(path, 0,
                    std::to_string(runs.size()) + " runs are more than " +
                        std::to_string(kMostLearned) + ": `gradcast fit` is for that many");
  return usable;
}

/// The stack that the runs name; "" for none. Throws DataError where they name several.
std::string stack_named(const MeasuredRuns& measured) {
  const std::string& first = measured.runs.front().stack;
  for (const MeasuredRun& run : measured.runs)
    if (run.stack != first)
      throw DataError(measured.path, run.line,
                      "stack " + in_quotes(run.stack) + " is not " + in_quotes(first) +
                          " of line " + std::to_string(measured.runs.front().line) +
                          ": the runs are to be of one software; --stack names it");
  return first;
}

struct Prior {
  std::shared_ptr<const Stack> stack;
  std::string name;  // of `gradcast list`, or a path from the root on
  std::string why_assumed;
};

void require_one_stack(const Stack& stack) {
  if (std::any_of(stack.terms.begin(), stack.terms.end(),
                  [](const StackTerm& term) { return term.presence < 1; }))
    throw ValueError("stack '" + stack.name +
                     "' is a mixture of all that were measured: name the one that is most like "
                     "yours");
}

Prior prior_of(const Flags& flags, const MeasuredRuns& measured, DataFiles& files) {
  const auto read = [&](const std::string& name) {
    Request request;
    request.stack = name;
    const auto stack = stack_of(request, files);
    require_one_stack(*stack);
    return stack;
  };
  if (flags.given("stack")) {
    const std::string name = flags.text("stack");
    return {flags.value("stack", read), is_path(name) ? files.from_anywhere(name) : name, ""};
  }
  if (const std::string named = stack_named(measured); !named.empty()) {
    try {
      return {read(named), named, ""};
    } catch (const ValueError& error) {
      throw DataError(measured.path, measured.runs.front().line, error.what());
    }
  }
  Request request = as_written(measured.runs.front());
  request.today = true;
  request = naming_row(measured.path, measured.runs.front(),
                       [&] { return with_defaults(std::move(request), files); });
  if (request.stack.empty())
    throw UsageError("the runs name no stack, and none is assumed here: name one with --stack");
  const std::string name = stack_label(request.stack);
  return {read(request.stack), name,
          "The runs name no stack. " + name +
              " is assumed, as `gradcast simulate` does; --stack names another."};
}

/// "collective nccl": what the software has chosen where the runs leave a cell empty, each once.
std::vector<std::string> cells_left_open(const std::vector<FitRow>& rows) {
  std::vector<std::string> open;
  const auto add = [&](const std::string& column, const std::string& said, const std::string& has) {
    const std::string words = column + " " + has;
    if (said.empty() && !has.empty() && std::find(open.begin(), open.end(), words) == open.end())
      open.push_back(words);
  };
  for (const FitRow& row : rows) {
    add("collective", row.run.collective, row.request.collective);
    add("trace", row.run.trace, row.request.trace);
    const std::string& device = row.request.costs_device;
    if (row.scenario.compresses())
      add("costs", row.run.costs, row.request.costs + (device.empty() ? "" : " for " + device));
  }
  return open;
}

/// Two measurements of one GPU's work may lie apart, most of all on a busy machine.
constexpr double kFasterThanAlone = 0.5;

void require_learnable(const MeasuredRuns& measured, const std::vector<FitRow>& rows) {
  const Engine& analytic = *find_engine("analytic");
  for (const FitRow& row : rows) {
    if (row.run.iteration < row.run.compute * kFasterThanAlone)
      throw DataError(measured.path, row.run.line,
                      "iteration_seconds " + number_to_text(row.run.iteration.count()) +
                          " is less than compute_seconds " +
                          number_to_text(row.run.compute.count()) +
                          ", which one GPU alone takes, by more than a half: both are of the same "
                          "batch per GPU, and no run is faster than its GPUs");
    if (is_fitted(row.run.cluster))
      throw DataError(measured.path, row.run.line,
                      "cluster '" + row.run.cluster +
                          "' was fitted, and says already what its software costs: name the "
                          "cluster that it was made from");
    const std::string refusal =
        analytic.refusal(make_plan(row.scenario), row.scenario.cluster, row.scenario.world);
    if (!refusal.empty()) throw DataError(measured.path, row.run.line, refusal);
  }
}

/// Doubts about the runs, in words.
std::vector<std::string> doubts_about(const Stack& prior, const std::vector<FitRow>& rows) {
  std::vector<std::string> doubts;
  std::vector<std::string> twice;
  for (const FitRow& row : rows) {
    const bool known = std::find(prior.sources.begin(), prior.sources.end(), row.run.source) !=
                       prior.sources.end();
    if (known && std::find(twice.begin(), twice.end(), row.run.source) == twice.end())
      twice.push_back(row.run.source);
  }
  for (const FitRow& row : rows)
    if (row.run.iteration < row.run.compute * kLeastOfCompute)
      doubts.push_back(
          "line " + std::to_string(row.run.line) + ": iteration_seconds " +
          number_to_text(row.run.iteration.count()) + " is less than compute_seconds " +
          number_to_text(row.run.compute.count()) +
          ", and no run is faster than its GPUs alone: are both of the same batch per GPU?");
  if (const std::string several = several_clusters(rows); !several.empty())
    doubts.push_back(several);
  if (!twice.empty())
    doubts.push_back("stack '" + prior.name + "' was estimated from runs of " + join(twice) +
                     ": these runs count twice");
  return doubts;
}

void write(const Flags& flags, const std::vector<FittedFile>& made) {
  std::vector<TextFile> whole;
  for (const FittedFile& file : made) {
    whole.push_back({fs::path(flags.written("output")) / file.path, file.content});
    make_folder(whole.back().path.parent_path());
  }
  write_text_files(whole);
}

}  // namespace

int learn(int argc, const char* const* argv) {
  Flags flags = learn_flags();
  if (!flags.parse(argc, argv)) return 0;
  const std::uint64_t seed = flags.value("seed", parse_seed);
  DataFiles files = DataFiles::standard();
  Usable usable = usable_runs(flags, files);
  const Prior prior = prior_of(flags, usable.measured, files);
  if (flags.given("stack"))  // it also chooses what the rows leave empty
    for (MeasuredRun& run : usable.measured.runs) run.stack = prior.name;
  const std::vector<FitRow> rows = fit_rows_of(usable.measured, files, prior.name);
  require_learnable(usable.measured, rows);

  LearnedAnswer answer;
  answer.measured = flags.words()[0];
  answer.stack = stack_label(prior.stack->name);
  answer.why_assumed = prior.why_assumed;
  answer.left_open = cells_left_open(rows);
  answer.left_out = usable.left_out;
  answer.notes = doubts_about(*prior.stack, rows);
  try {
    Progress progress(std::vector<double>(rows.size(), 1), flags.quiet());
    const StackLearner learner(*prior.stack, rows, seed);
    answer.learned =
        learner.by_all(std::to_string(rows.size()) + (rows.size() == 1 ? " run of " : " runs of ") +
                       learned_name(answer.measured));
    const Engine& engine = *find_engine("analytic");
    answer.checked = check_by_others(learner, rows, engine, [&](std::size_t done) {
      progress.show(done, "forecasting each run by the others");
    });
    DataFiles others = files.beside();  // candidates to be measured are no inputs
    answer.next = runs_to_measure_next(rows, answer.learned.stack, engine, others);
    answer.files = learned_files(answer.learned, answer.measured, answer.stack, rows, files);
  } catch (const ValueError& error) {
    throw DataError(usable.measured.path, 0, error.what());
  }
  if (flags.given("output")) {
    answer.folder = flags.written("output");
    answer.commands = {simulate_command(rows.front(), answer.measured, answer.folder)};
    write(flags, answer.files);
  }
  deliver(flags, files.inputs(), "analytic",
          {learned_table(answer), learned_rows(answer), learned_summary(answer), seed,
           learned_members(answer)});
  for (const std::string& note : answer.notes) flags.note(note);
  return 0;
}

}  // namespace gradcast::commands
