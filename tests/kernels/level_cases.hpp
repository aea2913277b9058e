// Cases for quantisers whose workers share a scale. Each worker has its own gradient and residual.
#pragma once
#include "kernels/levels.hpp"
#include "tests/kernels/pack_cases.hpp"

namespace gradcast::cases {

/// In all_packers() order.
inline std::vector<const Compressor*> all_with_levels() {
  std::vector<const Compressor*> with;
  for (const Compressor* compressor : all_packers())
    if (compressor->levels() != nullptr) with.push_back(compressor);
  return with;
}

inline int bits_of_lane(const Compressor& compressor, double parameter, std::int64_t workers) {
  return lane_bits(compressor.levels()->largest(parameter), workers);
}

/// The answer of one worker.
struct LevelAnswer {
  std::size_t elements = 0;
  OwnScale own;
  std::vector<std::uint32_t> lanes;
  std::vector<float> residual;
};

/// The answer of all workers: the scale they share, and the sum of their words.
struct SharedAnswer {
  LevelSettings settings;  // but for the seed
  std::vector<LevelAnswer> workers;
  std::vector<std::uint32_t> sum;
  std::vector<float> dense;
};

/// Worker w draws from seed + w.
inline SharedAnswer shared_reference_answer(const Compressor& compressor,
                                            const std::vector<Vectors>& workers, double parameter,
                                            std::uint64_t seed) {
  const Levels& levels = *compressor.levels();
  SharedAnswer all;
  all.settings = {.parameter = parameter, .workers = static_cast<std::int64_t>(workers.size())};
  for (const Vectors& vectors : workers) {
    LevelAnswer one;
    one.elements = vectors.gradient.size();
    one.own = levels.own_scale(vectors.gradient, vectors.residual, parameter);
    one.residual = vectors.residual;
    all.settings.scale = std::max(all.settings.scale, one.own.scale);
    all.workers.push_back(one);
  }
  const std::size_t elements = workers.front().gradient.size();
  const auto words = static_cast<std::size_t>(
      lane_words(static_cast<std::int64_t>(elements),
                 bits_of_lane(compressor, parameter, all.settings.workers)));
  all.sum.assign(words, 0);
  for (std::size_t w = 0; w < workers.size(); ++w) {
    LevelAnswer& one = all.workers[w];
    one.lanes.resize(words);
    LevelSettings settings = all.settings;
    settings.seed = seed + w;
    levels.encode(workers[w].gradient, one.residual, one.own.scale, settings, one.lanes);
    for (std::size_t i = 0; i < words; ++i) all.sum[i] += one.lanes[i];
  }
  all.dense.resize(elements);
  levels.decode(all.sum, all.settings, all.dense);
  return all;
}

/// Workers' vectors of one kind; the magnitudes of each are twice those of the one before it.
inline std::vector<Vectors> made_workers(Input input, std::int64_t elements, int workers) {
  std::vector<Vectors> made;
  for (int w = 0; w < workers; ++w) {
    Vectors vectors = make_vectors(input, elements, static_cast<std::uint32_t>(w));
    for (float& value : vectors.gradient) value = std::ldexp(value, w % 4);
    made.push_back(std::move(vectors));
  }
  return made;
}

}  // namespace gradcast::cases
