// room: inputs
// seeds: traces/iteration-*.csv
// words: sim/inputs/iteration_trace.cpp

#include <cmath>

#include "sim/inputs/iteration_trace.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const IterationTrace trace = load_iteration_trace(text_file(bytes, "iteration-x.csv"));
  const std::string text = iteration_trace_csv(trace, {});
  const IterationTrace again = load_iteration_trace({"iteration-x.csv", text});
  require(iteration_trace_csv(again, {}) == text, "a trace is read as written");
  require(std::isfinite(scaled_to(trace, Seconds{0.1}, 4).iteration(4).count()),
          "a scaled trace has a time");
  require(with_batch(trace, 64).iteration() > Seconds{0}, "a trace of another batch has a time");
}

const Harness harness("iteration_trace", read);

}  // namespace
}  // namespace gradcast::fuzz
