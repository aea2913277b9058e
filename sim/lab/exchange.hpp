// The exchange of an iteration. Each worker encodes its gradient with the project's own reference
// of the compressor, and all receive one mean gradient.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/lab/layer.hpp"
#include "sim/lab/part_exchanges.hpp"
#include "sim/lab/settings.hpp"
#include "sim/lab/team.hpp"

namespace gradcast::lab {

class Exchange {
 public:
  /// `tensors`: the network's, in the order of the parameters.
  Exchange(const TrainingSettings& settings, const std::vector<ParameterTensor>& tensors);

  /// The buffer for a worker's gradient; write it before encode.
  std::span<float> gradient(std::size_t worker) { return gradients_[worker]; }

  /// Encodes a worker's gradient. Different workers may be encoded at a time.
  void encode(std::size_t worker, int iteration, double density);

  /// Writes the mean over the workers: (1 / P) x the sum, added in the order of the workers. Casts
  /// divide by P before they encode, as PyTorch's hooks do, so that the sum does not overflow
  /// unless a gradient does. signSGD writes the vote.
  void combine(double density, Team& team, std::span<float> mean);

  /// Number of elements that each worker sent last.
  const std::vector<std::int64_t>& sent() const { return sent_; }
  /// Number of elements that a worker should send. Sparsifiers: k by the density. PowerSGD: the
  /// elements of P and Q. Others: all elements.
  std::int64_t wanted(double density) const;
  /// Bytes that a worker sends with so many elements: values, indices, codes and scales.
  double bytes_of(double sent_elements) const;

  /// A worker's last u = gradient + residual, from which it selected or which it encoded. Call it
  /// after encode and before combine. Dense: u is the gradient. Casts: gradient / P + residual.
  std::vector<float> last_u(std::size_t worker) const;

  std::vector<WorkerMemory>& memories() { return memories_; }
  const std::vector<WorkerMemory>& memories() const { return memories_; }

 private:
  struct Sent {
    std::vector<float> values;
    std::vector<std::int32_t> indices;  // within the whole model

    SparseSet set() const { return {values, indices}; }
  };
  std::int64_t wanted_of(const Part& part, double density) const;
  void select_of(const Part& part, const Selection& selection, std::span<const float> input,
                 std::span<float> residual, Sent& sent) const;
  /// u in the gradient's place, and zeros in the residual's.
  void add_residual(std::size_t worker);
  void select(std::size_t worker, int iteration, double density);
  void combine_dense(Team& team, std::span<float> sum) const;
  void combine_by_tree(double density, std::span<float> sum);
  void combine_globally(double density, std::span<float> sum);
  Sent largest_of(std::span<const float> sum, double density) const;

  TrainingSettings settings_;
  std::size_t elements_ = 0;
  std::vector<Part> parts_;
  std::vector<std::vector<float>> gradients_;
  std::vector<WorkerMemory> memories_;
  std::vector<Sent> sets_;
  std::vector<std::int64_t> sent_;
  std::optional<PackedExchange> packed_;     // casts and quantisers
  std::optional<LowRankExchange> low_rank_;  // PowerSGD
};

}  // namespace gradcast::lab
