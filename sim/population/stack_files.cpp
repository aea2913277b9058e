#include "sim/population/stack_files.hpp"

#include <algorithm>
#include <set>

#include "sim/base/text.hpp"

namespace gradcast {
namespace {

/// Whether a run pays a term: then it has seen it.
bool pays(const StackTerm& term, const Scenario& scenario) {
  if (term.quantity->of == ScenarioQuantity::Of::Costs)
    return scenario.sparse() && scenario.compressing &&
           (term.compressor.empty() || term.compressor == scenario.compressor->name);
  return true;
}

/// The range of one of situation.hpp's numbers over the runs that pay the term.
void widen(std::vector<SeenRange>& seen, const StackTerm& term, const FitRow& row) {
  if (!pays(term, row.scenario)) return;
  const Plan plan = make_plan(row.scenario);
  for (const SituationNumber& number : situation_numbers()) {
    const std::vector<std::string> its = split_words(term.quantity->seen_by, ' ');
    if (std::find(its.begin(), its.end(), number.name) == its.end()) continue;
    const double value = number.of(row.scenario, plan);
    const auto range = std::find_if(seen.begin(), seen.end(),
                                    [&](const SeenRange& each) { return each.number == &number; });
    if (range == seen.end()) {
      seen.push_back({&number, value, value});
    } else {
      range->low = std::min(range->low, value);
      range->high = std::max(range->high, value);
    }
  }
}

std::string runs_text(std::size_t runs, const std::set<std::string>& names) {
  return std::to_string(runs) + " runs of " + join({names.begin(), names.end()});
}

}  // namespace

std::vector<StackFile> stack_files(const PopulationFit& fit,
                                   const std::vector<SourceGroup>& groups) {
  std::vector<std::string> names = fit.stacks;
  names.emplace_back(kPopulationName);
  std::vector<StackFile> files;
  for (const std::string& name : names) {
    const bool measured = name != kPopulationName;
    Stack stack = predicted_stack(fit, name);
    std::size_t runs = 0;
    std::set<std::string> of;
    for (StackTerm& term : stack.terms) {
      std::size_t its = 0;
      for (const SourceGroup& group : groups) {
        if (measured && group.stack != name) continue;
        for (const FitRow& row : group.rows) {
          if (!pays(term, row.scenario)) continue;
          ++its;
          if (measured) widen(term.seen, term, row);
        }
      }
      term.source = its > 0 ? std::to_string(its) + " runs" : "no run of it: what other stacks say";
    }
    // What no run of the stack paid is the population's: seen elsewhere, under other conditions.
    for (const SourceGroup& group : groups)
      if (!measured || group.stack == name) {
        runs += group.rows.size();
        of.insert(group.name);
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
    files.push_back({"platforms/stack-" + name + ".csv", stack_csv(stack, comments)});
  }
  return files;
}

}  // namespace gradcast
