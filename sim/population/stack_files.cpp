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

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Measured stacks, those that are only listed, the populations that stand for unnamed ones.
std::vector<std::string> names_of(const PopulationFit& fit, const UsualSchedules& listed) {
  std::vector<std::string> names = fit.stacks;
  for (const auto& [name, its] : listed)
    if (!among(names, name)) names.push_back(name);
  for (const Transport transport : {Transport::Nccl, Transport::Mpi, Transport::Gloo})
    names.push_back(population_of(transport));
  return names;
}

/// The measured stack whose runs a stack of this name stands on; "": all runs of its transport.
std::string origin_of(const std::string& name, const PopulationFit& fit,
                      const UsualSchedules& listed) {
  if (among(fit.stacks, name)) return name;
  const auto its = listed.find(name);
  if (its == listed.end() || its->second.like.empty()) return {};
  if (among(fit.stacks, its->second.like)) return its->second.like;
  throw DataError(its->second.file, its->second.line,
                  "column 'like': stack '" + name + "' is like '" + its->second.like +
                      "', which nobody measured; known: " + join(fit.stacks));
}

std::string title_of(const std::string& name, const std::string& origin, const std::string& runs) {
  if (is_population(name))
    return "Software stacks that nobody measured and that send by " +
           std::string(words_of(transport_of(name))) + ", as others show them: " + runs + ".";
  const std::string title = "The software stack " + name;
  if (origin == name) return title + ", as " + runs + " show it.";
  if (origin.empty())
    return title + ", which nobody measured: what it shares with others, as " + runs + " show it.";
  return title + ", which nobody measured: its costs are those of " + origin + ", as " + runs +
         " show them.";
}

/// The data that the stack of one name is made from.
struct Making {
  const PopulationFit& fit;
  const std::vector<const SourceGroup*>& groups;  // of the fit
  const UsualSchedules& schedules;
  const std::vector<KnownTerm>& known;
};

/// The file of a stack. `left_out`: the group without which it was estimated, or nullptr.
FittedFile file_of(const Making& from, const std::string& name, const SourceGroup* left_out) {
  const std::string origin = origin_of(name, from.fit, from.schedules);
  Stack stack = predicted_stack(from.fit, origin.empty() ? name : origin, from.groups);
  stack.name = name;
  if (const auto usual = from.schedules.find(name); usual != from.schedules.end())
    stack.schedule = usual->second.schedule;
  const bool own = origin == name || is_population(name);
  const auto shows = [&](const SourceGroup& group) {
    if (origin.empty()) return !own || transport_of(group.stack) == transport_of(name);
    return group.stack == origin;
  };
  std::size_t runs = 0;
  std::set<std::string> of;
  std::set<std::string> sources;
  for (StackTerm& term : stack.terms) {
    std::size_t its = 0;
    for (const SourceGroup* group : from.groups)
      if (shows(*group) && (own || !origin.empty()))
        for (const FitRow& row : group->rows) its += has_seen(term, row.scenario) ? 1 : 0;
    term.source = its == 0 ? std::string(kNoRunOfIt)
                           : std::to_string(its) + " runs" + (own ? "" : " of " + origin);
  }
  const std::vector<std::string> taken_out = apply_known(stack, from.known, own || !origin.empty());
  for (const SourceGroup* group : from.groups)
    if (shows(*group)) {
      runs += group->rows.size();
      of.insert(group->name);
      for (const FitRow& row : group->rows) sources.insert(row.run.source);
    }
  const std::string shown = std::to_string(runs) + " runs of " + join({of.begin(), of.end()});
  std::vector<std::string> comments{
      title_of(name, origin, shown),
      "Estimated by `gradcast fit --stacks` from all groups of traces/stack-groups.csv at once, "
      "with the priors of traces/stack-priors.csv.",
      "Each value is that of a cluster which was not measured itself, and its deviation says how "
      "far such clusters lie apart.",
      "`gradcast fit --stacks --leave-one-out source` judges it fairly: each group by the "
      "others."};
  comments.insert(comments.end(), taken_out.begin(), taken_out.end());
  comments.push_back("sources: " + join({sources.begin(), sources.end()}, " "));
  std::string file = name;
  if (left_out != nullptr) {
    std::set<std::string> without;
    for (const FitRow& row : left_out->rows) without.insert(row.run.source);
    comments[1].insert(comments[1].find(" at once"), " but " + left_out->name);
    comments[3] = "It forecasts the runs of " + left_out->name + ", and is for nothing else.";
    comments.push_back("without: " + join({without.begin(), without.end()}, " "));
    file += std::string(kWithout) + left_out->name;
  }
  return {"platforms/stack-" + file + ".csv", stack_csv(stack, comments)};
}

}  // namespace

std::vector<FittedFile> stack_files(const PopulationFit& fit,
                                    const std::vector<SourceGroup>& groups,
                                    const UsualSchedules& schedules,
                                    const std::vector<KnownTerm>& known) {
  std::vector<const SourceGroup*> all;
  for (const SourceGroup& group : groups) all.push_back(&group);
  std::vector<FittedFile> files;
  const std::vector<std::string> names = names_of(fit, schedules);
  require_stacks_of(known, names);
  for (const std::string& name : names)
    files.push_back(file_of({fit, all, schedules, known}, name, nullptr));
  return files;
}

FittedFile file_without(const PopulationFit& fit, const std::vector<const SourceGroup*>& others,
                        const SourceGroup& left_out, const UsualSchedules& schedules,
                        const std::vector<KnownTerm>& known) {
  return file_of({fit, others, schedules, known}, left_out.stack, &left_out);
}

namespace {

constexpr std::array kScheduleColumns = {"stack",   "fusion",     "overlap",         "source",
                                         "like",    "collective", "gradients",       "parameters",
                                         "buffers", "sharding",   "network_streams", "shardings"};
constexpr std::size_t kSchedulesRequired = 4;

}  // namespace

UsualSchedules load_usual_schedules(const TextFile& file) {
  UsualSchedules all;
  CsvReader rows(file, kScheduleColumns, kSchedulesRequired);
  while (rows.next()) {
    const UsualSchedule schedule{rows.value("fusion", parse_fusion),
                                 rows.value("overlap", parse_usual_overlap),
                                 rows.text("collective"),
                                 rows.value("gradients", parse_shards_all_reduced),
                                 rows.value("parameters", parse_owners_broadcast),
                                 rows.value("buffers", parse_buffers_broadcast),
                                 rows.value("network_streams", parse_network_streams),
                                 rows.word("source"),
                                 rows.text("sharding").empty()
                                     ? std::nullopt
                                     : std::optional(rows.value("sharding", parse_sharding)),
                                 rows.value("shardings", parse_shardings)};
    const ListedStack listed{schedule, rows.value("like", parse_stack), rows.path(), rows.line()};
    if (!all.emplace(rows.word("stack"), listed).second)
      throw rows.failure("stack", in_quotes(rows.text("stack")) + " stands twice");
  }
  return all;
}

UsualSchedules load_usual_schedules(DataFiles& files) {
  return load_usual_schedules(files.read(kStackLists, "stack-schedules"));
}

}  // namespace gradcast
