// Names and constants of the compressors' rules on which the CPU's and the GPU's code must agree.
// Both C++ and CUDA read this file: C++17.
#pragma once
#include <cstdint>

#include "kernels/definitions.hpp"

namespace gradcast {

/// The rule of a compressor. The reference and the kernels have a definition of each.
enum class Rule : std::uint8_t {
  Everything,
  Topk,
  Randk,
  Dgc,
  Gaussian,
  Trimmed,
  Rtopk,
  Threshold
};

/// The authors' Trimmed Top-k: thresholds mean + ratio x (largest - mean), from the top down.
inline constexpr int kTrimSteps = 5;
GRADCAST_BOTH double trim_ratio(int step) {
  const double ratios[kTrimSteps] = {0.8, 0.6, 0.4, 0.2, 0.0};
  return ratios[step];
}

/// The least size of DGC's sample: in mode Paper large enough to hold two of the k wanted elements
/// on average.
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
