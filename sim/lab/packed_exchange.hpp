// What workers send with a cast or quantiser: every element of each part as a code; or, where they
// share a scale, as a level of it.
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

  /// What all payloads say together. Where workers share a scale they encode only now, when all
  /// scales are known: `u` and the residuals are those that encode was given.
  void combine(Team& team, std::span<const std::vector<float>> u, std::span<WorkerMemory> memories,
               std::span<float> dense);
  /// That is the mean, or takes its place. Else it is the sum over the workers.
  bool gives_the_mean() const;

  /// That a worker sends in an iteration.
  std::int64_t bytes() const;

 private:
  /// What a worker knows of a part before it knows the shared scale.
  struct Own {
    float scale = 0;
    std::uint64_t seed = 0;
  };
  std::uint64_t seed_of(std::size_t worker, std::size_t part, int iteration) const;
  void encode_levels(std::size_t worker, std::span<const float> u, std::span<float> residual);
  void decode_levels(std::size_t part, std::span<float> dense) const;
  /// Of all workers: their largest scale.
  LevelSettings agreed(std::size_t part) const;

  const Compressor& compressor_;
  const Levels* levels_;  // where workers share a scale
  double parameter_;
  std::uint32_t seed_;
  bool shared_seed_;
  std::int64_t workers_;
  std::vector<Part> parts_;
  std::vector<std::vector<Own>> own_;  // of each part, of each worker, where they share a scale
  std::vector<std::vector<std::vector<std::uint32_t>>> payloads_;  // of each part, of each worker
};

}  // namespace gradcast::lab
