// Compared runs with numbers that can be divided in the head.
#pragma once
#include "sim/compare/comparison.hpp"

namespace gradcast {

/// Measured and forecast in seconds, of which one iteration of one GPU takes 1.
inline ComparedRun compared(const char* compressor, double measured, double predicted,
                            const char* model = "m") {
  ComparedRun run;
  run.run.source = "s";
  run.run.model = model;
  run.run.compressor = compressor;
  run.run.compute = Seconds{1};
  run.run.iteration = Seconds{measured};
  run.forecast.iteration = Seconds{predicted};
  return run;
}

/// The same of a row that the model does not claim.
inline ComparedRun outside(ComparedRun run, const char* why = "no such schedule") {
  run.outside_model = why;
  return run;
}

/// The same with a collective of its own, as the file names it.
inline ComparedRun with_collective(ComparedRun run, const char* collective) {
  run.asked_collective = collective;
  return run;
}

}  // namespace gradcast
