#include "sim/timeline/timeline.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradcast {
namespace {

constexpr std::size_t kCompute = 0;  // lane

Span to_span(const Interval& interval) {
  return {to_nanoseconds(interval.start), to_nanoseconds(interval.end)};
}

/// The time when the last class came to each collective; 0 of other steps.
std::vector<Nanoseconds> all_in(const Plan& plan, const RunRecord& record) {
  std::vector<Nanoseconds> since(plan.steps.size(), 0);
  for (const auto& steps : record.steps)
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (plan.steps[i].kind == StepKind::Collective)
        since[i] = std::max(since[i], to_nanoseconds(steps[i].start));
  return since;
}

/// Sorts the steps of a class into lanes.
class Sorter {
 public:
  Sorter(const Plan& plan, const std::vector<Interval>& record) : plan_(plan) {
    for (const Interval& interval : record) its_.steps.push_back(to_span(interval));
    lane_of_.assign(plan.steps.size(), kCompute);
  }

  /// Network lanes that the class needs. To be called first.
  std::size_t place_collectives() {
    std::vector<std::size_t> collectives;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      if (plan_.steps[i].kind == StepKind::Collective) collectives.push_back(i);
    std::stable_sort(collectives.begin(), collectives.end(), [&](std::size_t a, std::size_t b) {
      return its_.steps[a].start < its_.steps[b].start;
    });
    std::vector<Nanoseconds> busy_until;
    for (const std::size_t step : collectives) {
      const auto lane = std::find_if(busy_until.begin(), busy_until.end(), [&](Nanoseconds until) {
        return until <= its_.steps[step].start;
      });
      lane_of_[step] = static_cast<std::size_t>(lane - busy_until.begin());
      if (lane == busy_until.end())
        busy_until.push_back(its_.steps[step].end);
      else
        *lane = its_.steps[step].end;
    }
    return busy_until.size();
  }

  /// `side`, `clock`: whether the plan uses these streams.
  TimelineClass take(bool side, bool clock, std::size_t networks,
                     const std::vector<Nanoseconds>& all_in) {
    its_.lanes = {{"compute"}};
    if (side) its_.lanes.push_back({"codec"});
    const std::size_t cycles = its_.lanes.size();
    if (clock) its_.lanes.push_back({"cycle"});
    const std::size_t first_network = its_.lanes.size();
    for (std::size_t i = 0; i < networks; ++i)
      its_.lanes.push_back({networks == 1 ? "network" : "network " + std::to_string(i + 1)});
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      if (plan_.steps[i].kind == StepKind::Collective)
        lane_of_[i] += first_network;
      else if (plan_.steps[i].stream == Stream::Side)
        lane_of_[i] = 1;
      else if (plan_.steps[i].kind == StepKind::Wait)
        lane_of_[i] = cycles;
    std::vector<Span> busy;
    Nanoseconds end = 0;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      end = std::max(end, its_.steps[i].end);
      if (plan_.steps[i].kind != StepKind::Collective && plan_.steps[i].kind != StepKind::Wait)
        busy.push_back(its_.steps[i]);
    }
    const std::vector<Span> idle = outside({{0, end}}, united(std::move(busy)));
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      add(i, its_.steps[i], SlicePart::Step);
      if (plan_.steps[i].kind != StepKind::Collective) continue;
      const Nanoseconds from = std::min(all_in[i], its_.steps[i].end);
      add(i, {its_.steps[i].start, from}, SlicePart::Wait);
      const Span active{from, its_.steps[i].end};
      add(i, active, SlicePart::Active);
      if (active.start < active.end)
        for (const Span& exposed : inside({active}, idle)) add(i, exposed, SlicePart::Exposed);
      add_arrows(i);
    }
    for (TimelineLane& lane : its_.lanes) put_in_order(lane);
    if (clock) keep_outermost(its_.lanes[cycles]);
    return std::move(its_);
  }

 private:
  void add(std::size_t step, const Span& span, SlicePart part) {
    if (span.start < span.end) its_.lanes[lane_of_[step]].slices.push_back({span, step, part});
  }

  void add_arrows(std::size_t collective) {
    const auto seen = [&](std::size_t step) {
      return its_.steps[step].start < its_.steps[step].end;
    };
    if (!seen(collective)) return;
    for (const std::size_t before : plan_.steps[collective].after)
      if (seen(before))
        its_.arrows.push_back({lane_of_[before], lane_of_[collective], before, collective});
  }

  /// Buckets of a cycle wait for the same end: the one that waits longest shows it.
  static void keep_outermost(TimelineLane& lane) {
    Nanoseconds until = 0;
    std::erase_if(lane.slices, [&](const TimelineSlice& slice) {
      const bool shown = slice.span.end <= until;
      until = std::max(until, slice.span.end);
      return shown;
    });
  }

  void put_in_order(TimelineLane& lane) const {
    std::stable_sort(lane.slices.begin(), lane.slices.end(),
                     [](const TimelineSlice& a, const TimelineSlice& b) {
                       return a.span.start != b.span.start ? a.span.start < b.span.start
                                                           : a.span.end > b.span.end;
                     });
    std::vector<Span> spans;
    for (const TimelineSlice& slice : lane.slices) spans.push_back(slice.span);
    if (const auto wrong = first_that_does_not_nest(spans))
      throw std::logic_error(
          "on lane '" + lane.name + "' '" + plan_.steps[lane.slices[wrong->second].step].name +
          "' begins inside '" + plan_.steps[lane.slices[wrong->first].step].name +
          "' and ends after it");
  }

  const Plan& plan_;
  TimelineClass its_;
  std::vector<std::size_t> lane_of_;  // by step
};

}  // namespace

Timeline make_timeline(const Plan& plan, const RunRecord& record) {
  if (!record.lost.empty()) throw std::logic_error("a run that never ended has no timeline");
  Timeline timeline;
  timeline.class_of = record.class_of;
  if (timeline.class_of.empty())
    for (std::size_t rank = 0; rank < record.steps.size(); ++rank)
      timeline.class_of.push_back(rank);
  std::vector<Sorter> sorters;
  std::size_t networks = 0;
  for (const auto& steps : record.steps) {
    sorters.emplace_back(plan, steps);
    networks = std::max(networks, sorters.back().place_collectives());
  }
  const auto uses = [&](Stream stream) {
    return std::any_of(plan.steps.begin(), plan.steps.end(), [&](const PlanStep& step) {
      return step.kind != StepKind::Collective && step.stream == stream;
    });
  };
  const std::vector<Nanoseconds> since = all_in(plan, record);
  for (Sorter& sorter : sorters)
    timeline.classes.push_back(
        sorter.take(uses(Stream::Side), uses(Stream::Clock), networks, since));
  timeline.links = record.links;
  if (!record.links_note.empty()) timeline.notes.push_back(record.links_note);
  return timeline;
}

}  // namespace gradcast
