#include "sim/population/seen.hpp"

#include <algorithm>

#include "sim/base/text.hpp"

namespace gradcast {
namespace {

void widen(std::vector<SeenRange>& seen, const SituationNumber& number, double value) {
  const auto range = std::find_if(seen.begin(), seen.end(),
                                  [&](const SeenRange& each) { return each.number == &number; });
  if (range == seen.end()) {
    seen.push_back({&number, value, value});
    return;
  }
  range->low = std::min(range->low, value);
  range->high = std::max(range->high, value);
}

}  // namespace

bool pays(const StackTerm& term, const Scenario& scenario) {
  if (term.quantity->of != ScenarioQuantity::Of::Costs)
    return term.quantity->name != "nic_share" || scenario.cluster.nodes > 1;
  return scenario.sparse() && scenario.compressing &&
         (term.compressor.empty() || term.compressor == scenario.compressor->name);
}

std::vector<SeenRange> seen_of(const StackTerm& term, const TermPrior& prior,
                               const std::string& stack,
                               const std::vector<const SourceGroup*>& groups) {
  const std::vector<std::string> numbers = split_words(term.quantity->seen_by, ' ');
  std::vector<SeenRange> by_stack;
  std::vector<SeenRange> by_all;
  for (const SourceGroup* group : groups)
    for (const FitRow& row : group->rows) {
      if (!prior.holds_for(group->stack) || !pays(term, row.scenario)) continue;
      const Plan plan = make_plan(row.scenario);
      for (const SituationNumber& number : situation_numbers()) {
        if (std::find(numbers.begin(), numbers.end(), number.name) == numbers.end()) continue;
        const double value = number.of(row.scenario, plan);
        widen(by_all, number, value);
        if (group->stack == stack) widen(by_stack, number, value);
      }
    }
  return by_stack.empty() ? by_all : by_stack;
}

}  // namespace gradcast
