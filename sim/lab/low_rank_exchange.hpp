// What workers send with PowerSGD: of each tensor two thin matrices, one all-reduce after another.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sim/lab/part.hpp"
#include "sim/lab/team.hpp"

namespace gradcast::lab {

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

}  // namespace gradcast::lab
