#include "kernels/bench/payloads.hpp"

#include <algorithm>

#include "kernels/bench/worker_sets.hpp"

namespace gradcast {

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
