// `gradcast compare`: shows forecast, measurement and error side by side.
#include <algorithm>
#include <limits>

#include "sim/answers/answer.hpp"
#include "sim/base/text.hpp"
#include "sim/compare/report.hpp"
#include "sim/compare/setups.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/options/transfer_flags.hpp"

namespace gradcast::commands {
namespace {

Flags compare_flags() {
  Flags flags("compare",
              "Compares forecasts with measured iteration times, row by row. SimGrid, if built, "
              "forecasts Table 2; --engine names another.",
              {"compare", "compare --measured my-runs.csv --format csv -o errors.csv",
               "compare --engine analytic --max-error 70%", "compare --costs cost-v100-floor"});
  flags.add("measured", "a name of `gradcast list`, or a .csv file of your own",
            "measured-shi2019-table2");
  add_engine_flag(flags);
  flags.add_switch("split", "show for each row where its time goes, by the forecast");
  flags.add_switch("explain",
                   "show for each row off by more than 10 % which one property of the cluster, at "
                   "which value, would explain it");
  flags.add("max-error", "exit with 4 when a row's error is larger, like 20%");
  flags.add(
      "costs",
      "what if: forecast the rows with the costs of this table; the rows then have no errors");
  flags.add("stack",
            "the software of all rows, instead of the one that a row names: a name of `gradcast "
            "list`, a .csv file, or none for physics alone");
  add_transfer_flags(flags);
  return flags;
}

/// Other costs than a row was measured with.
struct WhatIf {
  std::string costs;  // a table; "": the row's own
  TransferChoice transfer;

  bool asked() const { return !costs.empty() || transfer.asked(); }

  /// Changes the request of a row, and returns the name of its costs; "" if the row compresses
  /// nothing.
  std::string apply(Request& request) const {
    if (!asked() || request.compressor == "dense") return "";
    if (!costs.empty()) {
      request.costs = costs;
      request.costs_folder.clear();  // a flag's path, not the row's
    }
    transfer.apply(request);
    return request.costs + (transfer.asked() ? " scaled to " + transfer.to : "");
  }
};

WhatIf read_what_if(const Flags& flags, DataFiles& files) {
  WhatIf what_if{"", read_transfer(flags, files)};
  if (flags.given("costs"))
    what_if.costs = flags.value("costs", [&](const std::string& name) {
      // A wrong table is not the mistake of a row.
      static_cast<void>(files.parsed(files.read(kCostTables, name), load_cost_table));
      return name;
    });
  if (!what_if.asked()) return what_if;
  for (const char* flag : {"max-error", "explain", "split"})
    if (flags.given(flag))
      throw UsageError("--" + std::string(flag) +
                       " shows errors, and with --costs or --scale-costs-to there are none");
  return what_if;
}

/// Notes rows whose costs lie outside the cost table.
void note_outside(const Flags& flags, const std::vector<ComparedRun>& runs) {
  for (const ComparedRun& run : runs)
    if (!run.outside.empty())
      flags.note(run.run.model + " with " + run.run.compressor +
                 ": some of its costs lie outside the cost table (" + run.outside + ")");
}

void note_what_if(const Flags& flags, const WhatIf& what_if, const std::vector<ComparedRun>& runs,
                  DataFiles& files) {
  if (!what_if.asked()) return;
  std::vector<UsedCosts> used;
  for (const ComparedRun& run : runs)
    if (!run.what_if_costs.empty())
      used.push_back({run.run.costs, run.run.compressor, run.implementation,
                      what_if.costs.empty() ? run.run.folder : ""});
  if (used.empty()) flags.note("no row compresses anything, so the costs change nothing here");
  note_transfer(flags, what_if.transfer, used, files);
}

/// Whether the request's stack was learned on one cluster, from runs of this row's source. A file
/// of a stack lists sources as words.
bool learned_from(const Request& request, const MeasuredRun& run, DataFiles& files) {
  if (request.stack.empty()) return false;
  const auto stack = stack_of(request, files);
  const std::vector<std::string> words = split_words(run.source, ' ');
  return stack->factor && !words.empty() &&
         std::all_of(words.begin(), words.end(), [&](const std::string& word) {
           return std::find(stack->sources.begin(), stack->sources.end(), word) !=
                  stack->sources.end();
         });
}

/// A sentence on rows of a learned stack's own source; "" for none. The file knows the source, and
/// not which of its rows there were.
std::string words_on_learned(std::size_t rows) {
  if (rows == 0) return "";
  return "The stack was learned from runs of the source that " + std::to_string(rows) +
         (rows == 1 ? " row has" : " rows have") +
         ": a row that it was learned from is no forecast and no test of it. `gradcast learn` "
         "forecasts each such run by the others.";
}

/// Table 2 is the project's reference: SimGrid's answers to it, where SimGrid is there.
const Engine& engine_for(const Flags& flags) {
  const Engine& simgrid = *find_engine("simgrid");
  const bool reference = !flags.given("measured") && !flags.given("engine") && simgrid.built();
  return reference ? simgrid : chosen_engine(flags);
}

}  // namespace

int compare(int argc, const char* const* argv) {
  Flags flags = compare_flags();
  if (!flags.parse(argc, argv)) return 0;
  const Engine& engine = engine_for(flags);
  const double max_error = flags.given("max-error") ? flags.value("max-error", parse_max_error)
                                                    : std::numeric_limits<double>::infinity();

  DataFiles files = DataFiles::standard();
  const WhatIf what_if = read_what_if(flags, files);
  const MeasuredRuns measured = load_measured_runs(flags.value(
      "measured", [&](const std::string& name) { return files.read(kMeasuredRuns, name); }));
  std::vector<ComparedRun> runs;
  runs.reserve(measured.runs.size());
  std::size_t own_stacks = 0;
  std::size_t learned = 0;  // rows of the source that their stack was learned from
  std::size_t papers = 0;   // rows whose empty cells are the paper's
  for (const MeasuredRun& run : measured.runs) {
    const auto compared = [&](const Request& request) {
      return compare_run(measured.path, run, request, engine, flags.given("explain"), files);
    };
    Request request;
    if (flags.given("stack")) {
      std::string stack = flags.text("stack") == "none" ? "" : flags.text("stack");
      // A flag's path, not the row's.
      if (is_path(stack)) stack = files.from_anywhere(stack);
      request = naming_row(measured.path, run, [&] { return request_of(run, files, stack); });
      request.stack = stack;
    } else {
      request = unseen_request(measured.path, run, files);
      if (request.stack.empty() && !run.stack.empty()) ++own_stacks;
      if (run.stack.empty() && run.payload.count == 0 && run.nodes > 1 &&
          request.collective.empty())
        ++papers;
    }
    if (learned_from(request, run, files)) ++learned;
    runs.push_back(compared(request));
    const std::string costs = what_if.apply(request);
    if (costs.empty()) continue;
    const Seconds own = runs.back().predicted();
    runs.back() = compared(request);
    runs.back().what_if_costs = costs;
    runs.back().own_costs_forecast = own;
  }
  add_speedups(runs);

  Answer answer{comparison_table(runs, {flags.text("measured"), std::string(engine.name),
                                        flags.given("explain"), flags.given("split")}),
                {},
                summary_json(runs)};
  if (const std::string words = words_on_learned(learned); !words.empty()) {
    answer.table += "\n" + words + "\n";
    answer.more = {{"notes", Json::array({words})}};
    if (flags.format() == Format::Csv) flags.note(words);
  }
  answer.rows.reserve(runs.size());
  for (const ComparedRun& run : runs) answer.rows.push_back(row_of(run));
  deliver(flags, files.inputs(), engine.name, answer);
  note_outside(flags, runs);
  if (own_stacks > 0)
    flags.note("no other source has the stack of " + std::to_string(own_stacks) +
               " rows, so that they are forecast by physics alone; `gradcast fit --stacks "
               "--leave-one-out source` judges stacks");
  if (papers > 0)
    flags.note(
        "rows without a stack (" + std::to_string(papers) +
        ") have the paper's choices of 2019 in their empty cells, a plain ring through one NIC "
        "among them; a name like ddp-nccl in the column 'stack' makes them today's");
  note_what_if(flags, what_if, runs, files);
  require_within(max_error, runs);
  return 0;
}

}  // namespace gradcast::commands
