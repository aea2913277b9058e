#include "sim/population/stack_files.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"
#include "sim/population/seen.hpp"

namespace gradcast {
namespace {

std::string runs_text(std::size_t runs, const std::set<std::string>& names) {
  return std::to_string(runs) + " runs of " + join({names.begin(), names.end()});
}

}  // namespace

std::vector<FittedFile> stack_files(const PopulationFit& fit,
                                    const std::vector<SourceGroup>& groups,
                                    const UsualSchedules& schedules) {
  std::vector<std::string> names = fit.stacks;
  names.emplace_back(kPopulationName);
  std::vector<const SourceGroup*> all;
  for (const SourceGroup& group : groups) all.push_back(&group);
  std::vector<FittedFile> files;
  for (const std::string& name : names) {
    const bool measured = name != kPopulationName;
    Stack stack = predicted_stack(fit, name, all);
    if (const auto usual = schedules.find(name); usual != schedules.end())
      stack.schedule = usual->second;
    std::size_t runs = 0;
    std::set<std::string> of;
    std::set<std::string> sources;
    for (StackTerm& term : stack.terms) {
      std::size_t its = 0;
      for (const SourceGroup& group : groups)
        if (!measured || group.stack == name)
          for (const FitRow& row : group.rows) its += has_seen(term, row.scenario) ? 1 : 0;
      term.source = its > 0 ? std::to_string(its) + " runs" : "no run of it: what other stacks say";
    }
    for (const SourceGroup& group : groups)
      if (!measured || group.stack == name) {
        runs += group.rows.size();
        of.insert(group.name);
        for (const FitRow& row : group.rows) sources.insert(row.run.source);
      }
    std::vector<std::string> comments{
        measured ? "The software stack " + name + ", as " + runs_text(runs, of) + " show it."
                 : "Software stacks that nobody measured, as those that were measured show them: " +
                       runs_text(runs, of) + ".",
        "Estimated by `gradcast fit --stacks` from all groups of traces/stack-groups.csv at once, "
        "with the priors of traces/stack-priors.csv.",
        "Each value is that of a cluster which was not measured itself, and its deviation says how "
        "far such clusters lie apart.",
        "`gradcast fit --stacks --leave-one-out source` judges it fairly: each group by the "
        "others."};
    comments.push_back("sources: " + join({sources.begin(), sources.end()}, " "));
    files.push_back({"platforms/stack-" + name + ".csv", stack_csv(stack, comments)});
  }
  return files;
}

namespace {

constexpr std::array kScheduleColumns = {"stack", "fusion", "overlap", "source", "collective"};
constexpr std::size_t kScheduleRequired = 4;

}  // namespace

UsualSchedules load_usual_schedules(const TextFile& file) {
  UsualSchedules all;
  CsvReader rows(file, kScheduleColumns, kScheduleRequired);
  while (rows.next()) {
    const UsualSchedule schedule{rows.value("fusion", parse_fusion),
                                 rows.value("overlap", parse_usual_overlap),
                                 rows.text("collective"), rows.word("source")};
    if (!all.emplace(rows.word("stack"), schedule).second)
      throw rows.failure("stack", in_quotes(rows.text("stack")) + " stands twice");
  }
  return all;
}

UsualSchedules load_usual_schedules(DataFiles& files) {
  return load_usual_schedules(files.read(kStackLists, "stack-schedules"));
}

}  // namespace gradcast
