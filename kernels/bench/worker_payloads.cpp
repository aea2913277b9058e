#include "kernels/bench/worker_payloads.hpp"

#include <algorithm>

namespace gradcast {
namespace {

WorkerSets::Set turned(const SparseSet& set, std::int64_t elements, std::int64_t by) {
  WorkerSets::Set result{{set.values.begin(), set.values.end()},
                         {set.indices.begin(), set.indices.end()}};
  // Indices that pass the end wrap around and come first.
  const auto over = std::lower_bound(set.indices.begin(), set.indices.end(), elements - by);
  const auto stay = over - set.indices.begin();
  for (std::int32_t& index : result.indices)
    index = static_cast<std::int32_t>((index + by) % elements);
  std::rotate(result.indices.begin(), result.indices.begin() + stay, result.indices.end());
  std::rotate(result.values.begin(), result.values.begin() + stay, result.values.end());
  return result;
}

}  // namespace

WorkerSets::WorkerSets(const std::vector<std::int64_t>& elements,
                       const std::vector<SparseSet>& selected, int workers) {
  std::int64_t bytes = 0;
  for (const SparseSet& set : selected) bytes += static_cast<std::int64_t>(set.indices.size()) * 8;
  distinct_ = static_cast<int>(
      std::clamp<std::int64_t>(kMostBytes / std::max<std::int64_t>(bytes, 1), 1, workers));
  for (std::size_t t = 0; t < selected.size(); ++t)
    for (int worker = 0; worker < distinct_; ++worker)
      sets_.push_back(turned(selected[t], elements[t], elements[t] * worker / distinct_));
}

const WorkerSets::Set& WorkerSets::of(std::size_t tensor, int worker) const {
  return sets_[tensor * static_cast<std::size_t>(distinct_) +
               static_cast<std::size_t>(worker % distinct_)];
}

std::int64_t payload_words(const Packing& packing, const BenchPoint& point) {
  std::int64_t words = 0;
  for (const std::int64_t elements : point.tensors)
    words += packing.words(elements, point.parameter);
  return words;
}

int distinct_payloads(const Packing& packing, const BenchPoint& point, int workers) {
  const std::int64_t fit = WorkerSets::kMostBytes / (4 * payload_words(packing, point));
  return static_cast<int>(std::clamp<std::int64_t>(fit, 1, workers));
}

std::int64_t payload_bytes(const Packing& packing, const BenchPoint& point) {
  if (point.workers.empty()) return 0;
  const int most = *std::max_element(point.workers.begin(), point.workers.end());
  return 4 * payload_words(packing, point) * distinct_payloads(packing, point, most);
}

}  // namespace gradcast
