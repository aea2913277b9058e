#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/plan/merging.hpp"

namespace gradcast {

Seconds end_of_cycle(Seconds ready, Seconds cycle) {
  constexpr double kSame = 1e-9;  // of a cycle: sums differ by less in the order they are made
  return std::max(1.0, std::ceil(ready / cycle - kSame)) * cycle;
}

std::vector<Bucket> merge_in_cycles(const Model& model, const std::vector<Seconds>& ready,
                                    Seconds cycle, Bytes most) {
  if (ready.size() != model.tensors.size())
    throw std::logic_error("not every gradient has a time when it is ready");
  std::vector<Bucket> buckets;
  Seconds taken{0};  // when the last bucket is
  for (std::size_t i = model.tensors.size(); i-- > 0;) {
    if (model.tensors[i].frozen) continue;
    Bucket alone;
    alone.add(model, i);
    const Seconds its = end_of_cycle(ready[i], cycle);
    if (buckets.empty() || its != taken || buckets.back().bytes + alone.bytes > most)
      buckets.push_back(std::move(alone));
    else
      buckets.back().add(model, i);
    taken = its;
  }
  return buckets;
}

}  // namespace gradcast
