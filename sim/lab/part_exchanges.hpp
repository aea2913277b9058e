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

/// State that a worker keeps from iteration to iteration.
struct WorkerMemory {
  std::vector<float> residual;  // empty for dense, and for casts and quantisers without feedback
  std::vector<float> velocity;  // with momentum correction; else empty
  std::vector<float> query;     // PowerSGD's Q, of one tensor after another; else empty
};

/// PowerSGD's exchange: two thin matrices per tensor, in two all-reduces.
class LowRankExchange {
 public:
  /// `tensors`: a part each.
  LowRankExchange(const TrainingSettings& settings, std::vector<Part> tensors);

  /// Call it before the first all-reduce. The residual is zeros, and becomes u. Different workers
  /// may be encoded at the same time.
  void encode(std::size_t worker, int iteration, std::span<const float> u, WorkerMemory& memory);

  /// Runs both all-reduces, then writes the mean and updates the residuals.
  void combine(Team& team, std::vector<WorkerMemory>& memories, std::span<float> mean);

  /// Elements that a worker sends in an iteration.
  std::int64_t numbers() const;
  /// Elements of Q, for all tensors of a worker.
  std::size_t query_elements() const { return query_elements_; }

 private:
  struct Tensor {
    Part part;
    LowRankNumbers numbers;
    std::size_t query;                     // index of its first element of Q
    std::vector<std::vector<float>> sent;  // one per worker: P, or the whole tensor

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

/// The exchange of a cast or quantiser. Every element of each part is sent as a code, or as a level
/// if the workers share a scale.
class PackedExchange {
 public:
  PackedExchange(const TrainingSettings& settings, std::vector<Part> parts);

  /// `u` holds all elements. `residual` does too, or it is empty. Different workers may be encoded
  /// at the same time.
  void encode(std::size_t worker, int iteration, std::span<const float> u,
              std::span<float> residual);

  /// Decodes all payloads together. Workers that share a scale encode only here, when all scales
  /// are known: pass the `u` and the residuals that encode got.
  void combine(Team& team, std::span<const std::vector<float>> u, std::span<WorkerMemory> memories,
               std::span<float> dense);
  /// True if combine gives the mean, or the vote that replaces it. Otherwise combine gives the sum
  /// over the workers.
  bool gives_the_mean() const;

  /// Bytes that a worker sends in an iteration.
  std::int64_t bytes() const;

 private:
  /// A worker's own scale and seed for a part, before the scale is shared.
  struct Own {
    float scale = 0;
    std::uint64_t seed = 0;
  };
  std::uint64_t seed_of(std::size_t worker, std::size_t part, int iteration) const;
  void encode_levels(std::size_t worker, std::span<const float> u, std::span<float> residual);
  void decode_levels(std::size_t part, std::span<float> dense) const;
  /// The settings with the largest scale of all workers.
  LevelSettings agreed(std::size_t part) const;

  const Compressor& compressor_;
  const Levels* levels_;  // null unless workers share a scale
  double parameter_;
  std::uint32_t seed_;
  bool shared_seed_;
  std::int64_t workers_;
  std::vector<Part> parts_;
  std::vector<std::vector<Own>> own_;  // [part][worker], if they share a scale
  std::vector<std::vector<std::vector<std::uint32_t>>> payloads_;  // [part][worker]
};

}  // namespace gradcast::lab
