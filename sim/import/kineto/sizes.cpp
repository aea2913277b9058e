#include "sim/import/kineto/sizes.hpp"

#include <algorithm>
#include <numeric>

#include "sim/import/kineto/event.hpp"

namespace gradcast::kineto {
namespace {

bool fits(std::int64_t elements, std::int64_t room) {
  return elements > 0 && elements <= room && room - elements < kElementsOfBlock;
}

/// Exact sizes, from DDP's copies out of its buckets back into the gradients, in the same order.
/// They are trusted only if they agree with the copies into the buckets.
std::vector<std::int64_t> copied_sizes(const StepGradients& step, int element_bytes) {
  if (step.copied_back.size() != step.gradients.size() || element_bytes < 1) return {};
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < step.gradients.size(); ++i) {
    const std::int64_t bytes = step.copied_back[i];
    const std::int64_t room = step.gradients[i].room;
    if (bytes <= 0 || bytes % element_bytes != 0) return {};
    if (room > 0 && !fits(bytes / element_bytes, room)) return {};
    sizes.push_back(bytes / element_bytes);
  }
  return sizes;
}

/// Per-tensor optimizers launch the same few kernels for each tensor, in the order of the model.
std::vector<std::int64_t> optimizer_sizes(const StepGradients& step) {
  const std::size_t count = step.gradients.size();
  const auto& rooms = step.optimizer_rooms;
  if (count == 0 || rooms.empty() || rooms.size() % count != 0) return {};
  const std::size_t each = rooms.size() / count;
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = rooms.begin() + static_cast<std::ptrdiff_t>(i * each);
    if (std::any_of(first, first + static_cast<std::ptrdiff_t>(each),
                    [&](std::int64_t room) { return room != *first; }))
      return {};
    sizes.push_back(*first);
  }
  // The optimizer goes forward, gradients are done backward. Those of one node come in its order.
  std::vector<std::int64_t> ready(count);
  std::size_t forward = 0;
  for (std::size_t end = count; end > 0;) {
    std::size_t begin = end - 1;
    while (begin > 0 && step.gradients[begin - 1].group == step.gradients[begin].group) --begin;
    for (std::size_t i = begin; i < end; ++i) ready[i] = sizes[forward++];
    end = begin;
  }
  return ready;
}

/// The gradients of each bucket, by the number of buckets handed over before.
std::vector<std::vector<std::size_t>> members_of(const StepGradients& step, std::size_t buckets) {
  std::vector<std::vector<std::size_t>> members(buckets);
  if (step.gradients.empty()) return {};
  const int first = step.gradients.front().bucket;
  for (std::size_t i = 0; i < step.gradients.size(); ++i) {
    const auto bucket = static_cast<std::size_t>(step.gradients[i].bucket - first);
    if (bucket >= buckets) return {};
    members[bucket].push_back(i);
  }
  return members;
}

bool add_up(const std::vector<std::int64_t>& sizes, const StepGradients& step,
            const std::vector<std::int64_t>& buckets) {
  const auto members = members_of(step, buckets.size());
  if (members.empty()) return false;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    std::int64_t sum = 0;
    for (const std::size_t i : members[b]) sum += sizes[i];
    if (sum != buckets[b]) return false;
  }
  return true;
}

/// The rooms, cut so that each bucket has the sum that NCCL was given.
std::vector<std::int64_t> bucket_sizes(const std::vector<std::int64_t>& rooms,
                                       const StepGradients& step,
                                       const std::vector<std::int64_t>& buckets,
                                       std::int64_t most) {
  std::vector<std::int64_t> sizes(rooms.size());
  const auto members = members_of(step, buckets.size());
  if (members.empty()) return {};
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    std::vector<std::int64_t> its;
    for (const std::size_t i : members[b]) its.push_back(rooms[i]);
    const std::vector<std::int64_t> fitted = fitted_to_sum(its, buckets[b], most);
    if (fitted.empty()) return {};
    for (std::size_t i = 0; i < fitted.size(); ++i) sizes[members[b][i]] = fitted[i];
  }
  return sizes;
}

/// Sizes within the rooms of kernels. Known sums of buckets also reveal kernels whose threads take
/// 8 or 16 elements instead of 4. If no such kernel fits the sums, the rooms are of something else,
/// and nothing follows from them.
Sizes from_rooms(const std::vector<std::int64_t>& rooms, const StepGradients& step,
                 const std::vector<std::int64_t>& buckets, const std::string& how) {
  const auto within = [](std::int64_t most) { return ", each to within " + std::to_string(most); };
  if (buckets.empty()) return {ShapesFrom::Inferred, rooms, how + within(kElementsOfBlock - 1)};
  for (const std::int64_t factor : {1, 2, 4}) {
    std::vector<std::int64_t> larger;
    for (const std::int64_t room : rooms) larger.push_back(room * factor);
    const std::int64_t most = factor * kElementsOfBlock - 1;
    if (const auto sizes = bucket_sizes(larger, step, buckets, most); !sizes.empty())
      return {ShapesFrom::Inferred, sizes,
              how + within(most) + "; they add up to what NCCL was given"};
  }
  return {};
}

}  // namespace

std::vector<std::int64_t> fitted_to_sum(const std::vector<std::int64_t>& rooms, std::int64_t sum,
                                        std::int64_t most) {
  std::int64_t left = -sum;  // to take away
  for (const std::int64_t room : rooms) left += room;
  std::vector<std::size_t> order(rooms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rooms[a] < rooms[b]; });
  std::vector<std::int64_t> sizes = rooms;
  const auto can_give = [&](std::size_t i) { return std::min(most, rooms[i] - 1); };
  for (std::size_t begin = 0; begin < order.size() && left > 0;) {
    std::size_t end = begin;
    while (end < order.size() && rooms[order[end]] == rooms[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t share = left / static_cast<std::int64_t>(end - i);
      const std::int64_t rest = left % static_cast<std::int64_t>(end - i) > 0 ? 1 : 0;
      const std::int64_t given = std::min(can_give(order[i]), share + rest);
      sizes[order[i]] -= given;
      left -= given;
    }
    begin = end;
  }
  return left == 0 ? sizes : std::vector<std::int64_t>{};
}

Sizes sizes_of(const StepGradients& step, const std::vector<std::int64_t>& buckets,
               int element_bytes) {
  if (step.gradients.empty()) return {};
  const auto all = [&](auto member) {
    std::vector<std::int64_t> sizes;
    for (const Gradient& gradient : step.gradients)
      if (gradient.*member > 0) sizes.push_back(gradient.*member);
    return sizes.size() == step.gradients.size() ? sizes : std::vector<std::int64_t>{};
  };
  if (const auto recorded = all(&Gradient::recorded); !recorded.empty())
    return {ShapesFrom::Recorded, recorded, "the shapes of AccumulateGrad"};
  if (const auto copied = copied_sizes(step, element_bytes); !copied.empty()) {
    const bool checked = !buckets.empty() && add_up(copied, step, buckets);
    if (buckets.empty() || checked)
      return {ShapesFrom::Inferred, copied,
              std::string("the bytes that DDP copied from its buckets back into each gradient") +
                  (checked ? "; they add up to what NCCL was given" : "")};
  }
  if (const auto rooms = all(&Gradient::room); !rooms.empty())
    return from_rooms(rooms, step, buckets, "the launch grids of DDP's copies into its buckets");
  if (const auto rooms = optimizer_sizes(step); !rooms.empty())
    return from_rooms(rooms, step, buckets, "the launch grids of the optimizer's kernels");
  return {};
}

}  // namespace gradcast::kineto
