// room: timeline
// words: sim/timeline/chrome_trace.cpp

#include "sim/timeline/chrome_trace.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const ChromeTrace trace = read_chrome_trace(file_of(bytes, "trace.json"));
  for (const TraceLane& lane : trace.lanes) {
    std::vector<Span> spans;
    for (const TraceSlice& slice : lane.slices) {
      require(slice.span.start <= slice.span.end, "a slice does not end before it begins");
      spans.push_back(slice.span);
    }
    require(length_of(united(spans)) >= 0, "what a lane is busy for is a time");
    trace.find(lane.process_id, lane.thread);
  }
  first_that_does_not_nest(trace);
}

const Harness harness("chrome_trace", read);

}  // namespace
}  // namespace gradcast::fuzz
