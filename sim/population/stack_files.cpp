#include "sim/population/stack_files.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/population/seen.hpp"

namespace gradcast {
namespace {

std::string runs_text(std::size_t runs, const std::set<std::string>& names) {
  return std::to_string(runs) + " runs of " + join({names.begin(), names.end()});
}

}  // namespace

namespace {

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Measured stacks, those that are only listed, the population.
std::vector<std::string> names_of(const PopulationFit& fit, const UsualSchedules& listed) {
  std::vector<std::string> names = fit.stacks;
  for (const auto& [name, its] : listed)
    if (!among(names, name)) names.push_back(name);
  names.emplace_back(kPopulationName);
  return names;
}

/// The measured stack whose runs a stack of this name stands on; "": all runs.
std::string origin_of(const std::string& name, const PopulationFit& fit,
                      const UsualSchedules& listed) {
  if (among(fit.stacks, name)) return name;
  const auto its = listed.find(name);
  if (its == listed.end() || its->second.like.empty()) return {};
  if (among(fit.stacks, its->second.like)) return its->second.like;
  throw ValueError("stack '" + name + "' is like '" + its->second.like +
                   "', which nobody measured");
}

std::string title_of(const std::string& name, const std::string& origin, const std::string& runs) {
  if (name == kPopulationName)
    return "Software stacks that nobody measured, as those that were measured show them: " + runs +
           ".";
  const std::string title = "The software stack " + name;
  if (origin == name) return title + ", as " + runs + " show it.";
  if (origin.empty())
    return title + ", which nobody measured: what it shares with others, as " + runs + " show it.";
  return title + ", which nobody measured: its costs are those of " + origin + ", as " + runs +
         " show them.";
}

}  // namespace

std::vector<FittedFile> stack_files(const PopulationFit& fit,
                                    const std::vector<SourceGroup>& groups,
                                    const UsualSchedules& schedules,
                                    const std::vector<KnownTerm>& known) {
  std::vector<const SourceGroup*> all;
  for (const SourceGroup& group : groups) all.push_back(&group);
  std::vector<FittedFile> files;
  for (const std::string& name : names_of(fit, schedules)) {
    const std::string origin = origin_of(name, fit, schedules);
    Stack stack = predicted_stack(fit, origin.empty() ? name : origin, all);
    stack.name = name;
    if (const auto usual = schedules.find(name); usual != schedules.end())
      stack.schedule = usual->second.schedule;
    const bool own = origin == name || name == kPopulationName;
    const auto shows = [&](const SourceGroup& group) {
      return origin.empty() || group.stack == origin;
    };
    std::size_t runs = 0;
    std::set<std::string> of;
    std::set<std::string> sources;
    for (StackTerm& term : stack.terms) {
      std::size_t its = 0;
      for (const SourceGroup& group : groups)
        if (shows(group) && (own || !origin.empty()))
          for (const FitRow& row : group.rows) its += has_seen(term, row.scenario) ? 1 : 0;
      term.source = its == 0 ? "no run of it: what other stacks say"
                             : std::to_string(its) + " runs" + (own ? "" : " of " + origin);
    }
    std::vector<std::string> taken_out;
    if (origin.empty() && !own) taken_out = apply_known(stack, known);
    for (const SourceGroup& group : groups)
      if (shows(group)) {
        runs += group.rows.size();
        of.insert(group.name);
        for (const FitRow& row : group.rows) sources.insert(row.run.source);
      }
    std::vector<std::string> comments{
        title_of(name, origin, runs_text(runs, of)),
        "Estimated by `gradcast fit --stacks` from all groups of traces/stack-groups.csv at once, "
        "with the priors of traces/stack-priors.csv.",
        "Each value is that of a cluster which was not measured itself, and its deviation says how "
        "far such clusters lie apart.",
        "`gradcast fit --stacks --leave-one-out source` judges it fairly: each group by the "
        "others."};
    comments.insert(comments.end(), taken_out.begin(), taken_out.end());
    comments.push_back("sources: " + join({sources.begin(), sources.end()}, " "));
    files.push_back({"platforms/stack-" + name + ".csv", stack_csv(stack, comments)});
  }
  return files;
}

namespace {

constexpr std::array kScheduleColumns = {"stack", "fusion",     "overlap",  "source",
                                         "like",  "collective", "gradients"};
constexpr std::size_t kSchedulesRequired = 4;

}  // namespace

UsualSchedules load_usual_schedules(const TextFile& file) {
  UsualSchedules all;
  CsvReader rows(file, kScheduleColumns, kSchedulesRequired);
  while (rows.next()) {
    const UsualSchedule schedule{
        rows.value("fusion", parse_fusion), rows.value("overlap", parse_usual_overlap),
        rows.text("collective"), rows.value("gradients", parse_shards_all_reduced),
        rows.word("source")};
    const ListedStack listed{schedule, rows.value("like", parse_stack)};
    if (!all.emplace(rows.word("stack"), listed).second)
      throw rows.failure("stack", in_quotes(rows.text("stack")) + " stands twice");
  }
  return all;
}

UsualSchedules load_usual_schedules(DataFiles& files) {
  return load_usual_schedules(files.read(kStackLists, "stack-schedules"));
}

}  // namespace gradcast
