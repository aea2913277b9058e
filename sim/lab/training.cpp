#include "sim/lab/training.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/error.hpp"
#include "sim/base/units.hpp"
#include "sim/lab/draws.hpp"
#include "sim/lab/networks.hpp"

namespace gradcast::lab {
namespace {

/// Samples of the test set that are looked at together.
constexpr std::size_t kTestBatch = 500;

std::vector<Network<float>> networks_for(const TrainingSettings& settings, const Dataset& dataset,
                                         std::size_t count) {
  const NetworkKind& kind = find_network(settings.network);
  if (kind.takes != dataset.kind)
    throw ValueError(std::string(kind.name) + " learns from " + to_text(kind.takes) + ", and " +
                     dataset.name + " has " + to_text(dataset.kind));
  std::vector<Network<float>> networks;
  for (std::size_t i = 0; i < count; ++i)
    networks.push_back(kind.make(dataset.shape, dataset.classes));
  return networks;
}

}  // namespace

Training::Training(const TrainingSettings& settings, const Dataset& dataset, std::size_t threads)
    : settings_(settings),
      dataset_(dataset),
      team_(threads),
      shards_(settings.seed, dataset.training.count(), settings.workers, settings.batch),
      networks_(networks_for(settings, dataset, team_.members())),
      inputs_(team_.members()),
      exchange_(settings, tensors()),
      mean_(parameters()) {
  if (shards_.iterations_in_epoch() == 0)
    throw ValueError(std::to_string(settings.workers) + " workers with a batch of " +
                     std::to_string(settings.batch) + " need " +
                     std::to_string(std::int64_t{settings.workers} * settings.batch) +
                     " samples, and " + dataset.name + " has " +
                     std::to_string(dataset.training.count()));
  for (const ParameterTensor& tensor : tensors())
    decays_.insert(decays_.end(), tensor.elements, decays(tensor.kind));
  state_.parameters = networks_.front().first_parameters(settings.seed);
  state_.velocity.assign(parameters(), 0.0f);
}

TrainingState Training::state() const {
  TrainingState state = state_;
  state.memories = exchange_.memories();
  return state;
}

void Training::resume(TrainingState state) {
  const std::vector<WorkerMemory>& fresh = exchange_.memories();
  for (std::size_t worker = 0; worker < fresh.size(); ++worker) {
    const WorkerMemory& kept = state.memories[worker];
    if (kept.residual.size() != fresh[worker].residual.size() ||
        kept.velocity.size() != fresh[worker].velocity.size() ||
        kept.query.size() != fresh[worker].query.size())
      throw ValueError("the checkpoint's workers have kept something else than these would");
  }
  exchange_.memories() = std::move(state.memories);
  state_ = std::move(state);
  // A shorter training was evaluated at its end. In this one that is the middle.
  std::erase_if(state_.evaluations, [&](const Evaluation& evaluation) {
    return !is_looked_at(static_cast<int>(evaluation.iteration));
  });
}

bool Training::is_looked_at(int iteration) const {
  const int every =
      settings_.evaluate_every > 0 ? settings_.evaluate_every : shards_.iterations_in_epoch();
  return iteration % every == 0 || iteration == iterations();
}

double Training::compute_gradients(double density,
                                   const std::function<void(const Exchange&)>& look) {
  const auto workers = static_cast<std::size_t>(settings_.workers);
  std::vector<double> losses(workers);
  const std::size_t sample = dataset_.shape.size();
  team_.each(workers, [&](std::size_t member, std::size_t worker) {
    const auto places = shards_.batch_of(static_cast<int>(worker), state_.iteration);
    std::vector<float>& inputs = inputs_[member];
    inputs.resize(places.size() * sample);
    dataset_.copy(dataset_.training, places.data(), places.size(), inputs.data());
    std::vector<std::uint8_t> labels;
    for (const std::uint32_t place : places) {
      const auto of_sample = dataset_.training.labels_of(place, 1);
      labels.insert(labels.end(), of_sample.begin(), of_sample.end());
    }
    losses[worker] = networks_[member].loss_and_gradient(state_.parameters, inputs, labels,
                                                         exchange_.gradient(worker));
    exchange_.encode(worker, state_.iteration, density);
  });
  if (look) look(exchange_);
  exchange_.combine(density, team_, mean_);
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(workers);
}

void Training::update(double learning_rate) {
  // With momentum correction the workers have accumulated it already.
  const auto momentum = static_cast<float>(settings_.momentum_correction ? 0 : settings_.momentum);
  const auto decay = static_cast<float>(settings_.weight_decay);
  const auto rate = static_cast<float>(learning_rate);
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    float& parameter = state_.parameters[i];
    const float gradient = decays_[i] ? mean_[i] + decay * parameter : mean_[i];
    state_.velocity[i] = momentum * state_.velocity[i] + gradient;
    parameter -= rate * state_.velocity[i];
  }
}

void Training::step(const std::function<void(const Exchange&)>& look) {
  const int in_epoch = shards_.iterations_in_epoch();
  const double density = density_in(state_.iteration);
  const double learning_rate = learning_rate_at(settings_, state_.iteration, in_epoch);
  const double loss = compute_gradients(density, look);
  if (!std::isfinite(loss))
    throw ValueError("the training diverges: in iteration " + std::to_string(state_.iteration + 1) +
                     " the loss is not finite; try a --learning-rate below " +
                     number_to_text(settings_.learning_rate));
  state_.losses.push_back(loss);
  state_.counts.push_back(exchange_.sent());
  update(learning_rate);
  ++state_.iteration;
  if (is_looked_at(state_.iteration)) evaluate(learning_rate, density);
}

double Training::test_accuracy_percent() {
  const Samples& test = dataset_.test;
  const std::size_t batches = (test.count() + kTestBatch - 1) / kTestBatch;
  std::vector<std::size_t> right(batches);
  team_.each(batches, [&](std::size_t member, std::size_t batch) {
    const std::size_t begin = batch * kTestBatch;
    const std::size_t count = std::min(kTestBatch, test.count() - begin);
    std::vector<std::uint32_t> places(count);
    std::iota(places.begin(), places.end(), static_cast<std::uint32_t>(begin));
    std::vector<float>& inputs = inputs_[member];
    inputs.resize(count * dataset_.shape.size());
    dataset_.copy(test, places.data(), count, inputs.data());
    right[batch] =
        networks_[member].count_right(state_.parameters, inputs, test.labels_of(begin, count));
  });
  const std::size_t all = std::accumulate(right.begin(), right.end(), std::size_t{0});
  return 100 * static_cast<double>(all) / static_cast<double>(test.labels.size());
}

void Training::evaluate(double learning_rate, double density) {
  const std::size_t begin = state_.evaluations.empty()
                                ? 0
                                : static_cast<std::size_t>(state_.evaluations.back().iteration);
  const auto since = static_cast<double>(state_.losses.size() - begin);
  double loss = 0;
  double sent = 0;
  for (std::size_t i = begin; i < state_.losses.size(); ++i) {
    loss += state_.losses[i];
    for (const std::int64_t count : state_.counts[i]) sent += static_cast<double>(count);
  }
  state_.evaluations.push_back(
      {.epoch = static_cast<double>(state_.iteration) / shards_.iterations_in_epoch(),
       .iteration = state_.iteration,
       .train_loss = loss / since,
       .test_accuracy_percent = test_accuracy_percent(),
       .sent_elements_mean = sent / (since * settings_.workers),
       .learning_rate = learning_rate,
       .density = density});
}

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
  // The draws are those of this worker and epoch.
  const auto part = static_cast<std::uint64_t>(worker) << 32 |
                    static_cast<std::uint64_t>(iteration / iterations_);
  shuffle(shard, Draws(seed_, Draw::Epoch, part));
  const auto begin =
      shard.begin() + (iteration % iterations_) * static_cast<std::ptrdiff_t>(batch_);
  return {begin, begin + static_cast<std::ptrdiff_t>(batch_)};
}

}  // namespace gradcast::lab
