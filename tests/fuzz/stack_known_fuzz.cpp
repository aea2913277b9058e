// room: population
// seeds: traces/stack-known.csv
// words: sim/population/known_terms.cpp sim/plan/scenario_quantity.cpp

#include "sim/population/known_terms.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  for (const KnownTerm& known : load_known_terms(text_file(bytes, "stack-known.csv"))) {
    require(!known.source.empty() && !known.stacks.empty(), "a source and stacks");
    require(known.ruled_out || known.value || known.seen, "something that is known");
  }
}

const Harness harness("stack_known", read);

}  // namespace
}  // namespace gradcast::fuzz
