// Numbers of elements that workers of a training really sent: the file that `gradcast train
// --counts` writes. A rule like Gaussian-k's is asked for k elements and sends what lies above its
// threshold.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"

namespace gradcast {

/// Elements that the workers sent in one iteration.
struct IterationCounts {
  std::int64_t iteration = 0;
  double density = 0;              // that was asked for: of a warm-up another than of the rest
  std::int64_t wanted = 0;         // k
  std::vector<std::int64_t> sent;  // elements, one number a worker
};

struct SentCounts {
  std::int64_t elements = 0;                // of the network that was trained
  std::vector<IterationCounts> iterations;  // rising; at least one; all have as many workers

  std::size_t workers() const { return iterations.front().sent.size(); }
};

/// Reads `iteration,worker,elements,density,wanted,sent`. Throws DataError: for a wrong number, a
/// worker that stands twice, elements, density or k that differ where they must not, and an
/// iteration with fewer workers than others.
SentCounts load_sent_counts(const TextFile& file);

/// Sent elements as a share of k, at one density.
struct SentShare {
  double density = 0;
  double mean = 0;  // over workers and iterations
  // One of ten iterations sent no more than p10, nine of ten no more than p90: quantiles (nearest
  // rank) of the iterations' means over their workers.
  double p10 = 0;
  double p90 = 0;
  /// Spread of an iteration's workers: standard deviation over mean, averaged over the iterations
  /// that sent anything.
  double worker_spread = 0;
  std::size_t iterations = 0;
  std::size_t left_out = 0;  // iterations at other densities
};

/// The share in the iterations at `density`. By default this is the density of the last iteration,
/// with which a warm-up ends. Throws ValueError, which names the densities that there are.
SentShare sent_share_of(const SentCounts& counts, std::optional<double> density);

/// The density at which all that is asked for was sent, for what is asked by a threshold: its
/// trainings have density 1.
SentShare share_as_density(SentShare share);

}  // namespace gradcast
