#include <algorithm>

#include "sim/plan/merging.hpp"

namespace gradcast {

std::vector<Bucket> merge_mg_wfbp(const Model& model, const IterationTrace& trace,
                                  const PlannerNetwork& network) {
  require_same_tensors(model, trace);
  std::vector<Bucket> buckets;
  Bucket open;
  Seconds start{0};         // of the open bucket's collective
  Seconds network_free{0};  // after all closed ones
  Seconds ready{0};         // when backward is done so far
  for (std::size_t i = model.tensors.size(); i-- > 0;) {
    ready += trace.tensors[i].backward;
    if (model.tensors[i].frozen) continue;
    if (!open.tensors.empty() && ready - start >= network.startup) {
      const auto bytes = static_cast<double>(open.bytes.count);
      network_free = start + (network.startup + bytes * network.per_byte);
      buckets.push_back(std::move(open));
      open = {};
    }
    open.add(model, i);
    start = std::max(network_free, ready);
  }
  if (!open.tensors.empty()) buckets.push_back(std::move(open));
  return buckets;
}

}  // namespace gradcast
