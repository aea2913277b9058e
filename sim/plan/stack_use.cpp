#include "sim/plan/stack_use.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/inputs/compressor_costs.hpp"

namespace gradcast {
bool pays(const ScenarioQuantity& quantity, const std::string& compressor,
          const Scenario& scenario) {
  const bool collective_alone = scenario.payload.count > 0;
  if (quantity.name == "late_start")
    return !collective_alone && scenario.overlap && scenario.sharding.kind != Sharding::Fsdp;
  if (quantity.of == ScenarioQuantity::Of::Costs)
    return !collective_alone && scenario.compresses() && scenario.compressing &&
           (compressor.empty() || compressor == scenario.compressor->name);
  return !collective_alone || quantity.of_collectives;
}

std::string implementation_of(const Scenario& scenario) {
  if (!scenario.compresses()) return {};
  const std::string made = !scenario.implementation.empty()
                               ? scenario.implementation
                               : usual_implementation(*scenario.costs, scenario.compressor->name);
  return made.starts_with("gradcast") ? made : std::string(kOperators);
}

bool is_made_by(const std::string& implementation, const Scenario& scenario) {
  return implementation.empty() || implementation == implementation_of(scenario);
}

std::vector<const StackTerm*> terms_for(const Stack& stack, const Scenario& scenario) {
  std::vector<const StackTerm*> terms;
  const std::string made = implementation_of(scenario);
  for (const StackTerm& term : stack.terms) {
    if (!pays(*term.quantity, term.compressor, scenario)) continue;
    if (scenario.cluster.nodes == 1 && is_of_nics(*term.quantity)) continue;
    if (!term.implementation.empty() && term.implementation != made) continue;
    if (made == kCpuImplementation && term.quantity->name == "staging_bandwidth") continue;
    if (std::find(scenario.stated.begin(), scenario.stated.end(), term.quantity->name) !=
        scenario.stated.end())
      continue;
    const auto same = std::find_if(terms.begin(), terms.end(), [&](const StackTerm* other) {
      return other->quantity == term.quantity;
    });
    if (same == terms.end())
      terms.push_back(&term);
    else if (std::pair(!term.compressor.empty(), !term.implementation.empty()) >
             std::pair(!(*same)->compressor.empty(), !(*same)->implementation.empty()))
      *same = &term;
  }
  return terms;
}

bool is_of_nics(const ScenarioQuantity& quantity) {
  return quantity.name == "nic_share" || quantity.name == "host_bandwidth";
}

bool is_usual(const StackTerm& term) { return term.presence >= 0.5; }

bool is_learned_on(const Stack& stack, const Cluster& cluster) {
  if (!stack.factor) return false;
  const std::vector<std::string>& on = stack.learned_on;
  return on.empty() || std::ranges::find(on, cluster.name) != on.end();
}

bool is_learned_elsewhere(const Stack& stack, const Cluster& cluster) {
  return stack.factor && !is_learned_on(stack, cluster);
}

void take_ways(Scenario& scenario, const Stack& stack) {
  if (stack.pipelines) scenario.pipeline = true;
  if (const auto& usual = stack.schedule; usual) {
    scenario.shards_all_reduced = scenario.shards_all_reduced || usual->shards_all_reduced;
    scenario.owners_broadcast = scenario.owners_broadcast || usual->owners_broadcast;
  }
}

void apply_stack(Scenario& scenario) {
  if (scenario.stack == nullptr) return;
  scenario = without_stack(std::move(scenario));
  take_ways(scenario, *scenario.stack);
  const std::vector<const StackTerm*> terms = terms_for(*scenario.stack, scenario);
  const Plan plan = make_plan(scenario);
  for (const StackTerm* term : terms) {
    const std::string_view name = term->quantity->name;
    // Sockets have a share of their own, which other networks do not tell.
    const bool of_sockets = scenario.cluster.by_sockets && name == "nic_share";
    // A library takes its own share of a NIC and time for a call, whoever shards, on a faster NIC
    // too.
    const bool of_library =
        (name == "nic_share" && !of_sockets) || name == "per_collective_latency";
    // A GPU that computes slows its collectives down, whatever they carry.
    const bool rate = term->quantity->inverse && name != "nic_share";
    const bool holds = rate || of_library || name == "computing_slowdown";
    std::string outside =
        outside_of(term->seen, scenario, plan, holds ? HoldsFor::LargerToo : HoldsFor::Seen);
    if (of_sockets && !outside.empty()) continue;
    scenario.stack_uses.push_back({term, term->quantity->get(scenario), std::move(outside)});
  }
  for (const TermUse& use : scenario.stack_uses)
    if (use.outside.empty() && is_usual(*use.term))
      use.term->quantity->set(scenario, use.term->value);
  // Factors are of the cluster that was learned, not of another.
  scenario.model_factor = scenario.kind_factor = 1;
  if (is_learned_elsewhere(*scenario.stack, scenario.cluster)) return;
  scenario.model_factor = scenario.stack->factor.value_or(1);
  scenario.kind_factor = kind_estimate(scenario.stack->kinds, kind_of(scenario)).factor();
}

Scenario without_stack(Scenario scenario) {
  for (const TermUse& use : scenario.stack_uses) use.term->quantity->set(scenario, use.physics);
  scenario.stack_uses.clear();
  scenario.model_factor = scenario.kind_factor = 1;
  return scenario;
}

std::string outside_seen(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const TermUse& use : scenario.stack_uses)
    if (!use.outside.empty()) names.push_back(use.term->name());
  return join(names);
}

}  // namespace gradcast
