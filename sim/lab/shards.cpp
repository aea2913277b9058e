#include "sim/lab/shards.hpp"

#include <numeric>

#include "sim/lab/draws.hpp"

namespace gradcast::lab {

Shards::Shards(std::uint64_t seed, std::size_t samples, int workers, int batch)
    : seed_(seed),
      batch_(static_cast<std::size_t>(batch)),
      shard_size_(samples / static_cast<std::size_t>(workers)),
      iterations_(static_cast<int>(shard_size_ / batch_)),
      places_(samples) {
  std::iota(places_.begin(), places_.end(), 0u);
  shuffle(places_, Draws(seed, Draw::Shards));
}

std::vector<std::uint32_t> Shards::batch_of(int worker, int iteration) const {
  const auto first = places_.begin() + static_cast<std::ptrdiff_t>(worker * shard_size_);
  std::vector<std::uint32_t> shard(first, first + static_cast<std::ptrdiff_t>(shard_size_));
  // Of a worker and an epoch.
  const auto part = static_cast<std::uint64_t>(worker) << 32 |
                    static_cast<std::uint64_t>(iteration / iterations_);
  shuffle(shard, Draws(seed_, Draw::Epoch, part));
  const auto begin =
      shard.begin() + (iteration % iterations_) * static_cast<std::ptrdiff_t>(batch_);
  return {begin, begin + static_cast<std::ptrdiff_t>(batch_)};
}

}  // namespace gradcast::lab
