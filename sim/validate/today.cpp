#include "sim/validate/today.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "sim/base/csv.hpp"
#include "sim/base/table.hpp"
#include "sim/compare/comparison.hpp"
#include "sim/validate/written.hpp"

namespace gradcast {
namespace {

constexpr std::array kCollectiveFiles = {"measured-nccl-tests", "measured-nccl-p5",
                                         "measured-nccl-published"};
constexpr std::array kTrainingFiles = {"measured-pytorch-ddp",     "measured-nvidia-examples",
                                       "measured-lambda-resnet50", "measured-csc",
                                       "measured-dlperf",          "measured-nvidia-horovod",
                                       "measured-torchtitan-fsdp", "measured-cs336-xl"};
constexpr std::array kTodayColumns = {"group",        "rows",          "mean_absolute_percent",
                                      "bias_percent", "worst_percent", "rows_beyond_factor_2"};
constexpr const char* kSeenStack = "physics alone: nobody else measured its stack";
constexpr const char* kNoStack = "physics alone: the rows name no stack";

/// A network as the table names it, and how large its mean errors may be: what the project aims at.
struct Network {
  const char* name;
  double limit_from_1mib, limit_below;
};
constexpr Network kNetworks[] = {
    {"InfiniBand, RoCE", 15, 35},
    {"TCP past the host (A3 Mega)", 30, 50},
    {"EFA", 15, 35},
    {"Slingshot through libfabric", 30, 50},
    {"TCP", 30, 50},
    {"one node, vTrain's tables", 12, 12},
    {"one node, others", 0, 0},
    {"AMD's GPUs, one node", 0, 0},
    {"AMD's GPUs, several nodes", 0, 0},
};

const char* network_name(const Scenario& scenario, int nodes, const std::string& source) {
  if (is_amd(gpu_generation_of(scenario.cluster))) return kNetworks[nodes == 1 ? 7 : 8].name;
  if (nodes == 1) return kNetworks[source.starts_with("vtrain") ? 5 : 6].name;
  switch (network_kind_of(scenario.cluster)) {
    case NetworkKind::InfiniBand:
    case NetworkKind::Roce:
      return kNetworks[0].name;
    case NetworkKind::GpudirectTcp:
      return kNetworks[1].name;
    case NetworkKind::Efa:
      return kNetworks[2].name;
    case NetworkKind::Slingshot:
      return kNetworks[3].name;
    default:
      return kNetworks[4].name;
  }
}

/// "stack-ddp-nccl-without-x" is the stack ddp-nccl, estimated without the group x.
std::string stack_words(const std::string& stack) {
  if (!is_for_judging(stack)) return stack;
  return stack.substr(kStacks.prefix.size(), stack.find(kWithout) - kStacks.prefix.size()) +
         ", without these runs";
}

TodayRow row_of_run(const char* measured, const MeasuredRun& run, const Request& request,
                    DataFiles& files) {
  const Engine& engine = *find_engine("analytic");
  const Scenario scenario = make_scenario(request, files);
  const Plan plan = make_plan(scenario);
  const IterationResult forecast =
      summarize(plan, engine.run(plan, scenario.cluster, scenario.world));
  if (!forecast.lost.empty()) throw ValueError(forecast.lost);
  TodayRow row{measured, run.source, "", run.collective, run.nodes, plan.ranks()};
  row.measured_seconds = run.iteration / Seconds{1};
  row.forecast_seconds = forecast.iteration / Seconds{1};
  row.cluster = run.cluster;
  if (run.payload.count > 0) {
    row.software = network_name(scenario, run.nodes, run.source);
    // nccl-tests counts all that an all-gather ends with; the file has one rank's part.
    row.bytes = static_cast<double>(run.payload.count) *
                (run.collective == "nccl-all-gather" ? row.ranks : 1);
  } else {
    row.software = !request.stack.empty() ? stack_words(request.stack)
                   : run.stack.empty()    ? kNoStack
                                          : kSeenStack;
  }
  return row;
}

void add_rows(const char* name, std::vector<TodayRow>& rows, Today& today, DataFiles& files) {
  const MeasuredRuns measured = load_measured_runs(files.read(kMeasuredRuns, name));
  for (const MeasuredRun& run : measured.runs) {
    if (run.outside.empty()) {
      const Request request = unseen_request(measured.path, run, files);
      rows.push_back(
          naming_row(measured.path, run, [&] { return row_of_run(name, run, request, files); }));
      continue;
    }
    const auto known =
        std::find_if(today.excluded.begin(), today.excluded.end(), [&](const TodayExcluded& each) {
          return each.measured == name && each.reason == run.outside;
        });
    if (known == today.excluded.end())
      today.excluded.push_back({name, run.outside, 1});
    else
      ++known->rows;
  }
}

/// The rows of a network, of the sizes from 1 MiB up or of those below.
TodayGroup network_group(const Today& today, const Network& network, bool from_1mib) {
  TodayGroup group{std::string(network.name) + (from_1mib ? ": from 1 MiB" : ": below 1 MiB"),
                   from_1mib ? network.limit_from_1mib : network.limit_below};
  for (const TodayRow& row : today.collectives)
    if (row.software == network.name && row.is_small() != from_1mib) group.rows.push_back(row);
  return group;
}

/// The trainings of a file by one software, in the order of their first rows.
std::vector<TodayGroup> training_groups(const Today& today) {
  std::vector<TodayGroup> groups;
  for (const TodayRow& row : today.trainings) {
    const std::string name = row.measured + ": " + row.software;
    if (groups.empty() || groups.back().name != name) {
      const auto known = std::find_if(groups.begin(), groups.end(),
                                      [&](const TodayGroup& each) { return each.name == name; });
      if (known != groups.end()) {
        known->rows.push_back(row);
        continue;
      }
      groups.push_back({name});
    }
    groups.back().rows.push_back(row);
  }
  return groups;
}

/// The trainings forecast by a stack that was estimated without them; `prefix`: of its name.
TodayGroup unseen_group(const Today& today, const std::string& name, const std::string& prefix) {
  TodayGroup group{name, 5, 2};
  for (const TodayRow& row : today.trainings)
    if (row.software.starts_with(prefix) && row.software != kSeenStack && row.software != kNoStack)
      group.rows.push_back(row);
  return group;
}

std::vector<TodayGroup> training_totals(const Today& today) {
  std::vector<TodayGroup> totals = {unseen_group(today, "all by DDP, with a stack", "ddp"),
                                    unseen_group(today, "all with a stack", "")};
  totals.push_back({"all", 5, 2, today.trainings});
  return totals;
}

/// Every source whose mean error is above the limit of 10 %; if there is none, the source with the
/// largest.
std::string worst_sources(const TodayGroup& group) {
  std::map<std::string, TodayGroup> sources;
  for (const TodayRow& row : group.rows) sources[row.source].rows.push_back(row);
  std::string above, largest;
  double most = -1;
  for (const auto& [name, each] : sources) {
    const std::string text = "`" + name + "`: " + beside_limit(each.mean(), false, 10);
    if (each.mean() > 10) above += (above.empty() ? "" : ", ") + text;
    if (each.mean() > most) {
      most = each.mean();
      largest = text;
    }
  }
  return above.empty() ? largest : above;
}

std::size_t sources_in(const std::vector<TodayRow>& rows) {
  std::set<std::string> names;
  for (const TodayRow& row : rows) names.insert(row.source);
  return names.size();
}

std::string excluded_as_markdown(const Today& today, bool collectives) {
  std::string text =
      "\nRows outside the model, which count nowhere:\n\n| measured | rows | why "
      "|\n|---|---:|---|\n";
  for (const TodayExcluded& each : today.excluded) {
    const bool collective = std::find(kCollectiveFiles.begin(), kCollectiveFiles.end(),
                                      each.measured) != kCollectiveFiles.end();
    if (collective == collectives)
      text +=
          "| `" + each.measured + "` | " + std::to_string(each.rows) + " | " + each.reason + " |\n";
  }
  return text;
}

std::string cells(const TodayGroup& group) {
  if (group.rows.empty()) return " 0 | | |";
  return " " + std::to_string(group.rows.size()) + " | " +
         beside_limit(group.mean(), false, group.mean_limit) + " | " +
         beside_limit(group.bias(), true, group.bias_limit) + " |";
}

std::string training_line(const std::string& first_cells, const TodayGroup& group) {
  return "| " + first_cells + " |" + cells(group) + " " + with_sign(group.worst(), 1) + " % | " +
         worst_sources(group) + " |\n";
}

/// Errors between nodes, of all sizes, by network and nodes.
std::string nodes_as_markdown(const Today& today) {
  std::string text =
      "\nAll sizes, by nodes:\n\n| network | nodes | rows | mean error | bias |\n"
      "|---|---:|---:|---:|---:|\n";
  for (const Network& network : kNetworks) {
    std::map<int, TodayGroup> by_nodes;
    for (const TodayRow& row : today.collectives)
      if (row.software == network.name && row.nodes > 1) by_nodes[row.nodes].rows.push_back(row);
    for (const auto& [nodes, group] : by_nodes)
      text += "| " + std::string(network.name) + " | " + std::to_string(nodes) + " |" +
              cells(group) + "\n";
  }
  return text;
}

/// The number of rows of each source beyond a factor of 2: most first, then by name.
std::string beyond_as_markdown(const Today& today) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> sources;  // beyond, all
  std::size_t beyond = 0, fast = 0;
  for (const TodayRow& row : today.collectives) {
    auto& [far, all] = sources[row.source];
    ++all;
    if (!row.beyond_factor_two()) continue;
    ++far;
    ++beyond;
    if (row.ratio() < 1) ++fast;
  }
  std::vector<std::pair<std::string, std::pair<std::size_t, std::size_t>>> sorted;
  for (const auto& each : sources)
    if (each.second.first > 0) sorted.push_back(each);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  std::string text = "\n" + std::to_string(beyond) + " of " +
                     std::to_string(today.collectives.size()) +
                     " rows are beyond a factor of 2: the forecast is too fast in " +
                     std::to_string(fast) + " and too slow in " + std::to_string(beyond - fast) +
                     ".\n`traces/validation-collectives.csv` lists each. By source:\n\n"
                     "| source | beyond a factor of 2 | rows |\n|---|---:|---:|\n";
  for (const auto& [name, counts] : sorted)
    text += "| `" + name + "` | " + std::to_string(counts.first) + " | " +
            std::to_string(counts.second) + " |\n";
  return text;
}

}  // namespace

ErrorSummary TodayGroup::errors() const {
  std::vector<double> percents;
  for (const TodayRow& row : rows) percents.push_back(row.error_percent());
  return summarize_errors(percents);
}

std::size_t TodayGroup::beyond() const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [](const TodayRow& row) { return row.beyond_factor_two(); }));
}

Today forecast_today(DataFiles& files) {
  Today today;
  for (const char* name : kCollectiveFiles) add_rows(name, today.collectives, today, files);
  for (const char* name : kTrainingFiles) add_rows(name, today.trainings, today, files);
  return today;
}

std::vector<TodayGroup> today_groups(const Today& today) {
  std::vector<TodayGroup> groups;
  const auto add = [&](TodayGroup group) {
    if (!group.rows.empty()) groups.push_back(std::move(group));
  };
  for (const Network& network : kNetworks) {
    add(network_group(today, network, true));
    add(network_group(today, network, false));
  }
  for (TodayGroup& group : training_groups(today)) add(std::move(group));
  for (TodayGroup& group : training_totals(today)) add(std::move(group));
  return groups;
}

std::string beside_limit(double percent, bool signed_figure, double limit) {
  const std::string figure = (signed_figure ? with_sign(percent, 1) : fixed(percent, 1)) + " %";
  if (limit <= 0) return figure;
  return std::abs(percent) > limit ? "**" + figure + "** (> " + fixed(limit, 0) + ")"
                                   : figure + " (<= " + fixed(limit, 0) + ")";
}

std::string collectives_as_markdown(const Today& today) {
  std::string text = std::string(kCollectivesBegin) +
                     "\n| network | sources | from 1 MiB up: rows | mean error | bias | below: "
                     "rows | mean error | bias | beyond a factor of 2 |\n"
                     "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const Network& network : kNetworks) {
    const TodayGroup large = network_group(today, network, true);
    const TodayGroup small = network_group(today, network, false);
    std::vector<TodayRow> rows = large.rows;
    rows.insert(rows.end(), small.rows.begin(), small.rows.end());
    if (rows.empty()) continue;
    text += "| " + std::string(network.name) + " | " + std::to_string(sources_in(rows)) + " |" +
            cells(large) + cells(small) + " " + std::to_string(large.beyond() + small.beyond()) +
            " of " + std::to_string(rows.size()) + " |\n";
  }
  return text + nodes_as_markdown(today) + beyond_as_markdown(today) +
         excluded_as_markdown(today, true) + std::string(kCollectivesEnd);
}

std::string trainings_as_markdown(const Today& today) {
  std::string text = std::string(kTrainingsBegin) +
                     "\n| measured | forecast with | rows | mean error | bias | worst row | worst "
                     "source, or all above 10 % |\n|---|---|---:|---:|---:|---:|---|\n";
  for (const TodayGroup& group : training_groups(today)) {
    const TodayRow& row = group.rows.front();
    text += training_line("`" + row.measured + "` | " + row.software, group);
  }
  for (const TodayGroup& group : training_totals(today))
    text += training_line("**" + group.name + "** | ", group);
  return text + excluded_as_markdown(today, false) + std::string(kTrainingsEnd);
}

std::string today_as_csv(const Today& today) {
  std::string text = csv_comments(
      {"What forecasts of NCCL's collectives and of trainings on NCCL are off by, in percent.",
       "Made by scripts/validate; scripts/test fails where an error has grown by more than a "
       "tenth."});
  text += csv_line({kTodayColumns.begin(), kTodayColumns.end()});
  for (const TodayGroup& group : today_groups(today))
    text +=
        csv_line({group.name, std::to_string(group.rows.size()), fixed(group.mean(), 2),
                  fixed(group.bias(), 2), fixed(group.worst(), 2), std::to_string(group.beyond())});
  return text;
}

std::string beyond_as_csv(const Today& today) {
  std::string text =
      csv_comments({"Every row of traces/measured-nccl-*.csv whose forecast is off by more than a "
                    "factor of 2.",
                    "bytes: as nccl-tests counts them; ratio: forecast over measured. Made by "
                    "scripts/validate."});
  text += csv_line(
      {"source", "collective", "nodes", "ranks", "bytes", "measured_us", "forecast_us", "ratio"});
  for (const TodayRow& row : today.collectives)
    if (row.beyond_factor_two())
      text += csv_line({row.source, row.collective, std::to_string(row.nodes),
                        std::to_string(row.ranks), fixed(row.bytes, 0),
                        fixed(1e6 * row.measured_seconds, 1), fixed(1e6 * row.forecast_seconds, 1),
                        fixed(row.ratio(), 2)});
  return text;
}

std::string today_complaints(const Today& today, const TextFile& file) {
  std::vector<ErrorsNow> errors;
  for (const TodayGroup& group : today_groups(today))
    errors.push_back({group.name,
                      {{"mean_absolute_percent", group.mean()},
                       {"worst_percent", group.worst()},
                       {"rows_beyond_factor_2", static_cast<double>(group.beyond())}}});
  CsvReader before(file, kTodayColumns);
  return grown_errors(errors, before, "group", "traces/validation-today.csv");
}

}  // namespace gradcast
