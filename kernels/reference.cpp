#include "kernels/reference.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

namespace gradcast {

void require_mode(std::string_view compressor, bool two_modes, Mode mode) {
  if (two_modes == (mode != Mode::Only)) return;
  throw std::invalid_argument(std::string(compressor) +
                              (two_modes ? " is defined by the paper and by its authors' code: "
                                           "Mode::Only says neither"
                                         : " has one definition: it takes Mode::Only alone"));
}

Cut k_largest(std::vector<Key> keys, std::int64_t k) {
  const auto kth = keys.begin() + (k - 1);
  std::nth_element(keys.begin(), kth, keys.end(), std::greater<>());
  // All that is above the k-th key now lies before it.
  return {*kth, k - std::count_if(keys.begin(), kth, [&](Key key) { return key > *kth; })};
}

Cut k_largest_magnitudes(std::span<const float> u, std::int64_t k) {
  std::vector<Key> keys(u.size());
  std::transform(u.begin(), u.end(), keys.begin(), magnitude_key);
  return k_largest(std::move(keys), k);
}

Cut all_from(Key least) { return {least, std::numeric_limits<std::int64_t>::max()}; }

std::int64_t count_from(std::span<const float> u, Key least) {
  return std::count_if(u.begin(), u.end(),
                       [&](float value) { return magnitude_key(value) >= least; });
}

Encoded emit(std::span<float> u, const SparseOutput& output, Cut cut) {
  return emit(u, output,
              [&](std::uint32_t, float value) { return cut.takes(magnitude_key(value)); });
}

// ---- moments: the order of additions is definitions.hpp's ---------------------------------------

namespace {

/// sums[i] + sums[i ^ o] for o = half the length, ..., 2, 1; as additions commute, sums[0] alone is
/// needed of each pair. The length is a power of two.
Moments add_in_tree(std::span<Moments> sums) {
  for (std::size_t o = sums.size() / 2; o > 0; o /= 2)
    for (std::size_t i = 0; i < o; ++i) sums[i] = sums[i] + sums[i + o];
  return sums[0];
}

Moments moments_of_tile(std::span<const float> tile, MomentsOf of) {
  std::array<Moments, kLanes> lanes;
  for (std::size_t r = 0; r < 8; ++r)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      for (std::size_t c = 0; c < 4; ++c) {
        const std::size_t i = 128 * r + 4 * lane + c;
        if (i < tile.size()) lanes[lane] = lanes[lane] + moments_of_element(tile[i], of);
      }
  return add_in_tree(lanes);
}

/// Up to 256 of them; missing ones are zero.
Moments add_tiles(std::span<const Moments> tiles) {
  std::array<Moments, kTreeWidth> all;
  std::copy(tiles.begin(), tiles.end(), all.begin());
  std::array<Moments, kTreeWidth / kLanes> warps;
  for (std::size_t warp = 0; warp < warps.size(); ++warp)
    warps[warp] = add_in_tree(std::span(all).subspan(warp * kLanes, kLanes));
  return add_in_tree(warps);
}

}  // namespace

Moments moments_of(std::span<const float> u, MomentsOf of) {
  std::vector<Moments> sums;
  for (std::size_t begin = 0; begin < u.size(); begin += kMomentElements)
    sums.push_back(moments_of_tile(
        u.subspan(begin, std::min<std::size_t>(kMomentElements, u.size() - begin)), of));
  while (sums.size() > 1) {
    std::vector<Moments> next;
    for (std::size_t begin = 0; begin < sums.size(); begin += kTreeWidth)
      next.push_back(add_tiles(
          std::span(sums).subspan(begin, std::min<std::size_t>(kTreeWidth, sums.size() - begin))));
    sums = std::move(next);
  }
  return sums.empty() ? Moments{} : sums[0];
}

}  // namespace gradcast
