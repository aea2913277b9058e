// Whether two engines gave the same record of a run.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/engine/iteration_result.hpp"

namespace gradcast {

/// Largest difference of times, as a share of the run.
inline constexpr double kSameTime = 1e-9;

/// Largest difference of the bytes that a link has carried up to some moment, as a share of those
/// on the busiest link.
inline constexpr double kSameLoad = 1e-6;

inline Seconds end_of(const RunRecord& record) {
  Seconds end{0};
  for (const auto& steps : record.steps)
    for (const Interval& interval : steps) end = std::max(end, interval.end);
  return end;
}

/// Bytes that a link carries from the beginning up to `until`.
inline double carried(const LinkLoad& link, Seconds until) {
  double bytes = 0;
  for (std::size_t i = 0; i < link.changes.size() && link.changes[i].at < until; ++i) {
    const Seconds next = i + 1 < link.changes.size() ? link.changes[i + 1].at : until;
    bytes += link.changes[i].rate.value * (std::min(next, until) - link.changes[i].at).count();
  }
  return bytes;
}

inline std::string difference_of_loads(const RunRecord& a, const RunRecord& b, Seconds end) {
  std::map<std::string, LinkLoad> loads[2];
  std::map<std::string, std::set<double>> dates;
  double most = 0;
  const RunRecord* records[] = {&a, &b};
  for (int which = 0; which < 2; ++which)
    for (const LinkLoad& link : records[which]->links) {
      loads[which][link.name] = link;
      most = std::max(most, carried(link, end));
      for (const LoadChange& change : link.changes) dates[link.name].insert(change.at.count());
      dates[link.name].insert(end.count());
    }
  for (const auto& [name, moments] : dates)
    for (const double moment : moments) {
      const double first = carried(loads[0][name], Seconds{moment});
      const double second = carried(loads[1][name], Seconds{moment});
      if (std::abs(first - second) <= kSameLoad * most) continue;
      std::ostringstream said;
      said.precision(15);
      said << name << " has carried " << first << " and " << second << " B at " << moment << " s";
      return said.str();
    }
  return a.links_note == b.links_note ? "" : "notes '" + a.links_note + "', '" + b.links_note + "'";
}

/// The first difference between two records of a plan that a person should look at; "" where there
/// is none. `slack`: how far times may be apart; not given: kSameTime of the run.
inline std::string difference_of(const Plan& plan, const RunRecord& a, const RunRecord& b,
                                 std::optional<Seconds> slack = {}) {
  if (a.lost != b.lost) return "lost: '" + a.lost + "', '" + b.lost + "'";
  if (a.flows_simulated != b.flows_simulated)
    return "flows: " + std::to_string(a.flows_simulated) + ", " + std::to_string(b.flows_simulated);
  // An engine may play ranks once that nothing tells apart: it is the ranks that count.
  const auto ranks_of = [](const RunRecord& record) {
    return record.class_of.empty() ? record.steps.size() : record.class_of.size();
  };
  if (ranks_of(a) != ranks_of(b)) return "another number of ranks";
  const Seconds end = end_of(a);
  std::ostringstream said;
  said.precision(15);
  const auto differ = [&](const char* what, Seconds first, Seconds second) {
    if (std::abs((first - second).count()) <= slack.value_or(kSameTime * end).count()) return false;
    said << what << " " << first.count() << ", " << second.count() << " s";
    return true;
  };
  for (std::size_t rank = 0; rank < ranks_of(a); ++rank) {
    const std::vector<Interval>& first = a.of_rank(rank);
    const std::vector<Interval>& second = b.of_rank(rank);
    if (first.size() != second.size()) return "another number of steps";
    for (std::size_t step = 0; step < first.size(); ++step)
      if (differ("start", first[step].start, second[step].start) ||
          differ("end", first[step].end, second[step].end))
        return "rank " + std::to_string(rank) + ", step " + plan.steps.at(step).name + ": " +
               said.str();
  }
  const IterationResult parts[] = {summarize(plan, a), summarize(plan, b)};
  constexpr std::pair<const char*, Seconds IterationResult::*> kParts[] = {
      {"iteration", &IterationResult::iteration},
      {"forward", &IterationResult::forward},
      {"backward", &IterationResult::backward},
      {"encode", &IterationResult::encode},
      {"communication", &IterationResult::communication},
      {"exposed communication", &IterationResult::exposed_communication},
      {"decode", &IterationResult::decode},
      {"update", &IterationResult::update},
      {"overhead", &IterationResult::overhead},
      {"wait", &IterationResult::wait},
      {"hidden codec", &IterationResult::hidden_codec}};
  // If two ranks finish last together, rounding decides from which of them parts are seen.
  const bool same_rank = parts[0].rank == parts[1].rank;
  for (const auto& [name, part] : kParts)
    if (same_rank && differ(name, parts[0].*part, parts[1].*part)) return said.str();
  return difference_of_loads(a, b, end);
}

/// Whether a run depends on the order of two events at the same date. Durations that are longer by
/// some picoseconds then change it by more than 10 ns. `play` plays a plan.
template <class Play>
bool hangs_on_a_tie(const Plan& plan, const RunRecord& record, Play play) {
  for (const std::size_t pattern : {2, 3, 5, 7}) {
    Plan other = plan;
    for (std::size_t i = 0; i < other.steps.size(); ++i)
      other.steps[i].duration += Seconds{5e-12 * static_cast<double>((i * 31 + 7) % 97 % pattern)};
    RunRecord moved = play(other);
    moved.links = record.links;  // the loads of links move with the times
    moved.links_note = record.links_note;
    if (!difference_of(plan, moved, record, Seconds{1e-8}).empty()) return true;
  }
  return false;
}

}  // namespace gradcast
