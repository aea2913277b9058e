// Payloads of quantisers whose workers share one scale: multiples of it, which add up. An
// all-reduce carries them, so a rank receives no more bytes if there are more ranks. The reference
// and the kernels both read this file, so it is C++17 and plain arithmetic.
//
// Each worker finds the scale that it would have taken by itself (packing.hpp). The shared one is
// the largest of all workers', by an all-reduce of the maximum. With it each element becomes a
// multiple of scale / L, from -L to L, L being the rule's `largest`.
//
// A payload has, for each element, a lane of 8, 16 or 32 bits with the multiple + L, the lowest
// bits first; the last word is filled up with zeros. Lanes have room for the sum over all workers.
// So words that are added as unsigned numbers of 32 bits (ncclSum of ncclUint32) hold the sums of
// lanes: nothing is carried from one to the next.
#pragma once
#include <cstdint>

#include "kernels/packing.hpp"

namespace gradcast {

/// Traits of rules whose multiples add up:
///   largest(p)    L;
///   multiple_of   the multiple of a code;
///   kept(u, own)  the value that a worker codes for u, `own` being the scale that it would have
///                 taken by itself.
template <PackRule kRule>
struct LevelTraits;

template <>
struct LevelTraits<PackRule::Qsgd> {
  GRADCAST_BOTH static std::uint32_t largest(double levels) {
    return static_cast<std::uint32_t>(levels);
  }
  GRADCAST_BOTH static std::int32_t multiple_of(std::uint32_t code, double levels) {
    const std::uint32_t sign = 1u << (PackTraits<PackRule::Qsgd>::bits(levels) - 1);
    const auto level = static_cast<std::int32_t>(code & (sign - 1));
    return (code & sign) != 0 ? -level : level;
  }
  GRADCAST_BOTH static float kept(float u, float) { return u; }
};

/// Each worker clips at its own bound before the scales are compared (Wen et al., section 3.2).
template <>
struct LevelTraits<PackRule::Terngrad> {
  GRADCAST_BOTH static std::uint32_t largest(double) { return 1; }
  GRADCAST_BOTH static std::int32_t multiple_of(std::uint32_t code, double) {
    return (code & 1u) == 0 ? 0 : (code & 2u) != 0 ? -1 : 1;
  }
  GRADCAST_BOTH static float kept(float u, float own) {
    return magnitude_of(u) > own ? signed_as(own, u < 0) : u;  // a NaN stays one
  }
};

/// Bits of a lane for the sum of so many workers' multiples + L: 0 to 2 L workers. 0: no lane of 32
/// bits holds it.
GRADCAST_BOTH int lane_bits(double largest, std::int64_t workers) {
  const double most = 2 * largest * static_cast<double>(workers);
  return most <= 255 ? 8 : most <= 65535 ? 16 : most <= 4294967295.0 ? 32 : 0;
}

/// Words of a tensor's payload.
GRADCAST_BOTH std::int64_t lane_words(std::int64_t elements, int bits) {
  return (elements * bits + 31) / 32;
}

/// The received value of an element, from a lane's sum of all workers' multiples + L.
GRADCAST_BOTH float value_of_sum(std::uint32_t lane, std::uint32_t workers, float scale,
                                 std::uint32_t largest) {
  const auto sum = static_cast<std::int32_t>(lane - workers * largest);
  return scale * (static_cast<float>(sum) / static_cast<float>(largest));
}

}  // namespace gradcast
