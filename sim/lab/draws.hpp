// Random numbers of a training. Each depends on the seed, its purpose and its place alone, so no
// order of work changes them.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/base/random.hpp"

namespace gradcast::lab {

/// Uniform numbers for one purpose, one after another.
class Draws {
 public:
  /// `part`: which of several with this purpose (a worker, a layer, an epoch).
  Draws(std::uint64_t seed, Draw what, std::uint64_t part = 0) : name_{seed, part, what, 0} {}

  /// Between 0 and 1.
  double next() {
    ++name_.index;
    return uniform(name_);
  }
  /// 0 to `count` - 1.
  std::size_t below(std::size_t count);

 private:
  DrawName name_;
};

/// The seed of what a compressor draws: another one for each worker (0: for all alike), part of the
/// model and iteration.
std::uint64_t selection_seed(std::uint64_t seed, std::uint64_t worker, std::uint64_t part,
                             std::uint64_t iteration);

/// Brings the places into a random order (Fisher and Yates).
void shuffle(std::vector<std::uint32_t>& places, Draws draws);

}  // namespace gradcast::lab
