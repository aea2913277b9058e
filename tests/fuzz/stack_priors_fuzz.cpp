// room: population
// seeds: traces/stack-priors.csv
// words: sim/population/priors.cpp sim/plan/scenario_quantity.cpp

#include "sim/population/priors.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const StackPriors priors = load_stack_priors(text_file(bytes, "stack-priors.csv"));
  require(priors.discrepancy > 0 && priors.scatter > 0, "scales are above 0");
  for (const TermPrior& term : priors.terms) {
    require(term.median > 0, "a lognormal has a middle above 0");
    term.holds_for("horovod-mpi");
  }
}

const Harness harness("stack_priors", read);

}  // namespace
}  // namespace gradcast::fuzz
