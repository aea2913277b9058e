#include "sim/timeline/timeline_flags.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "sim/base/error.hpp"
#include "sim/base/gzip.hpp"
#include "sim/base/interruption.hpp"
#include "sim/base/text_file.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/timeline/timeline_json.hpp"

namespace gradcast {
namespace {

/// Notes on the links of a record, if their meaning is not plain.
void note_links(std::vector<std::string>& notes, const RunRecord& record) {
  if (record.engine == "analytic")
    notes.push_back("the " + record.engine +
                    " engine has no links, so the timeline has no counters of their load");
  else if (is_fluid(record.engine) && !record.links.empty())
    notes.push_back(
        "the timeline's links carry what the fluid engine simulates: where nodes do the same, only "
        "the first one's messages");
}

std::string write_json(const Flags& flags, const TimelineChoice& choice, const TimelineRun& run,
                       const Scenario& scenario, const Plan& plan, const RunRecord& record,
                       std::vector<std::string>& notes) {
  Timeline timeline = make_timeline(plan, record);
  const int seen_from = summarize(plan, record).rank;
  const ChosenRanks chosen = [&] {
    try {
      return choose_ranks(choice.ranks, timeline.class_of, seen_from);
    } catch (const ValueError& error) {
      throw UsageError(std::string("--timeline-ranks: ") + error.what());
    }
  }();
  if (!chosen.note.empty()) timeline.notes.push_back(chosen.note);
  note_links(timeline.notes, record);
  notes.insert(notes.end(), timeline.notes.begin(), timeline.notes.end());
  TimelineHead head;
  head.ranks = chosen.ranks;
  head.gzip = choice.timeline.extension() == ".gz";
  head.other = make_document({"timeline", flags.arguments(), run.inputs, record.engine});
  head.other["seed"] = run.seed;
  head.other["seen_from_rank"] = seen_from;
  head.other["notes"] = notes;
  write_text_file(choice.timeline,
                  timeline_to_json(timeline, plan, layout_of(scenario.cluster), head));
  return "the timeline of " + std::to_string(chosen.ranks.size()) +
         (chosen.ranks.size() == 1 ? " rank" : " ranks") + " is in " + choice.timeline.string() +
         "; open it in Perfetto or chrome://tracing";
}

}  // namespace

void add_timeline_flags(Flags& flags) {
  flags.add_written(
      "timeline", Writes::File,
      "a .json or .json.gz file: write the iteration there as a Chrome trace, as PyTorch's "
      "profiler does, for Perfetto and chrome://tracing");
  flags.add("timeline-ranks",
            "the ranks that the timeline shows: all, one-per-class (one of each group of equal "
            "ranks), or numbers like 0,8..15 (default: all up to 64 ranks, else one-per-class)");
  flags.add_written("paje", Writes::File,
                    "a file: write SimGrid's own trace of its links there, for ViTE and PajeNG");
}

TimelineChoice read_timeline(const Flags& flags, const Engine& engine) {
  TimelineChoice choice{flags.written("timeline"), flags.written("paje"), {}};
  const std::string file = choice.timeline.filename().string();
  if (flags.given("timeline") && !file.ends_with(".json") && !file.ends_with(".json.gz"))
    throw UsageError("--timeline: '" + choice.timeline.string() +
                     "' should be the name of a .json or .json.gz file");
  if (flags.given("timeline-ranks")) {
    if (choice.timeline.empty())
      throw UsageError("--timeline-ranks is about the file of --timeline, which is not given");
    choice.ranks = flags.value("timeline-ranks", parse_rank_choice);
  }
  if (file.ends_with(".gz") && !gzip_built())
    throw MissingError("--timeline: '" + choice.timeline.string() +
                       "' needs zlib (Debian: zlib1g-dev), which this build lacks; name a .json");
  if (flags.given("paje") && !find_engine("simgrid")->built())
    throw MissingError(
        "--paje: only SimGrid writes such traces, and this build lacks it; it needs " +
        std::string(find_engine("simgrid")->needs));
  if (flags.given("paje") && engine.name != "flow" && !engine.name.starts_with("simgrid"))
    throw UsageError("--paje: the engine '" + std::string(engine.name) +
                     "' writes none; SimGrid's do (--engine simgrid)");
  const std::filesystem::path output = flags.written("output");
  for (const std::filesystem::path& written : {choice.timeline, choice.paje})
    if (!written.empty() && (written == output || choice.timeline == choice.paje))
      throw UsageError("'" + written.string() + "' cannot be two files at once");
  return choice;
}

std::vector<std::string> write_timeline(const Flags& flags, const TimelineChoice& choice,
                                        const TimelineRun& run) {
  std::vector<std::string> notes;
  if (choice.timeline.empty() && choice.paje.empty()) return notes;
  for (const InputFile& input : run.inputs) flags.refuse_to_overwrite(input.path);
  const bool draws = run.noise.noise.any() || run.scenario.count_spread > 0;
  const Scenario scenario = draws ? replica_of(run.scenario, run.noise.noise, 0) : run.scenario;
  const Plan plan = draws ? make_plan(scenario) : run.plan;
  Observation observation;
  observation.links = !choice.timeline.empty();
  std::optional<PajeFile> paje;
  if (!choice.paje.empty()) observation.paje = paje.emplace(choice.paje).temporary();
  const RunRecord record = run.engine.run(plan, scenario.cluster, scenario.world, observation);
  if (!record.lost.empty())
    return {"no timeline or trace was written, because the run never ends (" + record.lost + ")"};
  if (run.noise.replicas > 1)
    notes.push_back("the timeline is of the first of " + std::to_string(run.noise.replicas) +
                    " replicas");
  if (!choice.timeline.empty())
    notes.push_back(write_json(flags, choice, run, scenario, plan, record, notes));
  if (paje) {
    paje->keep();
    notes.push_back("SimGrid's trace is in " + choice.paje.string() + ", in Paje's format");
    if (!scenario.cluster.platform_file.empty())
      notes.push_back(
          "SimGrid 3.32 does not trace what split-duplex links of a platform file carry; "
          "--timeline "
          "shows it");
  }
  return notes;
}

namespace {

Error failure(const std::filesystem::path& path, const std::string& why) {
  return {ExitCode::Failure, "cannot write " + path.string() + ": " + why};
}

/// A complete Paje trace ends with the destruction of its container.
bool is_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string define = "%EventDef PajeDestroyContainer ";
  std::string number;
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(define)) number = line.substr(define.size());
    if (!line.empty()) last = std::move(line);
  }
  return !number.empty() && last.starts_with(number + " ");
}

}  // namespace

PajeFile::PajeFile(const std::filesystem::path& named) : file_(follow_links(named)) {
  const std::filesystem::path& path = file_.target();
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    throw failure(path, "not a regular file");
  if (!std::ofstream(file_.name())) throw failure(path, std::strerror(errno));
}

void PajeFile::keep() {
  if (!is_whole(file_.name()))
    throw failure(file_.target(), "SimGrid's trace has no end (is the disk full?)");
  const SignalsHeld held;  // the file and what is said of it go together
  file_.rename_to_target();
  note_written(file_.target().string());
}

}  // namespace gradcast
