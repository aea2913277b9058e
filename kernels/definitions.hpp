// The words in which compressors are defined: order of magnitudes, random order, samples, moments.
// The reference and the kernels both read this file, so it is C++17 and plain arithmetic.
#pragma once
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define GRADCAST_BOTH __host__ __device__ inline
#else
#define GRADCAST_BOTH inline
#endif

namespace gradcast {

/// A key orders elements: the largest keys are taken first, and of equal keys the lowest index.
using Key = std::uint32_t;

inline constexpr Key kLargestKey = 0xffffffffu;
inline constexpr Key kInfinityKey = 0x7f800000u;    // magnitude keys from here on are not finite
inline constexpr std::uint32_t kNan = 0x7fffffffu;  // every NaN is stored as this one

GRADCAST_BOTH std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

GRADCAST_BOTH float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// u = g + e. NVIDIA's additions give one NaN whatever went in; the reference does the same.
GRADCAST_BOTH float add_feedback(float gradient, float residual) {
  const float sum = gradient + residual;
#ifdef __CUDA_ARCH__
  return sum;
#else
  return sum != sum ? float_of(kNan) : sum;
#endif
}

/// Orders by magnitude: 0 < denormal < finite < infinity < NaN; signs do not count.
GRADCAST_BOTH Key magnitude_key(float value) { return bits_of(value) & 0x7fffffffu; }

GRADCAST_BOTH bool is_finite(float value) { return magnitude_key(value) < kInfinityKey; }

/// The part of u that stays when `sent` is sent. It is one subtraction of fp32: if the two are not
/// within a factor of 2 of each other, its rounding is lost.
GRADCAST_BOTH float residual_of(float u, float sent) {
  return is_finite(u) && is_finite(sent) ? u - sent : 0.0f;
}

/// The smallest magnitude key with |u| > threshold. It is never above the key of infinity: elements
/// that are not finite are always sent, so that they do not stay in the residual for ever.
GRADCAST_BOTH Key least_key_above(float threshold) {
  if (threshold < 0) return 0;
  const Key above = magnitude_key(threshold) + 1;
  return above < kInfinityKey ? above : kInfinityKey;
}

/// A threshold that exactly the keys from `least` on pass, up to the key of infinity.
GRADCAST_BOTH float threshold_below(Key least) { return least > 0 ? float_of(least - 1) : -1.0f; }

/// A bijection of 32 bits, twice: constants of Ellis & Wellons' "lowbias32" (hash-prospector,
/// public domain). With one seed, all indices have different keys. So the k largest are k distinct
/// indices that depend on seed and index alone: a random order without a sort or a state.
GRADCAST_BOTH std::uint32_t mix_bits(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  x ^= x >> 16;
  return x;
}

GRADCAST_BOTH Key random_key(std::uint64_t seed, std::uint32_t index) {
  const std::uint32_t low = static_cast<std::uint32_t>(seed);
  // The low half enters twice: with it in the first round alone, the selection of seed s ^ c would
  // be that of seed s at the indices i ^ c, and seeds of successive calls differ in the low half.
  const std::uint32_t second = mix_bits(~low) ^ static_cast<std::uint32_t>(seed >> 32);
  return mix_bits(mix_bits(index ^ low) ^ second);
}

// ---- sums, in an order that every grid keeps ----------------------------------------------------

inline constexpr int kLanes = 32;
inline constexpr int kMomentElements = 1024;  // that one warp adds up: a moment tile
inline constexpr int kTreeWidth = 256;        // sums, or sums of sums, that are added in one tree

/// Quantity of which moments are taken.
enum class MomentsOf : std::uint8_t {
  Nothing,
  Values,
  Magnitudes,
  Sides,  // of what is negative and of the rest: infinities and NaNs count on their side
};

/// Moments of u, for threshold compressors and quantisers. Elements that are not finite are left
/// out of sums.
///
/// Additions of doubles depend on their order, so the order is part of the definition:
///  1. A moment tile has 1024 elements. Lane l (0 to 31) adds those at 128 r + 4 l + c in the order
///     r = 0..7, c = 0..3. Elements past the end add nothing.
///  2. The 32 lanes are added by lane[l] += lane[l ^ o] for o = 16, 8, 4, 2, 1.
///  3. 256 moment tiles (missing ones are zero) are added the same way: within each 32, then the 8
///     sums of 32 for o = 4, 2, 1. The results are again taken by 256, until one is left.
struct Moments {
  double sum = 0;              // Values: of u; Magnitudes: of |u|; Sides: of what is not negative
  double squares = 0;          // Values: of u x u (exact in a double); Sides: of what is negative
  Key largest = 0;             // largest magnitude key; Values, Magnitudes: of finite elements
  std::uint32_t unfinite = 0;  // infinities and NaNs; Sides: how many elements are negative
};

GRADCAST_BOTH Moments operator+(const Moments& a, const Moments& b) {
  return {a.sum + b.sum, a.squares + b.squares, a.largest > b.largest ? a.largest : b.largest,
          a.unfinite + b.unfinite};
}

/// Moments of one element.
GRADCAST_BOTH Moments moments_of_element(float value, MomentsOf of) {
  const Key key = magnitude_key(value);
  const bool finite = key < kInfinityKey;
  const double x = finite ? static_cast<double>(value) : 0.0;
  if (of == MomentsOf::Sides)
    return {value < 0 ? 0.0 : x, value < 0 ? x : 0.0, key, value < 0 ? 1u : 0u};
  if (!finite) return {0, 0, 0, 1};
  if (of == MomentsOf::Magnitudes) return {static_cast<double>(float_of(key)), 0, key, 0};
  return {x, x * x, key, 0};
}

// ---- DGC's sample -------------------------------------------------------------------------------

/// The elements that DGC looks at before it chooses its threshold: `units` runs of `width`
/// neighbours. Each of `units` equal strata of the vector has one run, at a place drawn at random.
struct Sample {
  std::int64_t units = 0;
  int width = 1;
  std::int64_t strata = 0;  // runs of `width` in the whole vector
  GRADCAST_BOTH std::int64_t size() const { return units * width; }
};

/// A run of 8 floats is one 32-byte sector of GPU memory; small samples go element by element.
inline constexpr std::int64_t kSampleInRuns = 4096;

/// 1 % of the elements (Lin et al., section 5, as Understanding Top-k Sparsification, section 4.3
/// uses it), but at least `least` and at most all.
GRADCAST_BOTH Sample make_sample(std::int64_t elements, std::int64_t least) {
  std::int64_t wanted = elements / 100 > least ? elements / 100 : least;
  if (wanted < 1) wanted = 1;
  if (wanted > elements) wanted = elements;
  Sample sample;
  sample.width = wanted >= kSampleInRuns ? 8 : 1;
  sample.strata = elements / sample.width;
  sample.units = wanted / sample.width < sample.strata ? wanted / sample.width : sample.strata;
  return sample;
}

/// Index in the vector of the sample's element j, 0 <= j < size().
GRADCAST_BOTH std::int64_t sample_index(const Sample& sample, std::uint64_t seed, std::int64_t j) {
  const std::int64_t unit = j / sample.width;
  // units x strata stays below 2^63: both are below 2^31.
  const std::int64_t begin = unit * sample.strata / sample.units;
  const std::int64_t end = (unit + 1) * sample.strata / sample.units;
  const std::uint32_t draw = random_key(seed, static_cast<std::uint32_t>(unit));
  const std::int64_t run =
      begin + static_cast<std::int64_t>(draw % static_cast<std::uint32_t>(end - begin));
  return run * sample.width + j % sample.width;
}

}  // namespace gradcast
