// Quantiles of the standard normal distribution.
#pragma once
#include <cstdint>

#include "kernels/selection.hpp"

namespace gradcast {

/// z with P(Z <= z) = probability; 0 < probability < 1. To full double precision in the lower tail:
/// for an upper tail ask for the lower one and change the sign.
double normal_quantile(double probability);

/// Gaussian-k's z: under a normal distribution k of the elements lie above mean + z deviations
/// (Mode::Paper), or k / 2 above mean + z and k / 2 below mean - z deviations (Mode::Code).
/// 0 < k < elements.
double gaussian_deviations(const Selection& selection, std::int64_t elements);

}  // namespace gradcast
