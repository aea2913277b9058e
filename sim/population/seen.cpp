#include "sim/population/seen.hpp"

#include <algorithm>

#include "sim/base/text.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {
bool has_seen(const StackTerm& term, const Scenario& scenario) {
  if (scenario.cluster.nodes == 1 && is_of_nics(*term.quantity)) return false;
  // A rank alone waits for nobody.
  if (term.quantity->name == "rank_spread" && scenario.cluster.ranks() == 1) return false;
  // Overhead that the trace includes is none that a run takes beyond it.
  const std::string_view name = term.quantity->name;
  if (scenario.framework_in_compute &&
      (name == "per_tensor_overhead" || name == "shard_copy_passes"))
    return false;
  return pays(*term.quantity, term.compressor, scenario) &&
         is_made_by(term.implementation, scenario);
}

std::vector<SeenBox> seen_of(const StackTerm& term, const TermPrior& prior,
                             const std::string& stack,
                             const std::vector<const SourceGroup*>& groups) {
  const std::vector<std::string> names = split_words(term.quantity->seen_by, ' ');
  std::vector<SeenBox> by_stack;
  std::vector<SeenBox> by_all;
  const auto add = [](std::vector<SeenBox>& boxes, const SeenBox& box) {
    const bool known = std::any_of(boxes.begin(), boxes.end(), [&](const SeenBox& other) {
      return to_text({other}) == to_text({box});
    });
    if (!known) boxes.push_back(box);
  };
  for (const SourceGroup* group : groups) {
    SeenBox box;
    for (std::size_t i = 0; i < group->rows.size(); ++i) {
      if (!prior.holds_for(group->stack) || !has_seen(term, group->rows[i].scenario)) continue;
      for (std::size_t n = 0; n < situation_numbers().size(); ++n) {
        const SituationNumber& number = situation_numbers()[n];
        if (std::find(names.begin(), names.end(), number.name) == names.end()) continue;
        widen(box, number, group->situations[i][n]);
      }
    }
    if (box.empty()) continue;
    add(by_all, box);
    if (group->stack == stack) add(by_stack, box);
  }
  return by_stack.empty() ? by_all : by_stack;
}

}  // namespace gradcast
