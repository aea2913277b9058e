// Payloads of casts and quantisers: every element of a tensor, each as a code of a few bits. The
// reference and the kernels both read this file, so it is C++17 and plain arithmetic.
//
// A tensor's payload is its scales, fp32, of all blocks, and then its codes, without gaps: code i
// of b bits is in bits i b to i b + b - 1 of the words, the lowest bit first. The last word is
// filled up with zeros. A tensor is one block, except for int8.
//
// Every rule has
//   kMoments   the moments of all elements that the first code needs;
//   kScales    the number of scales that a block sends;
//   bits(p)    of a code, p being the compressor's parameter;
//   scales_of  of a block, from its moments;
//   code       of an element of u, from the scales and a random key;
//   value      that is received for a code.
// An element that is not finite is sent as near as the codes allow (an infinity as the largest
// value of its sign, a NaN as zero or a positive sign), and it never stays in the residual.
#pragma once
#include <cmath>
#include <cstdint>

#include "kernels/definitions.hpp"
#include "kernels/half.hpp"

namespace gradcast {

/// The rules of casts and quantisers.
enum class PackRule : std::uint8_t {
  Fp16,
  Bf16,
  Qsgd,
  Int8,
  Terngrad,
  Natural,
  Signsgd,
  Efsignsgd,
  Onebit
};

/// Operation by which a decode combines the values that it receives of an element.
enum class PackSum : std::uint8_t {
  Fp32,      // adds them up in fp32
  Rounding,  // adds them up in the cast's own type: each sum is rounded to it
  Votes,     // the sign of most: +1, -1, or 0 of a tie
};

struct Scales {
  float first = 0;
  float second = 0;
};

/// A uniform number of 24 bits: 0 <= draw < 1.
GRADCAST_BOTH float draw_of(std::uint32_t key) {
  return static_cast<float>(key >> 8) * (1.0f / 16777216.0f);
}

GRADCAST_BOTH float magnitude_of(float value) { return float_of(magnitude_key(value)); }
GRADCAST_BOTH bool is_nan(float value) { return magnitude_key(value) > kInfinityKey; }
GRADCAST_BOTH float signed_as(float magnitude, bool negative) {
  return negative ? -magnitude : magnitude;
}

/// Bits that hold 0 to `largest`.
GRADCAST_BOTH int bits_for(std::uint32_t largest) {
  int bits = 0;
  for (; largest > 0; largest >>= 1) ++bits;
  return bits;
}

template <PackRule kRule>
struct PackTraits;

/// A 16-bit type, as NCCL adds it up. Micikevicius et al., "Mixed Precision Training", ICLR 2018:
/// small gradients need a scaled loss. Whoever scales the loss scales what comes in here.
struct CastTraits {
  static constexpr MomentsOf kMoments = MomentsOf::Nothing;
  static constexpr int kScales = 0;
  static constexpr PackSum kSum = PackSum::Rounding;
  GRADCAST_BOTH static int bits(double) { return 16; }
  GRADCAST_BOTH static Scales scales_of(const Moments&, std::int64_t, double) { return {}; }
};

template <>
struct PackTraits<PackRule::Fp16> : CastTraits {
  GRADCAST_BOTH static std::uint32_t code(float u, const Scales&, double, std::uint32_t) {
    return half_of(u);
  }
  GRADCAST_BOTH static float value(std::uint32_t code, const Scales&, double) {
    return float_of_half(code);
  }
};

template <>
struct PackTraits<PackRule::Bf16> : CastTraits {
  GRADCAST_BOTH static std::uint32_t code(float u, const Scales&, double, std::uint32_t) {
    return bfloat_of(u);
  }
  GRADCAST_BOTH static float value(std::uint32_t code, const Scales&, double) {
    return float_of_bfloat(code);
  }
};

/// Parameter: s, the levels. |u| / norm x s is rounded up or down at random, so that its mean is
/// right. Code: the level, and above it a bit of the sign.
template <>
struct PackTraits<PackRule::Qsgd> {
  static constexpr MomentsOf kMoments = MomentsOf::Values;
  static constexpr int kScales = 1;
  static constexpr PackSum kSum = PackSum::Fp32;
  GRADCAST_BOTH static int bits(double levels) {
    return 1 + bits_for(static_cast<std::uint32_t>(levels));
  }
  GRADCAST_BOTH static Scales scales_of(const Moments& moments, std::int64_t, double) {
    const double norm = std::sqrt(moments.squares);
    const double most = static_cast<double>(float_of(kInfinityKey - 1));
    return {static_cast<float>(norm < most ? norm : most), 0};
  }
  GRADCAST_BOTH static std::uint32_t code(float u, const Scales& scales, double levels,
                                          std::uint32_t key) {
    if (is_nan(u) || !(scales.first > 0)) return 0;
    const auto most = static_cast<float>(levels);
    const float at = magnitude_of(u) / scales.first * most;
    std::uint32_t level = 0;
    if (at >= most) {
      level = static_cast<std::uint32_t>(most);
    } else {
      level = static_cast<std::uint32_t>(at);
      if (draw_of(key) < at - static_cast<float>(level)) ++level;
    }
    return level | (u < 0 ? 1u << (bits(levels) - 1) : 0u);
  }
  GRADCAST_BOTH static float value(std::uint32_t code, const Scales& scales, double levels) {
    const std::uint32_t sign = 1u << (bits(levels) - 1);
    const auto level = static_cast<float>(code & (sign - 1));
    return signed_as(scales.first * (level / static_cast<float>(levels)), (code & sign) != 0);
  }
};

/// Parameter: elements of a block. A block's scale is its largest magnitude / 127, and an element
/// the nearest multiple of it. Code: the multiple + 127.
template <>
struct PackTraits<PackRule::Int8> {
  static constexpr MomentsOf kMoments = MomentsOf::Values;
  static constexpr int kScales = 1;
  static constexpr PackSum kSum = PackSum::Fp32;
  GRADCAST_BOTH static int bits(double) { return 8; }
  GRADCAST_BOTH static Scales scales_of(const Moments& moments, std::int64_t, double) {
    return {float_of(moments.largest) / 127.0f, 0};
  }
  GRADCAST_BOTH static std::uint32_t code(float u, const Scales& scales, double, std::uint32_t) {
    if (is_nan(u) || !(scales.first > 0)) return 127;
    const float at = u / scales.first;
    if (at >= 127.0f) return 254;
    if (at <= -127.0f) return 0;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(rintf(at)) + 127);
  }
  GRADCAST_BOTH static float value(std::uint32_t code, const Scales& scales, double) {
    return scales.first * static_cast<float>(static_cast<std::int32_t>(code) - 127);
  }
};

/// Parameter: c, at how many standard deviations elements are clipped; 0: nowhere. s is the largest
/// magnitude that is left; an element is sent as s with its sign with probability |u| / s, else as
/// 0. Code: bit 0, whether it is s; bit 1, the sign.
template <>
struct PackTraits<PackRule::Terngrad> {
  static constexpr MomentsOf kMoments = MomentsOf::Values;
  static constexpr int kScales = 1;
  static constexpr PackSum kSum = PackSum::Fp32;
  GRADCAST_BOTH static int bits(double) { return 2; }
  GRADCAST_BOTH static Scales scales_of(const Moments& moments, std::int64_t elements,
                                        double clip) {
    const float largest = float_of(moments.largest);
    if (!(clip > 0)) return {largest, 0};
    const auto n = static_cast<double>(elements - moments.unfinite);
    double variance = n > 0 ? (moments.squares - moments.sum * moments.sum / n) / n : 0;
    if (variance < 0) variance = 0;  // by rounding
    const auto bound = static_cast<float>(clip * std::sqrt(variance));
    // A constant vector has a deviation of 0, and clipping would leave nothing.
    return {bound > 0 && bound < largest ? bound : largest, 0};
  }
  GRADCAST_BOTH static std::uint32_t code(float u, const Scales& scales, double,
                                          std::uint32_t key) {
    if (is_nan(u) || !(scales.first > 0)) return 0;
    const float chance = magnitude_of(u) / scales.first;
    return draw_of(key) < chance ? 1u | (u < 0 ? 2u : 0u) : 0u;
  }
  GRADCAST_BOTH static float value(std::uint32_t code, const Scales& scales, double) {
    return (code & 1u) == 0 ? 0.0f : signed_as(scales.first, (code & 2u) != 0);
  }
};

/// The power of two below or above, at random, so that the mean is right: the fraction's 23 bits
/// against 23 drawn ones. Code: the 8 bits of the exponent, and above them the sign. Code 0 is
/// zero. Below 2^-126 it is 0 or 2^-126; above 2^127 it is always 2^127, because 2^128 is no float.
template <>
struct PackTraits<PackRule::Natural> {
  static constexpr MomentsOf kMoments = MomentsOf::Nothing;
  static constexpr int kScales = 0;
  static constexpr PackSum kSum = PackSum::Fp32;
  static constexpr std::uint32_t kLargestExponent = 254;
  GRADCAST_BOTH static int bits(double) { return 9; }
  GRADCAST_BOTH static Scales scales_of(const Moments&, std::int64_t, double) { return {}; }
  GRADCAST_BOTH static std::uint32_t code(float u, const Scales&, double, std::uint32_t key) {
    if (is_nan(u)) return 0;
    const std::uint32_t bits = magnitude_key(u);
    std::uint32_t exponent = bits >> 23;
    if (exponent < kLargestExponent && (key >> 9) < (bits & 0x7fffffu)) ++exponent;
    if (exponent > kLargestExponent) exponent = kLargestExponent;
    return exponent | (u < 0 ? 0x100u : 0u);
  }
  GRADCAST_BOTH static float value(std::uint32_t code, const Scales&, double) {
    return signed_as(float_of((code & 0xffu) << 23), (code & 0x100u) != 0);
  }
};

struct SignTraits {
  GRADCAST_BOTH static int bits(double) { return 1; }
  GRADCAST_BOTH static std::uint32_t code(float u, const Scales&, double, std::uint32_t) {
    return u < 0 ? 1u : 0u;
  }
};

template <>
struct PackTraits<PackRule::Signsgd> : SignTraits {
  static constexpr MomentsOf kMoments = MomentsOf::Nothing;
  static constexpr int kScales = 0;
  static constexpr PackSum kSum = PackSum::Votes;
  GRADCAST_BOTH static Scales scales_of(const Moments&, std::int64_t, double) { return {}; }
  GRADCAST_BOTH static float value(std::uint32_t code, const Scales&, double) {
    return signed_as(1.0f, code != 0);
  }
};

/// The scale is the mean magnitude.
template <>
struct PackTraits<PackRule::Efsignsgd> : SignTraits {
  static constexpr MomentsOf kMoments = MomentsOf::Magnitudes;
  static constexpr int kScales = 1;
  static constexpr PackSum kSum = PackSum::Fp32;
  GRADCAST_BOTH static Scales scales_of(const Moments& moments, std::int64_t elements, double) {
    return {static_cast<float>(moments.sum / static_cast<double>(elements)), 0};
  }
  GRADCAST_BOTH static float value(std::uint32_t code, const Scales& scales, double) {
    return signed_as(scales.first, code != 0);
  }
};

/// The scales are the mean of all elements that are not negative, and of those that are.
template <>
struct PackTraits<PackRule::Onebit> : SignTraits {
  static constexpr MomentsOf kMoments = MomentsOf::Sides;
  static constexpr int kScales = 2;
  static constexpr PackSum kSum = PackSum::Fp32;
  GRADCAST_BOTH static Scales scales_of(const Moments& moments, std::int64_t elements, double) {
    const double below = moments.unfinite;
    const double above = static_cast<double>(elements) - below;
    return {above > 0 ? static_cast<float>(moments.sum / above) : 0.0f,
            below > 0 ? static_cast<float>(moments.squares / below) : 0.0f};
  }
  GRADCAST_BOTH static float value(std::uint32_t code, const Scales& scales, double) {
    return code != 0 ? scales.second : scales.first;
  }
};

// ---- places in a payload ------------------------------------------------------------------------

/// Elements of a block: a tensor's, or the parameter's.
template <PackRule kRule>
GRADCAST_BOTH std::int64_t block_elements(std::int64_t elements, double parameter) {
  if (kRule != PackRule::Int8) return elements;
  return static_cast<std::int64_t>(parameter);
}

template <PackRule kRule>
GRADCAST_BOTH std::int64_t blocks_in(std::int64_t elements, double parameter) {
  const std::int64_t block = block_elements<kRule>(elements, parameter);
  return (elements + block - 1) / block;
}

/// Words of 4 bytes ahead of the codes.
template <PackRule kRule>
GRADCAST_BOTH std::int64_t scale_words(std::int64_t elements, double parameter) {
  return PackTraits<kRule>::kScales * blocks_in<kRule>(elements, parameter);
}

/// Words of a tensor's payload.
template <PackRule kRule>
GRADCAST_BOTH std::int64_t packed_words(std::int64_t elements, double parameter) {
  return scale_words<kRule>(elements, parameter) +
         (elements * PackTraits<kRule>::bits(parameter) + 31) / 32;
}

// ---- what is received ---------------------------------------------------------------------------

/// Whether u had infinities or NaNs.
GRADCAST_BOTH bool not_finite(const Moments& moments, MomentsOf of) {
  return of == MomentsOf::Sides ? moments.largest >= kInfinityKey : moments.unfinite > 0;
}

/// The sum of an element's values, in the order of the workers.
template <PackRule kRule>
class PackedSum {
 public:
  GRADCAST_BOTH void add(float value) {
    sum_ = first_ ? value : add_feedback(sum_, value);
    first_ = false;
    if (PackTraits<kRule>::kSum == PackSum::Rounding) {
      const Scales none;
      sum_ = PackTraits<kRule>::value(PackTraits<kRule>::code(sum_, none, 0, 0), none, 0);
    }
  }
  GRADCAST_BOTH float result() const {
    if (PackTraits<kRule>::kSum != PackSum::Votes) return sum_;
    return sum_ > 0 ? 1.0f : sum_ < 0 ? -1.0f : 0.0f;
  }

 private:
  float sum_ = 0;
  bool first_ = true;
};

}  // namespace gradcast
