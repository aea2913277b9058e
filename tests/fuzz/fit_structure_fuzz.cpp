// room: fit
// seeds: traces/fit-*.csv
// words: sim/fit/structure.cpp sim/plan/scenario_quantity.cpp

#include <cmath>

#include "sim/fit/structure.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const FitStructures all = load_fit_structures(text_file(bytes, "fit-x.csv"));
  const MeasuredRun run;
  for (const FitStructure& structure : all.structures)
    require(all.find(structure.name).line == structure.line, "a structure is found by its name");
  for (const FitStructure& structure : for_runs(all, {run}).structures)
    for (const FitParameter& parameter : structure.parameters) {
      require(parameter.least < parameter.most && std::isfinite(parameter.start),
              "a parameter has room between finite bounds");
      parameter.scope.holds(run);
      parameter.quantity->range(parameter.least, parameter.most);
    }
}

const Harness harness("fit_structure", read);

}  // namespace
}  // namespace gradcast::fuzz
