// Timelines as lanes.
#include <algorithm>
#include <charconv>
#include <map>

#include "sim/base/error.hpp"
#include "sim/report/figures.hpp"
#include "sim/report/lanes.hpp"

namespace gradcast {

std::vector<Figure> timeline_figures(const ResultFile& timeline) {
  std::vector<Lane> lanes;
  std::map<std::string, int> ranks;  // a process without a number has the next
  for (const TraceLane& lane : timeline.trace->lanes) {
    int rank = static_cast<int>(ranks.size());
    std::from_chars(lane.process_id.data(), lane.process_id.data() + lane.process_id.size(), rank);
    rank = ranks.try_emplace(lane.process_id, rank).first->second;
    Lane drawn{rank, lane.thread.empty() ? "thread " + lane.thread_id : lane.thread, {}};
    for (const TraceSlice& slice : lane.slices)
      // Parts of a collective are inside it, and would hide it.
      if (slice.part.empty())
        drawn.slices.push_back({slice.name, slice.phase.empty() ? slice.category : slice.phase,
                                to_seconds(slice.span.start), to_seconds(slice.span.end)});
    lanes.push_back(std::move(drawn));
  }
  Figure figure = lanes_figure(lanes);
  if (figure.panels.empty())
    throw DataError(timeline.path, 0, "holds no slices (\"ph\":\"X\") to draw");
  return {figure};
}

}  // namespace gradcast
