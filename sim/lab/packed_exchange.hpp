// What workers send with a cast or quantiser: every element of each part as a code.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sim/lab/part.hpp"
#include "sim/lab/team.hpp"

namespace gradcast::lab {

class PackedExchange {
 public:
  PackedExchange(const TrainingSettings& settings, std::vector<Part> parts);

  /// `u` holds all elements, and so does the residual, or it is empty. Different workers may be
  /// encoded at a time.
  void encode(std::size_t worker, int iteration, std::span<const float> u,
              std::span<float> residual);

  /// What all payloads say together.
  void combine(Team& team, std::span<float> dense) const;
  /// That is the mean, or takes its place. Else it is the sum over the workers.
  bool gives_the_mean() const;

  /// That a worker sends in an iteration.
  std::int64_t bytes() const;

 private:
  const Compressor& compressor_;
  double parameter_;
  std::uint32_t seed_;
  bool shared_seed_;
  std::vector<Part> parts_;
  std::vector<std::vector<std::vector<std::uint32_t>>> payloads_;  // of each part, of each worker
};

}  // namespace gradcast::lab
