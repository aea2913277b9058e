// Drift of inputs from one timed call to the next. C++17.
#pragma once
#include <cstdint>

namespace gradcast {

/// The inputs of one call: the seed of the gradient's values, and the factor of all of u = g + e.
struct DriftedInput {
  std::uint32_t gradient_seed = 0;
  float scale = 1;
};

/// In training no call sees the gradient of the call before, so a threshold that was kept is always
/// one of another gradient. Here:
///  - The gradient's values are one of 7 draws in turn. Other mini-batches give other values.
///  - The residual keeps its values: it sums many gradients, and one more changes it little.
///  - Gradient and residual together grow by 1 % a call for 8 calls and shrink by 1 % for the next
///    8. Above a fixed threshold there are then 12 % more elements a call, or 11 % fewer (normal
///    elements, density 0.001), so most calls find that a kept threshold fits, and some do not.
///    This step is chosen, not taken from a training run.
/// Turn 0 is the point's own input, unscaled.
inline DriftedInput drifted_input(std::uint32_t seed, std::int64_t turn) {
  // Shares no divisor with 16, so that 112 calls pass before one returns.
  constexpr std::int64_t kDraws = 7;
  constexpr std::int64_t kSteps = 8;
  constexpr float kStep = 1.01f;
  const std::int64_t at = turn % (2 * kSteps);
  float scale = 1;
  for (std::int64_t step = at < kSteps ? at : 2 * kSteps - at; step > 0; --step) scale *= kStep;
  // Even seeds are those of gradients, odd ones of residuals.
  const auto draw = static_cast<std::uint32_t>(turn % kDraws);
  return {2 * (seed + 0x01000193u * draw), scale};
}

}  // namespace gradcast
