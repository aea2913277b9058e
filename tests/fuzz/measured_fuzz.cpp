// room: inputs
// seeds: traces/measured-*.csv
// words: sim/inputs/measured.cpp sim/inputs/fusion.cpp sim/inputs/compressor_costs.cpp

#include "sim/inputs/measured.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const MeasuredRuns measured = load_measured_runs(text_file(bytes, "measured-x.csv"));
  for (const MeasuredRun& run : measured.runs) {
    require(run.iteration > Seconds{0}, "a run took some time");
    require(to_text(parse_fusion(to_text(run.fusion))) == to_text(run.fusion),
            "a fusion is read as written");
    require(parse_selection(to_text(run.selection)) == run.selection &&
                parse_stack(run.stack) == run.stack,
            "a selection and a stack are read as written");
    require(same_setup(run, run) &&
                same_setup(run, measured.runs.front()) == same_setup(measured.runs.front(), run),
            "a set-up is the same as itself, both ways round");
  }
}

const Harness harness("measured", read);

}  // namespace
}  // namespace gradcast::fuzz
