#include "sim/lab/draws.hpp"

#include <algorithm>
#include <utility>

namespace gradcast::lab {

std::size_t Draws::below(std::size_t count) {
  const auto place = static_cast<std::size_t>(next() * static_cast<double>(count));
  return std::min(place, count - 1);
}

std::uint64_t selection_seed(std::uint64_t seed, std::uint64_t worker, std::uint64_t part,
                             std::uint64_t iteration) {
  // 52 random bits: enough that no two of a training's selections are alike by accident.
  return static_cast<std::uint64_t>(
      uniform({seed, worker << 32 | part, Draw::Selection, iteration}) * 0x1p52);
}

void shuffle(std::vector<std::uint32_t>& places, Draws draws) {
  for (std::size_t left = places.size(); left > 1; --left)
    std::swap(places[left - 1], places[draws.below(left)]);
}

}  // namespace gradcast::lab
