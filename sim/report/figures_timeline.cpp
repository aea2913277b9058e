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
constexpr double kAlikeShare = 0.01;  // of the iteration: a few pixels

std::string milliseconds(Seconds time) { return number_to_text(rounded_to(5, 1e3 * time.count())); }

std::vector<const Lane*> lanes_of(int rank, const std::vector<Lane>& lanes) {
  std::vector<const Lane*> found;
  for (const Lane& lane : lanes)
    if (lane.rank == rank && !lane.slices.empty()) found.push_back(&lane);
  return found;
}

bool within(Seconds one, Seconds other, Seconds apart) {
  return one - other <= apart && other - one <= apart;
}

/// True if the same slices begin and end at the same time, to within `apart`.
bool alike(const std::vector<const Lane*>& one, const std::vector<const Lane*>& other,
           Seconds apart) {
  const auto same_slice = [&](const LaneSlice& a, const LaneSlice& b) {
    return a.phase == b.phase && within(a.begin, b.begin, apart) && within(a.end, b.end, apart);
  };
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(), [&](const Lane* a, const Lane* b) {
        return a->name == b->name && std::equal(a->slices.begin(), a->slices.end(),
                                                b->slices.begin(), b->slices.end(), same_slice);
      });
}

/// Ranks that do the same at the same time as the first of their group.
std::vector<std::vector<int>> groups_alike(const std::vector<int>& ranks,
                                           const std::vector<Lane>& lanes) {
  Seconds end{0};
  for (const Lane& lane : lanes)
    for (const LaneSlice& slice : lane.slices) end = std::max(end, slice.end);
  std::vector<std::vector<int>> groups;
  std::vector<std::vector<const Lane*>> firsts;
  for (const int rank : ranks) {
    const std::vector<const Lane*> own = lanes_of(rank, lanes);
    const auto known = std::find_if(firsts.begin(), firsts.end(), [&](const auto& first) {
      return alike(first, own, kAlikeShare * end);
    });
    if (known != firsts.end()) {
      groups[static_cast<std::size_t>(known - firsts.begin())].push_back(rank);
      continue;
    }
    groups.push_back({rank});
    firsts.push_back(own);
  }
  return groups;
}

/// "rank 2", "4 ranks alike: 0 to 3", "2 ranks alike: 0, 5".
std::string ranks_text(const std::vector<int>& group) {
  if (group.size() == 1) return "rank " + std::to_string(group.front());
  std::string words = std::to_string(group.size()) + " ranks alike: ";
  if (group.back() - group.front() + 1 == static_cast<int>(group.size()))
    return words + std::to_string(group.front()) + " to " + std::to_string(group.back());
  constexpr std::size_t kMostNames = 8;
  for (std::size_t i = 0; i < group.size() && i < kMostNames; ++i)
    words += (i == 0 ? "" : ", ") + std::to_string(group[i]);
  return group.size() > kMostNames ? words + ", ..." : words;
}

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
  std::vector<std::vector<int>> groups = groups_alike(ranks, lanes);
  const std::size_t all_groups = groups.size();
  groups.resize(std::min(groups.size(), kMostLanes));
  Seconds last{0};
  std::map<std::string, Seconds> busy;  // the first rank's
  for (const std::vector<int>& group : groups) {
    const int rank = group.front();
    FigurePanel panel{ranks.size() > 1 ? ranks_text(group) : "", {}};
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
  if (all_groups < ranks.size())
    figure.summary +=
        " Ranks are drawn once if their work begins and ends within 1 % of the "
        "iteration of each other.";
  if (all_groups > groups.size())
    figure.summary += " The first " + std::to_string(groups.size()) + " of " +
                      std::to_string(all_groups) + " kinds of ranks are drawn.";
  return figure;
}

}  // namespace gradcast
