// Settings of a training: everything that decides its result.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>

#include "kernels/compressor.hpp"

namespace gradcast::lab {

/// Longest training. Nobody would wait for more.
inline constexpr int kMostIterations = 100'000'000;

/// Over what a compressor selects.
enum class Scope {
  Model,  // k of all elements
  Layer,  // k of each tensor, at least one element
};

/// Methods to make one gradient of the workers' selections.
enum class Combination {
  Gather,  // the sum of all that was sent
  GTopK,   // k of the sum, by a tree of pairs (gTop-k)
  Global,  // each sends the k places where the sum of all u is largest: what no worker could know
};

struct TrainingSettings {
  std::string network;
  const Compressor* compressor = nullptr;
  Mode mode = Mode::Only;
  double density = 1;                      // k / elements; 1 for what takes none
  double parameter = 0;                    // the compressor's, where it has one
  ValueType value_type = ValueType::Fp32;  // in which values of selected elements travel
  std::int64_t candidates = 0;             // rTop-k's r; 0: 5 k
  Scope scope = Scope::Model;
  Combination combination = Combination::Gather;
  bool feedback = true;              // elements not sent stay in the residual
  bool momentum_correction = false;  // DGC: each worker's momentum is accumulated before it sends
  bool masking = false;              // DGC: momentum of what was sent is forgotten
  bool shared_seed = false;          // all workers draw alike
  bool shared_scale = false;         // all workers' levels are of the largest scale of any worker

  int workers = 16;
  int batch = 128;  // per worker
  int epochs = 10;
  double learning_rate = 0.01;
  double momentum = 0.9;
  double weight_decay = 1e-4;    // not of biases
  int learning_rate_warmup = 0;  // epochs in which it rises to its value
  int density_warmup = 0;        // epochs in which density falls to its value
  std::uint32_t seed = 1;
  int evaluate_every = 0;  // iterations; 0: once an epoch

  bool compresses() const { return compressor->family != Family::Dense; }
  /// Some elements are sent, with their indices.
  bool selects() const { return compressor->family == Family::Sparsifier; }
  /// The density says how many, rather than a threshold.
  bool takes_density() const { return selects() && !compressor->parameter.selects; }
};

/// The learning rate of an iteration (from 0). It rises linearly during the warm-up. `in_epoch`:
/// iterations per epoch. Goyal et al., "Accurate, Large Minibatch SGD", 2017.
inline double learning_rate_at(const TrainingSettings& settings, int iteration, int in_epoch) {
  const int warmup = settings.learning_rate_warmup * in_epoch;
  if (iteration >= warmup) return settings.learning_rate;
  return settings.learning_rate * (iteration + 1) / warmup;
}

/// The density of an epoch (from 0): it falls geometrically, as Lin et al., "Deep Gradient
/// Compression", 2018, section 3.3: 25 %, 6.25 %, ... 0.1 %.
inline double density_at(const TrainingSettings& settings, int epoch) {
  if (epoch + 1 >= settings.density_warmup) return settings.density;
  return std::pow(settings.density, (epoch + 1.0) / settings.density_warmup);
}

}  // namespace gradcast::lab
