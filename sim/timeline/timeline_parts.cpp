#include "sim/timeline/timeline_parts.hpp"

#include <array>

#include "sim/base/error.hpp"

namespace gradcast {
namespace {

struct PhasePart {
  std::string_view phase;
  Seconds IterationResult::*part;
};

constexpr std::array<PhasePart, 6> kParts{{{"overhead", &IterationResult::overhead},
                                           {"forward", &IterationResult::forward},
                                           {"backward", &IterationResult::backward},
                                           {"encode", &IterationResult::encode},
                                           {"decode", &IterationResult::decode},
                                           {"update", &IterationResult::update}}};

Seconds IterationResult::*part_named(std::string_view phase) {
  for (const PhasePart& each : kParts)
    if (each.phase == phase) return each.part;
  return nullptr;
}

bool is_network(const TraceLane& lane) { return lane.thread.starts_with("network"); }

std::vector<Span> spans_of_part(const ChromeTrace& trace, const std::string& process,
                                std::string_view part) {
  std::vector<Span> spans;
  for (const TraceLane& lane : trace.lanes)
    if (lane.process_id == process && is_network(lane))
      for (const TraceSlice& slice : lane.slices)
        if (slice.part == part) spans.push_back(slice.span);
  return united(std::move(spans));
}

}  // namespace

IterationResult parts_of(const ChromeTrace& trace, const std::string& process) {
  const TraceLane* compute = trace.find(process, "compute");
  if (compute == nullptr)
    throw ValueError("process '" + process + "' has no lane 'compute', so it is no rank of ours");
  IterationResult result;
  Nanoseconds end = 0;
  for (const TraceLane& lane : trace.lanes)
    if (lane.process_id == process)
      for (const TraceSlice& slice : lane.slices) end = std::max(end, slice.span.end);
  std::vector<Span> computing;
  for (const TraceSlice& slice : compute->slices)
    if (const auto part = part_named(slice.phase)) {
      computing.push_back(slice.span);
      result.*part += to_seconds(slice.span.end - slice.span.start);
    }
  std::vector<Span> idle = outside({{0, end}}, united(std::move(computing)));
  if (const TraceLane* codec = trace.find(process, "codec")) {
    std::vector<Span> on_side;
    for (const TraceSlice& slice : codec->slices)
      if (const auto part = part_named(slice.phase)) {
        on_side.push_back(slice.span);
        const Nanoseconds shown = length_of(inside({slice.span}, idle));
        result.*part += to_seconds(shown);
        result.hidden_codec += to_seconds(slice.span.end - slice.span.start - shown);
      }
    idle = outside(idle, united(std::move(on_side)));
  }
  const std::vector<Span> active = spans_of_part(trace, process, "active");
  result.iteration = to_seconds(end);
  result.communication = to_seconds(length_of(active));
  result.exposed_communication = to_seconds(length_of(inside(active, idle)));
  result.wait = to_seconds(length_of(outside(idle, active)));
  return result;
}

Seconds marked_exposed(const ChromeTrace& trace, const std::string& process) {
  return to_seconds(length_of(spans_of_part(trace, process, "exposed")));
}

}  // namespace gradcast
