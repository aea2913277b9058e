// Synchronous data-parallel SGD with simulated workers: each has its shard, its residual and its
// draws; all have the same parameters.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/lab/dataset.hpp"
#include "sim/lab/exchange.hpp"
#include "sim/lab/network.hpp"
#include "sim/lab/settings.hpp"
#include "sim/lab/team.hpp"

namespace gradcast::lab {

/// Divides all samples evenly among the workers, once, in a random order; the remainder is left
/// out. Each epoch goes through a shard in a new order. Samples after a shard's last whole batch
/// are left out too.
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

/// The training after an iteration in which the test set was looked at.
struct Evaluation {
  double epoch = 0;            // iterations / those in an epoch
  std::int64_t iteration = 0;  // iterations done
  double train_loss = 0;       // mean over workers and iterations since the evaluation before
  double test_accuracy_percent = 0;
  double sent_elements_mean = 0;  // by a worker in an iteration, since the evaluation before
  double learning_rate = 0;       // of the last iteration
  double density = 0;             // of the last iteration
};

/// Everything that a training must have to go on as if it had never stopped.
struct TrainingState {
  int iteration = 0;  // iterations done
  std::vector<float> parameters;
  std::vector<float> velocity;  // the optimiser's
  std::vector<WorkerMemory> memories;
  std::vector<Evaluation> evaluations;
  std::vector<double> losses;                     // per iteration: mean over workers
  std::vector<std::vector<std::int64_t>> counts;  // per iteration: elements that each worker sent
};

class Training {
 public:
  /// `threads` share the work and do not change the result. Throws ValueError where the settings do
  /// not fit the dataset.
  Training(const TrainingSettings& settings, const Dataset& dataset, std::size_t threads);

  int iterations() const { return settings_.epochs * shards_.iterations_in_epoch(); }
  bool finished() const { return state_.iteration == iterations(); }

  /// One iteration: gradients, exchange, update; and the evaluation where one is due. Before the
  /// exchange, `look` is called where it is given. Throws ValueError where the loss is not finite.
  void step(const std::function<void(const Exchange&)>& look = {});

  /// The whole state of the training, to be kept.
  TrainingState state() const;
  const std::vector<Evaluation>& evaluations() const { return state_.evaluations; }
  /// Elements that each worker sent, for each iteration done.
  const std::vector<std::vector<std::int64_t>>& counts() const { return state_.counts; }
  int iteration() const { return state_.iteration; }
  /// Goes on from a state of a training with the same settings and data. Throws ValueError where it
  /// cannot be one.
  void resume(TrainingState state);

  const std::vector<ParameterTensor>& tensors() const { return networks_.front().tensors(); }
  std::size_t parameters() const { return networks_.front().size(); }
  int iterations_in_epoch() const { return shards_.iterations_in_epoch(); }
  /// The density of an iteration, counted from 0.
  double density_in(int iteration) const {
    return density_at(settings_, iteration / iterations_in_epoch());
  }
  /// k of a worker at this density.
  std::int64_t wanted(double density) const { return exchange_.wanted(density); }
  /// Bytes that a worker sends with so many elements.
  double bytes_of(double sent_elements) const { return exchange_.bytes_of(sent_elements); }

 private:
  double compute_gradients(double density, const std::function<void(const Exchange&)>& look);
  void update(double learning_rate);
  /// Whether the test set is due after so many iterations.
  bool is_looked_at(int iteration) const;
  void evaluate(double learning_rate, double density);
  double test_accuracy_percent();

  TrainingSettings settings_;
  const Dataset& dataset_;
  Team team_;
  Shards shards_;
  std::vector<Network<float>> networks_;    // one per thread
  std::vector<std::vector<float>> inputs_;  // one per thread
  std::vector<bool> decays_;                // one per parameter
  Exchange exchange_;
  std::vector<float> mean_;
  TrainingState state_;
};

}  // namespace gradcast::lab
