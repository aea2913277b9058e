#include "sim/import/kineto/collectives.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"

namespace gradcast::kineto {
namespace {

struct Sum {
  double count = 0;
  double bytes = 0;
  double seconds = 0;
};

struct Reason {
  CollectiveKind kind;
  const char* what;
};

constexpr std::array kReasons = {
    Reason{CollectiveKind::AllToAll,
           "expert or embedding parallelism, where ranks hold different parameters"},
    Reason{CollectiveKind::SendReceive,
           "a pipeline or a sharded embedding, where ranks hold different parameters"},
    Reason{CollectiveKind::ReduceScatter, "ZeRO without parameters gathered in the forward pass"},
    Reason{CollectiveKind::AllGather,
           "ZeRO or synchronised batch normalisation, which send more than gradients"},
};

/// "all-reduce of 48 elements".
std::string told(const Collective& what) {
  std::string text = to_string(what.kind);
  if (what.elements >= 0) text += " of " + std::to_string(what.elements) + " elements";
  return text;
}

/// An int32 a parameter. Compressed gradients may be whole numbers too, of fewer bytes.
bool tells_used_parameters(const Collective& what) {
  return what.kind == CollectiveKind::AllReduce && what.whole_numbers && what.element_bytes == 4;
}

void mark_sends(StepCollectives& step) {
  const auto is = [](const CollectiveCall& call, CollectiveKind kind) {
    return call.of_gradients && call.what.kind == kind;
  };
  const bool scatters = std::any_of(
      step.calls.begin(), step.calls.end(),
      [&](const CollectiveCall& call) { return is(call, CollectiveKind::ReduceScatter); });
  for (CollectiveCall& call : step.calls)
    call.sends = is(call, scatters ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce);
}

/// "ProfilerStep#4 to ProfilerStep#6".
std::string range_of(const std::vector<StepCollectives>& steps) {
  if (steps.empty()) return "none";
  if (steps.size() == 1) return steps.front().step;
  return steps.front().step + " to " + steps.back().step;
}

}  // namespace

bool names_data_parallel(std::string_view description) {
  std::string text = in_lower_case(description);
  if (text.find("data_parallel") != std::string::npos) return true;
  for (char& letter : text)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = ' ';
  for (const std::string& word : split_words(text, ' '))
    if (word == "dp" || word == "ddp" || word == "fsdp") return true;
  return false;
}

bool has_data_parallel_group(const Recording& recording) {
  return std::any_of(
      recording.collectives.begin(), recording.collectives.end(),
      [&](const Collective& one) { return names_data_parallel(recording.names.text(one.group)); });
}

std::vector<StepCollectives> collectives_of_steps(const Recording& recording, const Steps& steps,
                                                  bool only_used) {
  std::vector<const Step*> wanted;
  for (const Step& step : steps.steps)
    if (step.used || !only_used) wanted.push_back(&step);
  const bool named = has_data_parallel_group(recording);
  std::vector<StepCollectives> all;
  for (const Step* step : wanted) all.push_back({step->name, {}});
  std::vector<std::vector<std::pair<Nanoseconds, CollectiveCall>>> calls(wanted.size());
  for (const GpuOperation& operation : recording.gpu) {
    if (operation.collective < 0 || !operation.linked) continue;
    const auto after = std::upper_bound(
        wanted.begin(), wanted.end(), operation.launched,
        [](Nanoseconds date, const Step* step) { return date < step->host.start; });
    if (after == wanted.begin() || operation.launched >= (*(after - 1))->host.end) continue;
    const Collective& what = recording.collectives[static_cast<std::size_t>(operation.collective)];
    const bool data_parallel = names_data_parallel(recording.names.text(what.group));
    calls[static_cast<std::size_t>(after - 1 - wanted.begin())].emplace_back(
        operation.launched,
        CollectiveCall{{operation.start + recording.head.base, operation.end + recording.head.base},
                       what,
                       operation.phase == Phase::Backward && (data_parallel || !named) &&
                           !tells_used_parameters(what),
                       data_parallel,
                       operation.phase,
                       operation.launched});
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::stable_sort(calls[i].begin(), calls[i].end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [launched, call] : calls[i]) all[i].calls.push_back(call);
    mark_sends(all[i]);
  }
  return all;
}

std::vector<std::int64_t> buckets_of(const StepCollectives& step) {
  std::vector<std::int64_t> buckets;
  for (const CollectiveCall& call : step.calls) {
    if (!call.sends) continue;
    if (call.what.elements < 1) return {};
    buckets.push_back(call.what.elements);
  }
  return buckets;
}

bool tells_used_parameters(const CollectiveCall& call) {
  return call.phase == Phase::Backward && tells_used_parameters(call.what);
}

bool broadcasts_buffers(const CollectiveCall& call) {
  return call.what.kind == CollectiveKind::Broadcast && call.phase == Phase::Forward;
}

BroadcastBytes broadcast_in_forward(const std::vector<StepCollectives>& steps) {
  std::vector<double> numbers, counters;
  for (const StepCollectives& step : steps) {
    numbers.push_back(0);
    counters.push_back(0);
    for (const CollectiveCall& call : step.calls)
      if (broadcasts_buffers(call) && call.what.elements > 0)
        (call.what.whole_numbers ? counters : numbers).back() +=
            static_cast<double>(call.what.elements) * call.what.element_bytes;
  }
  if (steps.empty()) return {};
  return {static_cast<std::int64_t>(median(numbers)), static_cast<std::int64_t>(median(counters))};
}

std::vector<ImportedCollective> summary_of(const std::vector<StepCollectives>& steps) {
  std::map<CollectiveKind, std::vector<Sum>> sums;
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (const CollectiveCall& call : steps[i].calls) {
      std::vector<Sum>& of_kind = sums[call.what.kind];
      of_kind.resize(steps.size());
      of_kind[i].count += 1;
      if (call.what.elements > 0)
        of_kind[i].bytes += static_cast<double>(call.what.elements) * call.what.element_bytes;
      of_kind[i].seconds += to_seconds(call.span.end - call.span.start).count();
    }
  std::vector<ImportedCollective> summary;
  for (const auto& [kind, of_kind] : sums) {
    const auto median_of = [&steps = of_kind](double Sum::*member) {
      std::vector<double> values;
      for (const Sum& sum : steps) values.push_back(sum.*member);
      return median(values);
    };
    summary.push_back({to_string(kind), static_cast<int>(median_of(&Sum::count)),
                       Bytes{static_cast<std::int64_t>(median_of(&Sum::bytes))},
                       Seconds{median_of(&Sum::seconds)}});
  }
  return summary;
}

std::string difference(const StepCollectives& here, const StepCollectives& there) {
  if (here.calls.size() != there.calls.size())
    return "the collectives of " + here.step + " are " + std::to_string(here.calls.size()) +
           " here and " + std::to_string(there.calls.size()) + " there";
  for (std::size_t i = 0; i < here.calls.size(); ++i) {
    const Collective &its = here.calls[i].what, &other = there.calls[i].what;
    // All ranks of an all-reduce hand over as much.
    const bool sized =
        its.kind == CollectiveKind::AllReduce && its.elements >= 0 && other.elements >= 0;
    if (its.kind == other.kind && !(sized && its.elements != other.elements)) continue;
    return "collective " + std::to_string(i + 1) + " of " + here.step + " is " + told(its) +
           " here and " + told(other) + " there";
  }
  return "";
}

std::string mismatch(const std::vector<StepCollectives>& here,
                     const std::vector<StepCollectives>& there) {
  std::string first;
  for (const StepCollectives& its : here)
    for (const StepCollectives& other : there) {
      if (its.step != other.step) continue;
      const std::string found = difference(its, other);
      if (found.empty()) return "";
      if (first.empty()) first = found;
    }
  if (!first.empty()) return first;
  return "the steps here are " + range_of(here) + ", and there " + range_of(there);
}

std::vector<SharedCall> shared_calls(const std::vector<StepCollectives>& ranks) {
  if (ranks.size() < 2) return {};
  std::vector<SharedCall> shared;
  for (const StepCollectives& rank : ranks)
    if (!difference(rank, ranks.front()).empty()) return {};
  for (std::size_t i = 0; i < ranks.front().calls.size(); ++i) {
    const CollectiveCall& first = ranks.front().calls[i];
    SharedCall call{first.what.kind, first.span.end - first.span.start, 0, 0, 0};
    Nanoseconds first_start = first.span.start, last_start = first.span.start;
    Nanoseconds first_end = first.span.end;
    for (const StepCollectives& rank : ranks) {
      const CollectiveCall& its = rank.calls[i];
      const Nanoseconds length = its.span.end - its.span.start;
      call.shortest = std::min(call.shortest, length);
      call.longest = std::max(call.longest, length);
      first_start = std::min(first_start, its.span.start);
      last_start = std::max(last_start, its.span.start);
      first_end = std::min(first_end, its.span.end);
    }
    call.transfer = std::max<Nanoseconds>(0, first_end - last_start);
    call.skew = last_start - first_start;
    shared.push_back(call);
  }
  return shared;
}

std::optional<ClockOffset> clock_offset(const std::vector<StepCollectives>& first,
                                        const std::vector<StepCollectives>& rank) {
  std::vector<Nanoseconds> reductions, others;
  for (const StepCollectives& its : first)
    for (const StepCollectives& step : rank) {
      if (step.step != its.step || !difference(step, its).empty()) continue;
      for (std::size_t i = 0; i < step.calls.size(); ++i) {
        const bool reduces = step.calls[i].what.kind == CollectiveKind::AllReduce;
        (reduces ? reductions : others).push_back(step.calls[i].span.end - its.calls[i].span.end);
      }
    }
  std::vector<Nanoseconds>& ends = reductions.empty() ? others : reductions;
  if (ends.empty()) return std::nullopt;
  const auto middle = [](std::vector<Nanoseconds>& values) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  ClockOffset offset;
  offset.ahead = middle(ends);
  for (Nanoseconds& end : ends) end = std::abs(end - offset.ahead);
  offset.spread = middle(ends);
  return offset;
}

void refuse_hybrids(const Recording& recording, const std::vector<StepCollectives>& steps,
                    int world_size, bool sharded) {
  const auto refuse = [&](const std::string& found, const std::string& meaning) {
    throw DataError(
        recording.file, 0,
        "is no plain data-parallel run: it has " + found + ", which tells of " + meaning +
            "; import reads data-parallel runs, plain or fully sharded (FSDP). For ZeRO import a "
            "plain run of the model, and forecast it with --sharding");
  };
  const bool named = has_data_parallel_group(recording);
  if (recording.on_host_to_all && !named) refuse("nccl:all_to_all", kReasons[0].what);
  for (const StepCollectives& step : steps)
    for (const CollectiveCall& call : step.calls) {
      if (named && !call.data_parallel) continue;
      const bool shards = call.what.kind == CollectiveKind::AllGather ||
                          call.what.kind == CollectiveKind::ReduceScatter;
      if (sharded && (shards || call.what.kind == CollectiveKind::AllReduce)) continue;
      for (const Reason& reason : kReasons)
        if (call.what.kind == reason.kind)
          refuse("'" + to_string(call.what.kind) + "' in " + step.step, reason.what);
      if (call.what.kind == CollectiveKind::AllReduce && call.what.group_size > 0 &&
          world_size > 0 && call.what.group_size < world_size && !named)
        refuse("all-reduces among " + std::to_string(call.what.group_size) + " of " +
                   std::to_string(world_size) + " ranks",
               "tensor parallelism or a mesh of groups");
    }
}

}  // namespace gradcast::kineto
