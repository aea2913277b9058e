// room: plan
// seeds: platforms/stack-*.csv
// words: sim/plan/stack.cpp sim/plan/situation.cpp sim/plan/scenario_quantity.cpp

#include "sim/plan/stack.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const Stack stack = load_stack(text_file(bytes, "stack-x.csv"));
  for (const StackTerm& term : stack.terms) {
    require(term.quantity->software, "a stack has software alone");
    require(term.presence > 0 && term.presence <= 1, "a presence is a share");
    for (const SeenBox& box : term.seen)
      for (const SeenRange& range : box) require(range.low <= range.high, "a range has an end");
  }
}

const Harness harness("stack", read);

}  // namespace
}  // namespace gradcast::fuzz
