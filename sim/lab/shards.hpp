// Which samples a worker takes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace gradcast::lab {

/// All samples, in a random order, divided evenly among the workers once and for all; what remains
/// is left out. Each epoch goes through a shard in a new order. What is left of a shard after its
/// last whole batch is left out too.
class Shards {
 public:
  Shards(std::uint64_t seed, std::size_t samples, int workers, int batch);

  /// 0 where a worker has less than one batch.
  int iterations_in_epoch() const { return iterations_; }

  /// The samples of a worker's batch. `iteration` counts from the training's begin.
  std::vector<std::uint32_t> batch_of(int worker, int iteration) const;

 private:
  std::uint64_t seed_;
  std::size_t batch_;
  std::size_t shard_size_;
  int iterations_;
  std::vector<std::uint32_t> places_;
};

}  // namespace gradcast::lab
