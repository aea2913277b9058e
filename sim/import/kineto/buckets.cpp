#include "sim/import/kineto/buckets.hpp"

#include <algorithm>

namespace gradcast::kineto {
namespace {

/// The least that each all-reduce took, where the trace does not say how much it sent: the k-th
/// largest gradient is taken to be what took the k-th longest.
void pair_by_size(const Rank& rank, int element_bytes, Imported& imported) {
  std::vector<Seconds> least;
  for (const StepCollectives& step : rank.collectives) {
    std::size_t number = 0;
    for (const CollectiveCall& call : step.calls) {
      if (!call.of_gradients || call.what.kind != CollectiveKind::AllReduce) continue;
      const Seconds seconds = to_seconds(call.span.end - call.span.start);
      if (number == least.size()) least.push_back(seconds);
      least[number] = std::min(least[number], seconds);
      ++number;
    }
  }
  std::vector<std::int64_t> sizes = imported.buckets;
  if (least.size() != sizes.size()) return;
  std::sort(sizes.begin(), sizes.end());
  std::sort(least.begin(), least.end());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    imported.transfers.push_back({Bytes{sizes[i] * element_bytes}, least[i]});
}

}  // namespace

void set_buckets(const std::vector<StepCollectives>& steps, int element_bytes, Imported& imported) {
  for (const StepCollectives& step : steps)
    if (std::any_of(step.calls.begin(), step.calls.end(), tells_used_parameters))
      imported.finds_unused = true;
  for (const StepCollectives& step : steps) {
    const std::vector<std::int64_t> its = buckets_of(step);
    if (imported.buckets.empty()) imported.buckets = its;
    if (its != imported.buckets) {
      imported.notes.unknown.push_back("buckets differ from step to step; those of " +
                                       steps.front().step + " are told");
      break;
    }
  }
  // The least a bucket took: in one step or another ranks came together.
  for (const StepCollectives& step : steps) {
    std::size_t number = 0;
    for (const CollectiveCall& call : step.calls) {
      if (!call.sends || call.what.elements < 1) continue;
      const Seconds seconds = to_seconds(call.span.end - call.span.start);
      if (number == imported.transfers.size())
        imported.transfers.push_back({Bytes{call.what.elements * element_bytes}, seconds});
      imported.transfers[number].seconds = std::min(imported.transfers[number].seconds, seconds);
      ++number;
    }
  }
}

void set_buckets_by_calls(const StepGradients& step, const Sizes& sizes, Imported& imported) {
  const int begin = step.gradients.front().bucket;
  const int calls = step.gradients.back().bucket - begin;
  if (calls <= 0) return;
  imported.buckets.resize(static_cast<std::size_t>(calls) + 1);
  for (std::size_t i = 0; i < sizes.elements.size(); ++i)
    imported.buckets[static_cast<std::size_t>(step.gradients[i].bucket - begin)] +=
        sizes.elements[i];
}

void set_separate_sends(const Rank& rank, const Sizes& sizes, int element_bytes,
                        Imported& imported) {
  imported.buckets = sizes.elements;
  pair_by_size(rank, element_bytes, imported);
  imported.notes.inferred.push_back(
      "each gradient is sent by itself, by a backward pass that was compiled with its all-reduces: "
      "backward ends where the first is sent, and copies of gradients behind it count as update");
  imported.notes.inferred.push_back(
      "what each all-reduce sent: the trace does not say, so the largest gradient is taken for the "
      "one that took longest, and so on");
}

}  // namespace gradcast::kineto
