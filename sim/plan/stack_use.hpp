// A scenario with the software of its stack: each term where it was seen, physics elsewhere.
#pragma once
#include <string>
#include <vector>

#include "sim/plan/scenario.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast {

/// Whether a run has work that a quantity is of: one of a compressor's costs (`compressor`; "": of
/// any) is of runs in which it works.
bool pays(const ScenarioQuantity& quantity, const std::string& compressor,
          const Scenario& scenario);

/// The implementation whose costs the run has: the project's, or operators, as which a framework
/// calls whatever else there is; "" where it compresses nothing.
std::string implementation_of(const Scenario& scenario);

/// Whether the run's costs of compressing are those of an implementation; "": anybody's. All that
/// is not the project's counts as operators of a framework.
bool is_made_by(const std::string& implementation, const Scenario& scenario);

/// The terms of a stack that concern this run: its compressor's own before those of all. Without
/// costs of compressors where nothing is compressed, or beside another implementation, without
/// those of an iteration where a collective alone is run, and without what was asked for by value.
/// A compressor whose costs were timed on the CPU has its payload in the host's memory: so without
/// staging.
std::vector<const StackTerm*> terms_for(const Stack& stack, const Scenario& scenario);

/// Whether the quantity is of NICs, which a single node's run does not cross.
bool is_of_nics(const ScenarioQuantity& quantity);

/// Whether most stacks of a population have the term: then it is in their forecast.
bool is_usual(const StackTerm& term);

/// Whether the stack was learned on this cluster, or was learned and does not say on which.
bool is_learned_on(const Stack& stack, const Cluster& cluster);

bool is_learned_elsewhere(const Stack& stack, const Cluster& cluster);

/// Gives the scenario the numbers of its stack. A term that was not seen under such conditions is
/// left at physics: it is not multiplied on. Factors of another cluster are left out. A share of
/// NICs that was not seen is left out where the host's sockets send, whose rate is a doubt of its
/// own. The same again after a change.
void apply_stack(Scenario& scenario);

/// Gives the scenario the stack's ways to send: how shards travel, and whether encoding hides
/// collectives. None of them is a cost.
void take_ways(Scenario& scenario, const Stack& stack);

/// The scenario by physics alone.
Scenario without_stack(Scenario scenario);

/// The names of terms that lie outside, comma-separated; "" for none.
std::string outside_seen(const Scenario& scenario);

}  // namespace gradcast
