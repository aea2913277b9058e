// How compressors select, as far as the CPU's and the GPU's side must agree on names and constants.
// Read by C++ and CUDA: C++17.
#pragma once
#include <cstdint>

#include "kernels/definitions.hpp"

namespace gradcast {

/// Which of the definitions a compressor is; the reference and the kernels have one for each.
enum class Rule : std::uint8_t { Everything, Topk, Randk, Dgc, Gaussian, Trimmed, Rtopk };

/// The authors' Trimmed Top-k: thresholds mean + ratio x (largest - mean), from the top down.
inline constexpr int kTrimSteps = 5;
GRADCAST_BOTH double trim_ratio(int step) {
  const double ratios[kTrimSteps] = {0.8, 0.6, 0.4, 0.2, 0.0};
  return ratios[step];
}

/// What DGC's sample must hold at least: in mode Paper two of the k that it looks for.
GRADCAST_BOTH std::int64_t dgc_least_sample(bool paper, std::int64_t elements, std::int64_t k) {
  return paper ? 2 * ((elements + k - 1) / k) : 1;
}

/// The rank in DGC's sample that gives the threshold: in mode Paper k scaled to the sample, in mode
/// Code k itself, as the authors have it (where the sample is smaller, its least).
GRADCAST_BOTH std::int64_t dgc_rank(bool paper, std::int64_t sample, std::int64_t elements,
                                    std::int64_t k) {
  // k x sample stays below 2^62.
  if (paper) return (k * sample + elements - 1) / elements;
  return k < sample ? k : sample;
}

}  // namespace gradcast
