// room: population
// seeds: traces/stack-schedules.csv
// words: sim/population/usual_schedules.cpp sim/plan/stack.cpp

#include "sim/population/stack_files.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  for (const auto& [stack, listed] : load_usual_schedules(text_file(bytes, "stack-schedules.csv")))
    require(!listed.schedule.source.empty() && !to_text(listed.schedule.fusion).empty(),
            "a source and a fusion");
}

const Harness harness("stack_schedules", read);

}  // namespace
}  // namespace gradcast::fuzz
