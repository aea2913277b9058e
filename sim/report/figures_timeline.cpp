// Timelines as lanes.
#include "sim/report/figures_timeline.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "sim/base/error.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {
namespace {

constexpr std::size_t kMostLanes = 4;

std::string milliseconds(Seconds time) { return number_to_text(rounded_to(5, 1e3 * time.count())); }

}  // namespace

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

Figure lanes_figure(const std::vector<Lane>& lanes) {
  Figure figure{"timeline",
                FigureKind::Lanes,
                "One iteration on the clock",
                "",
                {"time (ms)", AxisScale::Linear},
                {"", AxisScale::Category}};
  figure.table.header = {"rank", "lane", "what", "phase", "from (ms)", "to (ms)"};
  std::vector<int> ranks;
  for (const Lane& lane : lanes)
    if (!lane.slices.empty() && std::find(ranks.begin(), ranks.end(), lane.rank) == ranks.end())
      ranks.push_back(lane.rank);
  std::sort(ranks.begin(), ranks.end());
  const std::size_t all_ranks = ranks.size();
  ranks.resize(std::min(ranks.size(), kMostLanes));
  Seconds last{0};
  std::map<std::string, Seconds> busy;  // the first rank's
  for (const int rank : ranks) {
    FigurePanel panel{all_ranks > 1 ? "rank " + std::to_string(rank) : "", {}};
    for (const Lane& lane : lanes) {
      if (lane.rank != rank) continue;
      for (const LaneSlice& slice : lane.slices) {
        FigurePoint point;
        point.x = rounded_to(9, 1e3 * slice.begin.count());
        point.until = rounded_to(9, 1e3 * slice.end.count());
        point.y_text = lane.name;
        point.label = std::string(slice.name) + ", " + lane.name + ": " +
                      milliseconds(slice.begin) + " to " + milliseconds(slice.end) + " ms";
        series_named(panel, std::string(slice.phase)).points.push_back(point);
        figure.table.rows.push_back({std::to_string(rank), lane.name, std::string(slice.name),
                                     std::string(slice.phase), milliseconds(slice.begin),
                                     milliseconds(slice.end)});
        last = std::max(last, slice.end);
        if (rank == ranks.front()) busy[lane.name] += slice.end - slice.begin;
      }
    }
    figure.panels.push_back(std::move(panel));
  }
  if (ranks.empty()) return figure;
  figure.summary = "The iteration ends after " + milliseconds(last) + " ms; of rank " +
                   std::to_string(ranks.front());
  bool first = true;
  for (const auto& [lane, time] : busy) {
    figure.summary += (first ? " " : ", ") + lane + " is busy for " + milliseconds(time) + " ms";
    first = false;
  }
  figure.summary += ".";
  if (all_ranks > ranks.size())
    figure.summary += " The first " + std::to_string(ranks.size()) + " of " +
                      std::to_string(all_ranks) + " ranks are drawn.";
  return figure;
}

}  // namespace gradcast
