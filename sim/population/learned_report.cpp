#include "sim/population/learned_report.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "sim/base/error.hpp"
#include "sim/base/shell_word.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

namespace fs = std::filesystem;

constexpr int kDigits = 3;

std::string value_text(const LearnedTerm& term, double value) {
  if (term.quantity != nullptr) return term.quantity->text(value, kDigits);
  return number_to_text(rounded_to(kDigits, value));
}

/// The lower end first, as it is printed: a rate's is that of the longest time.
std::string range_text(const LearnedTerm& term, const KnownRange& range) {
  if (term.quantity != nullptr) return term.quantity->range(range.low, range.high, kDigits);
  return value_text(term, range.low) + " to " + value_text(term, range.high);
}

/// A term as people call it.
std::string title_of(const LearnedTerm& term) {
  if (term.name == kModelFactor) return "all but compute, here";
  if (term.name == "scatter") return "a run by itself";
  if (term.name.starts_with(kKindFactor)) {  // "kind_factor at 0.2133 on 16"
    std::string kind = term.name.substr(std::string_view(kKindFactor).size());
    return "runs" + kind.insert(kind.rfind(" on "), " s") + " ranks";
  }
  return term.name;
}

std::string terms_table(const LearnedAnswer& answer) {
  TextTable table{{"what was learned", "before", "90 %", "after", "90 %"}, {}};
  for (const LearnedTerm& term : answer.learned.terms)
    table.rows.push_back({title_of(term), value_text(term, term.before.value),
                          range_text(term, term.before), value_text(term, term.after.value),
                          range_text(term, term.after)});
  return to_text(table);
}

std::string run_words(const MeasuredRun& run, const std::vector<CheckedRun>& all) {
  std::string words = run.payload.count > 0 ? to_text(run.payload) : run.model;
  if (run.compressor != "dense") words += ", " + run.compressor;
  std::vector<const MeasuredRun*> runs;
  for (const CheckedRun& each : all) runs.push_back(&each.row->run);
  return words + ", " + std::to_string(run.nodes) + "x" + std::to_string(run.gpus_per_node) +
         schedule_apart(run, runs);
}

std::string seconds_text(Seconds time) {
  return number_to_text(rounded_to(4, time.count())) + " s";
}

std::string interval_text(const Evaluation& forecast) {
  if (!forecast.interval) return "";
  return number_to_text(rounded_to(kDigits, forecast.interval->low.count())) + " to " +
         seconds_text(Seconds{rounded_to(kDigits, forecast.interval->high.count())});
}

std::string checked_table(const LearnedAnswer& answer) {
  TextTable table{{"run, by the others", "measured", "before", "error %", "90 %", "inside", "after",
                   "error %", "90 %", "inside"},
                  {}};
  for (const CheckedRun& run : answer.checked) {
    std::vector<std::string> cells{run_words(run.row->run, answer.checked),
                                   seconds_text(run.row->run.iteration)};
    for (const Evaluation* forecast : {&run.before, &run.after}) {
      cells.push_back(seconds_text(forecast->result.iteration));
      cells.push_back(with_sign(run.error_percent(*forecast), 1));
      cells.push_back(interval_text(*forecast));
      cells.emplace_back(run.holds(*forecast) ? "yes" : "NO");
    }
    table.rows.push_back(std::move(cells));
  }
  return to_text(table);
}

/// The quality of the forecasts of all rows.
struct Quality {
  double error_percent = 0;  // mean absolute
  std::size_t inside = 0;
  double width_percent = 0;  // median, of the forecast
};

Quality quality_of(const std::vector<CheckedRun>& checked, Evaluation CheckedRun::*which) {
  Quality quality;
  std::vector<double> widths;
  for (const CheckedRun& run : checked) {
    const Evaluation& forecast = run.*which;
    quality.error_percent +=
        std::abs(run.error_percent(forecast)) / static_cast<double>(checked.size());
    quality.inside += run.holds(forecast) ? 1 : 0;
    if (forecast.interval)
      widths.push_back(
          100 * ((forecast.interval->high - forecast.interval->low) / forecast.result.iteration));
  }
  if (!widths.empty()) quality.width_percent = median(std::move(widths));
  return quality;
}

/// Whether any run has others that it is forecast by.
bool is_checked(const LearnedAnswer& answer) {
  return std::any_of(answer.checked.begin(), answer.checked.end(),
                     [](const CheckedRun& run) { return run.others > 0; });
}

bool has_repeats(const LearnedAnswer& answer) {
  return std::any_of(answer.checked.begin(), answer.checked.end(),
                     [&](const CheckedRun& run) { return run.others + 1 < answer.checked.size(); });
}

std::string quality_sentence(const LearnedAnswer& answer) {
  if (answer.checked.size() < 2)
    return "One run has no others to be forecast by: two or more show how good this is.\n";
  if (!is_checked(answer))
    return "All " + std::to_string(answer.checked.size()) +
           " runs are of one set-up, so that nothing checks this: measure another batch, model or "
           "number of nodes.\n";
  const Quality before = quality_of(answer.checked, &CheckedRun::before);
  const Quality after = quality_of(answer.checked, &CheckedRun::after);
  const std::string all = " of " + std::to_string(answer.checked.size());
  return "Mean error " + fixed(before.error_percent, 1) + " % before, " +
         fixed(after.error_percent, 1) + " % after. Intervals hold " +
         std::to_string(before.inside) + all + " before, " + std::to_string(after.inside) + all +
         " after; their median width is " + fixed(before.width_percent, 0) + " and " +
         fixed(after.width_percent, 0) + " % of the forecast.\n" +
         (has_repeats(answer) ? "Runs that repeat a set-up are left out together: a run's repeats "
                                "show how far runs scatter, not how good a forecast is.\n"
                              : "") +
         (after.error_percent > before.error_percent + 1
              ? "The runs did not help each other: they may differ in what no column says.\n"
              : "");
}

/// Runs, and terms, that lie outside all that was likely: a slip in a run, or software that is not
/// the stack's.
std::vector<std::string> far_from_known(const LearnedAnswer& answer) {
  constexpr double kFar = 10;
  std::vector<std::string> lines;
  for (const CheckedRun& run : answer.checked) {
    const double times = run.row->run.iteration / run.before.result.iteration;
    if (times > kFar || times < 1 / kFar)
      lines.push_back("line " + std::to_string(run.row->run.line) + ": " +
                      seconds_text(run.row->run.iteration) + ", where the stack alone says " +
                      seconds_text(run.before.result.iteration));
  }
  for (const LearnedTerm& term : answer.learned.terms)
    if (term.quantity != nullptr &&
        (term.after.value > term.before.high || term.after.value < term.before.low))
      lines.push_back(title_of(term) + ": " + value_text(term, term.after.value) +
                      ", where elsewhere it is " + range_text(term, term.before));
  return lines;
}

std::string next_table(const LearnedAnswer& answer) {
  if (answer.next.empty()) return "";
  TextTable table{{"measure next", "forecast now", "90 %", "narrows all such forecasts by"}, {}};
  for (const NextRun& run : answer.next)
    table.rows.push_back({run.words, seconds_text(run.forecast.result.iteration),
                          interval_text(run.forecast), fixed(run.narrower_percent, 0) + " %"});
  return "\n" + to_text(table);
}

std::string lines_under(const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = std::string("\n") + title + "\n";
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

/// The clusters that rows name by a path, each once: where they lie and how they are called.
std::vector<fs::path> own_clusters(const std::vector<FitRow>& rows) {
  std::vector<fs::path> paths;
  for (const FitRow& row : rows) {
    if (!is_path(row.run.cluster)) continue;
    const fs::path path = fs::path(row.run.folder) / row.run.cluster;
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  }
  return paths;
}

/// A name of `gradcast list`, or a path that is right in this folder.
std::string name_here(const MeasuredRun& run, const std::string& name) {
  return is_path(name) ? (fs::path(run.folder) / name).lexically_normal().string() : name;
}

/// A quantity's figures as they are printed in JSON.
Json range_json(const LearnedTerm& term, const char* when, const KnownRange& range) {
  return {{std::string(when), value_text(term, range.value)},
          {std::string(when) + "_low", value_text(term, range.low)},
          {std::string(when) + "_high", value_text(term, range.high)}};
}

void add_forecast(Json& row, const std::string& when, const CheckedRun& run,
                  const Evaluation& forecast) {
  row[when + "_seconds"] = forecast.result.iteration.count();
  row[when + "_low_seconds"] = forecast.interval ? Json(forecast.interval->low.count()) : Json();
  row[when + "_high_seconds"] = forecast.interval ? Json(forecast.interval->high.count()) : Json();
  row[when + "_error_percent"] = run.error_percent(forecast);
  row[when + "_inside"] = run.holds(forecast) ? "yes" : "no";
}

}  // namespace

std::string learned_name(const std::string& measured) {
  std::string name = fs::path(measured).filename().string();
  if (name.ends_with(".csv")) name.erase(name.size() - 4);
  constexpr std::string_view kPrefix = "measured-";
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

std::string several_clusters(const std::vector<FitRow>& rows) {
  std::vector<std::string> clusters;
  for (const FitRow& row : rows)
    if (std::find(clusters.begin(), clusters.end(), row.run.cluster) == clusters.end())
      clusters.push_back(row.run.cluster);
  if (clusters.size() < 2) return "";
  return "the runs are of " + std::to_string(clusters.size()) + " clusters (" + join(clusters) +
         "): what is learned is what they have in common";
}

std::vector<FittedFile> learned_files(const LearnedStack& learned, const std::string& measured,
                                      const std::string& prior, const std::vector<FitRow>& rows,
                                      DataFiles& files) {
  std::vector<FittedFile> made;
  for (const fs::path& path : own_clusters(rows)) {
    const std::string to = "platforms/" + path.filename().string();
    for (const FittedFile& other : made)
      if (other.path == to)
        throw ValueError("two clusters of " + measured + " are called " + path.filename().string() +
                         ": they would be saved as one");
    const TextFile& cluster = files.read(kClusters, path.string());
    made.push_back({to, cluster.content});
    add_times_beside(made, cluster, files);
  }
  Stack stack = learned.stack;
  stack.name = learned_name(measured);
  std::set<std::string> clusters;
  for (const FitRow& row : rows) clusters.insert(fs::path(row.run.cluster).stem().string());
  std::vector<std::string> comments{
      "The software stack " + prior + " on one cluster, as " + std::to_string(rows.size()) +
          (rows.size() == 1 ? " run" : " runs") + " of " + measured + " show it.",
      "Learned by `gradcast learn`. What the runs say nothing of is as " + prior +
          " has it. model_factor is on all times of this cluster but one GPU's compute, "
          "kind_factor on all of runs that compute as long as the runs that were measured. Other "
          "clusters have neither, and the discrepancy and the scatter of " +
          prior + ".",
      "clusters: " + join({clusters.begin(), clusters.end()}, ","),
      "sources: " + join(stack.sources, " ")};
  if (const std::string several = several_clusters(rows); !several.empty())
    comments.insert(comments.begin() + 2, "Beware: " + several + ".");
  made.push_back({"platforms/stack-" + stack.name + ".csv", stack_csv(stack, comments)});
  return made;
}

std::string simulate_command(const FitRow& row, const std::string& measured,
                             const std::string& folder) {
  const MeasuredRun& run = row.run;
  const fs::path platforms = fs::path(folder) / "platforms";
  std::string command = "gradcast simulate";
  const auto flag = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) command += " --" + name + " " + shell_word(value);
  };
  if (run.payload.count > 0) {
    flag("payload", to_text(run.payload));
  } else {
    flag("model", name_here(run, run.model));
    flag("trace", name_here(run, row.request.trace_name()));
    flag("batch", std::to_string(run.batch));
    flag("compute-seconds", number_to_text(run.compute.count()) + "s");
    if (run.accumulation > 1) flag("accumulation", std::to_string(run.accumulation));
    if (run.framework_in_compute) flag("framework-in-compute", "yes");
    // A stack may broadcast by itself what the row does not say.
    if (!row.scenario.model->buffers().empty())
      flag("broadcast-buffers", row.scenario.broadcast_buffers ? "yes" : "no");
    if (run.sharding_given || row.request.sharding.kind != Sharding::None)
      flag("sharding", to_text(row.request.sharding));
    const auto type = [&](const char* name, const std::optional<NumberType>& its) {
      if (its) flag(name, std::string(to_text(*its)));
    };
    type("parameter-type", run.precision.parameter);
    type("gradient-type", run.precision.gradient);
    type("sum-type", run.precision.sum);
    if (run.compressor != "dense") {
      flag("compressor", run.compressor);
      flag("density", number_to_text(run.density));
      const Request& its = row.request;
      flag("costs", its.costs_folder.empty() ? its.costs : name_here(run, its.costs));
      flag("scale-costs-to", its.costs_device);
      flag("mode", run.mode);
      flag("implementation", run.implementation);
      if (run.selection != SelectionScope::Merged) flag("selection", to_text(run.selection));
      if (run.wire_bytes_per_element)
        flag("wire-bytes-per-element", std::to_string(*run.wire_bytes_per_element));
      if (run.wire_messages > 1) flag("wire-messages", std::to_string(run.wire_messages));
    }
    flag("fusion", to_text(run.fusion));
    flag("overlap", run.overlap ? "yes" : "no");
  }
  // A row whose software names none has its compressor's ring, and a command today's choice.
  const std::string& collective = row.request.collective;
  const Collective* own = collective.empty() ? row.scenario.collective : nullptr;
  flag("collective", own != nullptr ? std::string(own->name) : collective);
  flag("nccl", run.nccl);
  flag("cluster", is_path(run.cluster) ? (platforms / fs::path(run.cluster).filename()).string()
                                       : run.cluster);
  flag("nic-bandwidth", run.nic_bandwidth);
  flag("nic-latency", run.nic_latency);
  flag("nccl-settings", run.nccl_settings);
  flag("stack", (platforms / ("stack-" + learned_name(measured) + ".csv")).string());
  flag("nodes", std::to_string(2 * run.nodes));
  flag("gpus-per-node", std::to_string(run.gpus_per_node));
  return command;
}

std::string learned_table(const LearnedAnswer& answer) {
  const std::size_t rows = answer.checked.size();
  std::string text = "Learned from " + std::to_string(rows) + (rows == 1 ? " run" : " runs") +
                     " of " + answer.measured + ", beginning with what is known of " +
                     answer.stack + " elsewhere.\n";
  if (!answer.why_assumed.empty()) text += answer.why_assumed + "\n";
  if (!answer.left_open.empty())
    text += "Cells that the runs leave empty are as " + answer.stack +
            " has them: " + join(answer.left_open) + ".\n";
  text += lines_under("Left out:", answer.left_out);
  text += "\n" + terms_table(answer) + "\n";
  if (is_checked(answer)) text += checked_table(answer) + "\n";
  text += quality_sentence(answer);
  text += lines_under(
      "Far from what is known. Look for a slip (milliseconds, the batch of all GPUs, nodes) or "
      "other\nsoftware (--stack, column implementation):",
      far_from_known(answer));
  text += next_table(answer);
  std::vector<std::string> written;
  if (!answer.folder.empty())
    for (const FittedFile& file : answer.files)
      written.push_back((fs::path(answer.folder) / file.path).string());
  text += lines_under("Written:", written);
  text += lines_under("Next:", answer.commands);
  return text;
}

std::vector<Json> learned_rows(const LearnedAnswer& answer) {
  std::vector<Json> rows;
  for (const CheckedRun& run : answer.checked) {
    const MeasuredRun& its = run.row->run;
    Json row{{"line", its.line},
             {"model", its.model},
             {"compressor", its.compressor},
             {"density", its.density},
             {"nodes", its.nodes},
             {"gpus_per_node", its.gpus_per_node},
             {"fusion", to_text(its.fusion)},
             {"overlap", its.overlap ? "yes" : "no"},
             {"measured_seconds", its.iteration.count()},
             {"checked_by", run.others}};
    add_forecast(row, "before", run, run.before);
    add_forecast(row, "after", run, run.after);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json learned_summary(const LearnedAnswer& answer) {
  const Quality before = quality_of(answer.checked, &CheckedRun::before);
  const Quality after = quality_of(answer.checked, &CheckedRun::after);
  const auto share = [&](std::size_t inside) {
    return 100 * static_cast<double>(inside) / static_cast<double>(answer.checked.size());
  };
  return {{"rows", answer.checked.size()},
          {"before_mean_absolute_error_percent", before.error_percent},
          {"before_coverage_percent", share(before.inside)},
          {"before_median_interval_width_percent", before.width_percent},
          {"after_mean_absolute_error_percent", after.error_percent},
          {"after_coverage_percent", share(after.inside)},
          {"after_median_interval_width_percent", after.width_percent}};
}

Json learned_members(const LearnedAnswer& answer) {
  Json learned = Json::array();
  for (const LearnedTerm& term : answer.learned.terms) {
    Json each{{"property", term.name}};
    each.update(range_json(term, "before", term.before));
    each.update(range_json(term, "after", term.after));
    learned.push_back(std::move(each));
  }
  Json next = Json::array();
  for (const NextRun& run : answer.next) {
    const auto& interval = run.forecast.interval;
    next.push_back({{"run", run.words},
                    {"seconds", run.forecast.result.iteration.count()},
                    {"low_seconds", interval ? Json(interval->low.count()) : Json()},
                    {"high_seconds", interval ? Json(interval->high.count()) : Json()},
                    {"narrower_percent", run.narrower_percent}});
  }
  Json files = Json::array();
  if (!answer.folder.empty())
    for (const FittedFile& file : answer.files)
      files.push_back((fs::path(answer.folder) / file.path).string());
  return {
      {"stack", answer.stack},         {"stack_assumed", answer.why_assumed.empty() ? "no" : "yes"},
      {"left_open", answer.left_open}, {"left_out", answer.left_out},
      {"learned", std::move(learned)}, {"measure_next", std::move(next)},
      {"notes", answer.notes},         {"files", std::move(files)}};
}

}  // namespace gradcast
