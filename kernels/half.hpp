// The two 16-bit floating-point types, in integer arithmetic: the same bits on every processor and
// GPU. Rounding is to nearest, ties to even, as IEEE 754 and NVIDIA's conversions have it. Both C++
// and CUDA read this file: C++17.
#pragma once
#include <cstdint>

#include "kernels/definitions.hpp"

namespace gradcast {

inline constexpr std::uint32_t kHalfNan = 0x7fff;  // every NaN becomes this one
inline constexpr std::uint32_t kBfloatNan = 0x7fff;

/// The upper `32 - dropped` bits of a number's bits, rounded: the carry runs on into the exponent.
GRADCAST_BOTH std::uint32_t round_off(std::uint32_t bits, int dropped) {
  const std::uint32_t half = (1u << (dropped - 1)) - 1 + (bits >> dropped & 1u);
  return (bits + half) >> dropped;
}

/// fp16: 5 bits of exponent, 10 of fraction. From 65,520 on it is infinity; below 2^-25 it is zero.
GRADCAST_BOTH std::uint32_t half_of(float value) {
  const std::uint32_t sign = bits_of(value) >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits_of(value) & 0x7fffffffu;
  if (magnitude > kInfinityKey) return kHalfNan;
  if (magnitude >= 0x47800000u) return sign | 0x7c00u;  // 65,536 and above
  // 2^-14 and above are normal: the exponent's bias goes from 127 to 15.
  if (magnitude >= 0x38800000u) return sign | round_off(magnitude - (112u << 23), 13);
  // Denormal: a multiple of 2^-24. The fraction with its leading bit is shifted to that place.
  const int dropped = 126 - static_cast<int>(magnitude >> 23);
  if (dropped > 24) return sign;
  return sign | round_off((magnitude & 0x7fffffu) | 0x800000u, dropped);
}

GRADCAST_BOTH float float_of_half(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude > 0x7c00u) return float_of(kNan);
  if (magnitude == 0x7c00u) return float_of(sign | kInfinityKey);
  if (magnitude >= 0x400u) return float_of(sign | ((magnitude << 13) + (112u << 23)));
  const float value = static_cast<float>(magnitude) * (1.0f / 16777216.0f);  // exact
  return float_of(sign | bits_of(value));
}

/// bf16: the upper half of a float. Its exponent is a float's; it has 7 bits of fraction.
GRADCAST_BOTH std::uint32_t bfloat_of(float value) {
  if ((bits_of(value) & 0x7fffffffu) > kInfinityKey) return kBfloatNan;
  return round_off(bits_of(value), 16);
}

GRADCAST_BOTH float float_of_bfloat(std::uint32_t bfloat) {
  const float value = float_of(bfloat << 16);
  return value != value ? float_of(kNan) : value;
}

}  // namespace gradcast
