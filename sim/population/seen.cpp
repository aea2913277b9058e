#include "sim/population/seen.hpp"

#include <algorithm>

#include "sim/base/text.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {
bool has_seen(const StackTerm& term, const Scenario& scenario) {
  // A single node crosses no NIC.
  if (term.quantity->name == "nic_share" && scenario.cluster.nodes == 1) return false;
  return pays(*term.quantity, term.compressor, scenario);
}

std::vector<SeenRange> seen_of(const StackTerm& term, const TermPrior& prior,
                               const std::string& stack,
                               const std::vector<const SourceGroup*>& groups) {
  const std::vector<std::string> names = split_words(term.quantity->seen_by, ' ');
  std::vector<SeenRange> by_stack;
  std::vector<SeenRange> by_all;
  for (const SourceGroup* group : groups)
    for (std::size_t i = 0; i < group->rows.size(); ++i) {
      if (!prior.holds_for(group->stack) || !has_seen(term, group->rows[i].scenario)) continue;
      for (std::size_t n = 0; n < situation_numbers().size(); ++n) {
        const SituationNumber& number = situation_numbers()[n];
        if (std::find(names.begin(), names.end(), number.name) == names.end()) continue;
        widen(by_all, number, group->situations[i][n]);
        if (group->stack == stack) widen(by_stack, number, group->situations[i][n]);
      }
    }
  return by_stack.empty() ? by_all : by_stack;
}

}  // namespace gradcast
