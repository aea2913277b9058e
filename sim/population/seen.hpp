// Under which conditions measured runs saw a term of software.
#pragma once
#include <string>
#include <vector>

#include "sim/plan/stack.hpp"
#include "sim/population/groups.hpp"
#include "sim/population/priors.hpp"

namespace gradcast {

/// Whether a run shows what a term is.
bool has_seen(const StackTerm& term, const Scenario& scenario);

/// The ranges over the runs of each group that paid the term, on stacks that have it: of its
/// stack's groups, and where none of them did, or nobody measured the stack, of all. Groups with
/// the same ranges are one.
std::vector<SeenBox> seen_of(const StackTerm& term, const TermPrior& prior,
                             const std::string& stack,
                             const std::vector<const SourceGroup*>& groups);

}  // namespace gradcast
