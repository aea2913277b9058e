// Parts of a model that are encoded together, and how workers exchange them: with PowerSGD, and
// with a cast or quantiser.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/low_rank.hpp"
#include "sim/lab/layer.hpp"
#include "sim/lab/settings.hpp"
#include "sim/lab/team.hpp"

namespace gradcast::lab {

/// Elements of a model that are encoded together: all, or those of a tensor.
struct Part {
  std::size_t first;
  std::size_t elements;
  MatrixShape shape;
};

inline std::vector<Part> parts_of(const std::vector<ParameterTensor>& tensors, Scope scope) {
  std::vector<Part> parts;
  std::size_t elements = 0;
  for (const ParameterTensor& tensor : tensors) {
    parts.push_back({elements,
                     tensor.elements,
                     {static_cast<std::int64_t>(tensor.elements / tensor.columns),
                      static_cast<std::int64_t>(tensor.columns)}});
    elements += tensor.elements;
  }
  if (scope == Scope::Model) return {{0, elements, {static_cast<std::int64_t>(elements), 1}}};
  return parts;
}

/// What a worker keeps from iteration to iteration.
struct WorkerMemory {
  std::vector<float> residual;  // empty for dense, and for casts and quantisers without feedback
  std::vector<float> velocity;  // with momentum correction; else empty
  std::vector<float> query;     // PowerSGD's Q, of one tensor after another; else empty
};

/// What workers send with PowerSGD: of each tensor two thin matrices, one all-reduce after another.
class LowRankExchange {
 public:
  /// `tensors`: a part each.
  LowRankExchange(const TrainingSettings& settings, std::vector<Part> tensors);

  /// Before the first all-reduce. The residual is zeros, and becomes u. Different workers may be
  /// encoded at a time.
  void encode(std::size_t worker, int iteration, std::span<const float> u, WorkerMemory& memory);

  /// Both all-reduces, and what comes of them.
  void combine(Team& team, std::vector<WorkerMemory>& memories, std::span<float> mean);

  /// That a worker sends in an iteration.
  std::int64_t numbers() const;
  /// Of a worker's Q of all tensors.
  std::size_t query_elements() const { return query_elements_; }

 private:
  struct Tensor {
    Part part;
    LowRankNumbers numbers;
    std::size_t query;                     // where its Q begins
    std::vector<std::vector<float>> sent;  // of each worker: P, or the tensor

    std::span<float> query_of(WorkerMemory& memory) const {
      return std::span(memory.query).subspan(query, static_cast<std::size_t>(numbers.second));
    }
  };
  LowRankSettings settings_of(std::size_t tensor, int iteration = 0) const;

  const LowRank& definition_;
  TrainingSettings settings_;
  std::vector<Tensor> tensors_;
  std::size_t query_elements_ = 0;
};

/// What workers send with a cast or quantiser: every element of each part as a code; or, where they
/// share a scale, as a level of it.
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
