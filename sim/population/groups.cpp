#include "sim/population/groups.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "sim/base/csv.hpp"
#include "sim/plan/situation.hpp"

namespace gradcast {
namespace {

constexpr std::array kGroupColumns = {"measured", "source", "group"};
std::vector<double> situation_of(const Scenario& scenario) {
  const Plan plan = make_plan(scenario);
  std::vector<double> values;
  for (const SituationNumber& number : situation_numbers())
    values.push_back(number.of(scenario, plan));
  return values;
}

}  // namespace

std::vector<const SourceGroup*> all_but(const std::vector<SourceGroup>& groups,
                                        std::size_t left_out) {
  std::vector<const SourceGroup*> others;
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (g != left_out) others.push_back(&groups[g]);
  return others;
}

std::vector<SourceGroup> load_source_groups(DataFiles& files) {
  const TextFile list = files.read(kStackLists, "stack-groups");
  std::vector<SourceGroup> groups;
  std::map<std::string, std::vector<FitRow>> known;  // by measured file
  CsvReader rows(list, kGroupColumns);
  while (rows.next()) {
    const std::string& measured = rows.word("measured");
    if (!known.contains(measured)) {
      const TextFile runs = rows.value(
          "measured", [&](std::string_view) { return files.read(kMeasuredRuns, measured); });
      known[measured] = fit_rows_of(load_measured_runs(runs), files);
    }
    const std::string name = rows.word("group");
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const SourceGroup& each) { return each.name == name; });
    if (group == groups.end()) group = groups.insert(group, {name, "", {}, {}});
    std::size_t found = 0;
    for (const FitRow& row : known[measured]) {
      if (row.run.source != rows.word("source") || !row.run.outside.empty()) continue;
      if (group->stack.empty()) group->stack = row.run.stack;
      if (row.run.stack.empty() || row.run.stack != group->stack)
        throw rows.failure("group", "line " + std::to_string(row.run.line) + " of " + measured +
                                        " has stack '" + row.run.stack + "', and the group '" +
                                        group->stack + "'");
      group->rows.push_back(row);
      group->situations.push_back(situation_of(row.scenario));
      ++found;
    }
    if (found == 0) throw rows.failure("source", measured + " has no runs of this source");
  }
  return groups;
}

}  // namespace gradcast
