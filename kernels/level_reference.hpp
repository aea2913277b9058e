// The definition of quantisers whose workers share a scale, in plain loops, from their rules
// (levels.hpp).
#pragma once
#include <algorithm>

#include "kernels/levels.hpp"
#include "kernels/pack_reference.hpp"

namespace gradcast {

template <PackRule kRule>
OwnScale own_scale(std::span<const float> gradient, std::span<const float> residual,
                   double parameter) {
  using Traits = PackTraits<kRule>;
  static_assert(Traits::kScales == 1);
  const std::vector<float> u = sum_of(gradient, residual);
  const Moments moments = moments_of(u, Traits::kMoments);
  const auto elements = static_cast<std::int64_t>(u.size());
  return {Traits::scales_of(moments, elements, parameter).first,
          not_finite(moments, Traits::kMoments) ? kNotFinite : 0};
}

template <PackRule kRule>
void encode_levels(std::span<const float> gradient, std::span<float> residual, float own,
                   const LevelSettings& settings, std::span<std::uint32_t> lanes) {
  using Traits = PackTraits<kRule>;
  using Rule = LevelTraits<kRule>;
  const double parameter = settings.parameter;
  const std::uint32_t largest = Rule::largest(parameter);
  const int bits = lane_bits(largest, settings.workers);
  const Scales shared{settings.scale, 0};
  const std::vector<float> u = sum_of(gradient, residual);
  std::fill(lanes.begin(), lanes.end(), 0u);
  CodeWriter writer(lanes);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const std::uint32_t key = random_key(settings.seed, static_cast<std::uint32_t>(i));
    const std::uint32_t code = Traits::code(Rule::kept(u[i], own), shared, parameter, key);
    writer.put(largest + static_cast<std::uint32_t>(Rule::multiple_of(code, parameter)), bits);
    if (!residual.empty()) residual[i] = residual_of(u[i], Traits::value(code, shared, parameter));
  }
}

template <PackRule kRule>
void decode_levels(std::span<const std::uint32_t> lanes, const LevelSettings& settings,
                   std::span<float> dense) {
  const std::uint32_t largest = LevelTraits<kRule>::largest(settings.parameter);
  const int bits = lane_bits(largest, settings.workers);
  for (std::size_t i = 0; i < dense.size(); ++i)
    dense[i] = value_of_sum(code_at(lanes, i, bits), static_cast<std::uint32_t>(settings.workers),
                            settings.scale, largest);
}

template <PackRule kRule>
constexpr Levels levels_of() {
  return {.largest = [](double parameter) { return LevelTraits<kRule>::largest(parameter); },
          .own_scale = own_scale<kRule>,
          .encode = encode_levels<kRule>,
          .decode = decode_levels<kRule>};
}

}  // namespace gradcast
