#include "sim/import/kineto/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/statistics.hpp"

namespace gradcast::kineto {
namespace {

/// The least difference of clocks that is said: below it is what ranks end apart anyway.
constexpr Nanoseconds kClockMatters = 100'000;
/// Ends of the same collectives that lie further apart than this are not of one run.
constexpr Nanoseconds kMostSpread = 2'000'000;

/// Refuses ranks that have no step in common: nothing says that they are of one run.
void require_same_collectives(const std::vector<Rank>& ranks) {
  for (const Rank& rank : ranks)
    if (const std::string found = mismatch(rank.collectives, ranks.front().collectives);
        !found.empty())
      throw DataError(rank.file, 0,
                      "does not fit " + ranks.front().file + ": " + found +
                          "; give the ranks' files of the same steps of one run, or one rank's "
                          "file alone");
}

/// Whether a collective sends gradients, or parameters where these are sharded.
bool of_training(const CollectiveCall& call, bool sharded) {
  if (call.sends) return true;
  return sharded && (call.what.kind == CollectiveKind::AllGather ||
                     (call.what.kind == CollectiveKind::AllReduce && call.of_gradients));
}

/// Sets all ranks' clocks by the first one's.
void align_clocks(std::vector<Rank>& ranks, ImportNotes& notes) {
  for (Rank& rank : ranks) {
    const auto offset = clock_offset(ranks.front().collectives, rank.collectives);
    if (!offset) continue;
    if (offset->spread > kMostSpread)
      throw DataError(rank.file, 0,
                      "does not fit " + ranks.front().file +
                          ": the same collectives end on both ranks " +
                          to_text(Seconds{rounded_to(3, to_seconds(offset->spread).count())}) +
                          " apart even with the clocks aligned, so the files are of two runs, or a "
                          "clock was set in between");
    for (StepCollectives& step : rank.collectives)
      for (CollectiveCall& call : step.calls) {
        call.span.start -= offset->ahead;
        call.span.end -= offset->ahead;
      }
    if (std::abs(offset->ahead) >= kClockMatters)
      notes.inferred.push_back(
          "the clock of rank " + std::to_string(rank.head.rank) + " is " +
          to_text(Seconds{rounded_to(4, to_seconds(std::abs(offset->ahead)).count())}) +
          (offset->ahead > 0 ? " ahead of" : " behind") + " that of rank " +
          std::to_string(ranks.front().head.rank) +
          ", by the ends of their collectives; its dates are aligned");
  }
}

/// Brings the ranks' collectives together, step by step.
void set_shared(const std::vector<Rank>& ranks, Imported& imported) {
  std::map<CollectiveKind, std::pair<std::vector<double>, std::vector<double>>> sums;
  std::size_t steps = 0;
  for (const StepCollectives& first : ranks.front().collectives) {
    std::vector<StepCollectives> same;
    for (const Rank& rank : ranks)
      for (const StepCollectives& step : rank.collectives)
        if (step.step == first.step) same.push_back(step);
    if (same.size() != ranks.size()) continue;
    const std::vector<SharedCall> shared = shared_calls(same);
    if (shared.empty()) continue;
    ++steps;
    std::map<CollectiveKind, std::pair<double, double>> of_step;
    std::size_t bucket = 0;
    for (std::size_t i = 0; i < shared.size(); ++i) {
      of_step[shared[i].kind].first += to_seconds(shared[i].transfer).count();
      of_step[shared[i].kind].second += to_seconds(shared[i].skew).count();
      const CollectiveCall& call = same.front().calls[i];
      if (call.sends && call.what.elements > 0 && bucket < imported.transfers.size()) {
        ImportedTransfer& transfer = imported.transfers[bucket++];
        if (shared[i].transfer > 0)
          transfer.seconds = std::min(transfer.seconds, to_seconds(shared[i].transfer));
      }
    }
    for (const auto& [kind, its] : of_step) {
      sums[kind].first.push_back(its.first);
      sums[kind].second.push_back(its.second);
    }
  }
  if (steps == 0) {
    imported.notes.unknown.push_back(
        "how long data moved: no step has the same collectives in all ranks' files");
    return;
  }
  imported.transfers_with_waiting = static_cast<int>(ranks.size()) < imported.world_size;
  for (ImportedCollective& collective : imported.collectives)
    for (const auto& [kind, its] : sums)
      if (to_string(kind) == collective.name) {
        collective.transfer = Seconds{median(its.first)};
        collective.skew = Seconds{median(its.second)};
      }
  imported.notes.used.push_back(
      "the collectives of " + std::to_string(ranks.size()) +
      " ranks: data moves from the last one's start to the first one's end");
}

}  // namespace

void sort_ranks(std::vector<Rank>& ranks) {
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const Rank& a, const Rank& b) { return a.head.rank < b.head.rank; });
  std::set<int> seen;
  for (const Rank& rank : ranks) {
    if (ranks.size() > 1 && rank.head.rank < 0)
      throw DataError(rank.file, 0,
                      "does not say which rank it is (distributedInfo); import one rank's file");
    if (!seen.insert(rank.head.rank).second)
      throw DataError(rank.file, 0,
                      "is of rank " + std::to_string(rank.head.rank) +
                          ", as another of these files is; give each rank's file once");
    if (rank.head.world_size != ranks.front().head.world_size)
      throw DataError(rank.file, 0,
                      "is of a run of " + std::to_string(rank.head.world_size) + " ranks, and " +
                          ranks.front().file + " of one of " +
                          std::to_string(ranks.front().head.world_size));
  }
}

void note_world(const std::vector<Rank>& ranks, Imported& imported) {
  const Rank& rank = ranks.front();
  imported.world_size = std::max(1, rank.head.world_size);
  int named = 0;  // ranks of the group that the trace calls the data-parallel one
  for (const StepCollectives& step : rank.collectives)
    for (const CollectiveCall& call : step.calls) {
      const auto size =
          static_cast<int>(std::clamp<std::int64_t>(call.what.group_size, 1, 1'000'000));
      imported.world_size = std::max(imported.world_size, size);
      if (call.data_parallel) named = std::max(named, size);
    }
  if (named > 0 && rank.shards) named = std::max(named, rank.shards->group * rank.shards->copies);
  if (named > 0 && named < imported.world_size) {
    imported.notes.dropped.push_back(
        "everything but the data-parallel group of " + std::to_string(named) + " of " +
        std::to_string(imported.world_size) +
        " ranks: the model is this rank's part, and what other groups send is in no forecast");
    imported.world_size = named;
  }
  if (imported.world_size > 1 && ranks.size() == 1)
    imported.notes.unknown.push_back(
        "one rank only, of " + std::to_string(imported.world_size) +
        ": collectives include waiting for the others; give all ranks' files to tell them apart");
  else if (static_cast<int>(ranks.size()) < imported.world_size)
    imported.notes.unknown.push_back(std::to_string(ranks.size()) + " of " +
                                     std::to_string(imported.world_size) +
                                     " ranks: collectives may include waiting for the others");
  std::size_t others = 0;
  for (const CollectiveCall& call : rank.collectives.front().calls)
    others +=
        !of_training(call, rank.shards.has_value()) && (rank.shards || !broadcasts_buffers(call));
  if (others > 0)
    imported.notes.dropped.push_back(std::to_string(others) +
                                     " collectives a step that send no gradients");
}

void share_collectives(std::vector<Rank>& ranks, Imported& imported) {
  require_same_collectives(ranks);
  align_clocks(ranks, imported.notes);
  set_shared(ranks, imported);
}

}  // namespace gradcast::kineto
