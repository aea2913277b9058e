// The definition of all casts and quantisers, in plain loops, from their rules (packing.hpp). u is
// formed in full, then its scales, then code after code.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/compressor.hpp"
#include "kernels/packing.hpp"
#include "kernels/reference.hpp"

namespace gradcast {

/// Writes codes one after another into words that are zero.
class CodeWriter {
 public:
  explicit CodeWriter(std::span<std::uint32_t> words) : words_(words) {}
  void put(std::uint32_t code, int bits) {
    const std::size_t word = at_ / 32;
    const std::uint64_t shifted = std::uint64_t{code} << (at_ % 32);
    words_[word] |= static_cast<std::uint32_t>(shifted);
    at_ += static_cast<std::size_t>(bits);
    if (at_ > 32 * (word + 1)) words_[word + 1] |= static_cast<std::uint32_t>(shifted >> 32);
  }

 private:
  std::span<std::uint32_t> words_;
  std::size_t at_ = 0;
};

/// Code number `index` of so many bits.
inline std::uint32_t code_at(std::span<const std::uint32_t> words, std::size_t index, int bits) {
  const std::size_t at = index * static_cast<std::size_t>(bits);
  const std::size_t word = at / 32;
  std::uint64_t both = words[word];
  if (at % 32 + static_cast<std::size_t>(bits) > 32) both |= std::uint64_t{words[word + 1]} << 32;
  return static_cast<std::uint32_t>(both >> (at % 32) & ((std::uint64_t{1} << bits) - 1));
}

template <PackRule kRule>
Scales read_scales(std::span<const std::uint32_t> packed, std::size_t block) {
  constexpr int kScales = PackTraits<kRule>::kScales;
  Scales scales;
  if (kScales > 0) scales.first = float_of(packed[block * kScales]);
  if (kScales > 1) scales.second = float_of(packed[block * kScales + 1]);
  return scales;
}

/// u, whole. Without a residual it is the gradient, but that of NaNs there is one.
inline std::vector<float> sum_of(std::span<const float> gradient, std::span<const float> residual) {
  std::vector<float> u(gradient.size());
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] = add_feedback(gradient[i], residual.empty() ? 0.0f : residual[i]);
  return u;
}

template <PackRule kRule>
std::uint32_t encode_packed(std::span<const float> gradient, std::span<float> residual,
                            const PackSettings& settings, std::span<std::uint32_t> packed) {
  using Traits = PackTraits<kRule>;
  const std::size_t n = gradient.size();
  const auto elements = static_cast<std::int64_t>(n);
  const double parameter = settings.parameter;
  const std::vector<float> u = sum_of(gradient, residual);

  std::fill(packed.begin(), packed.end(), 0u);
  const auto block = static_cast<std::size_t>(block_elements<kRule>(elements, parameter));
  std::uint32_t status = 0;
  if (Traits::kMoments != MomentsOf::Nothing)
    for (std::size_t begin = 0, number = 0; begin < n; begin += block, ++number) {
      const auto part = std::span<const float>(u).subspan(begin, std::min(block, n - begin));
      const Moments moments = moments_of(part, Traits::kMoments);
      const Scales scales =
          Traits::scales_of(moments, static_cast<std::int64_t>(part.size()), parameter);
      if (Traits::kScales > 0) packed[number * Traits::kScales] = bits_of(scales.first);
      if (Traits::kScales > 1) packed[number * Traits::kScales + 1] = bits_of(scales.second);
      if (not_finite(moments, Traits::kMoments)) status |= kNotFinite;
    }

  CodeWriter codes(
      packed.subspan(static_cast<std::size_t>(scale_words<kRule>(elements, parameter))));
  for (std::size_t i = 0; i < n; ++i) {
    const Scales scales = read_scales<kRule>(packed, i / block);
    const std::uint32_t key = random_key(settings.seed, static_cast<std::uint32_t>(i));
    const std::uint32_t code = Traits::code(u[i], scales, parameter, key);
    codes.put(code, Traits::bits(parameter));
    if (!residual.empty()) residual[i] = residual_of(u[i], Traits::value(code, scales, parameter));
  }
  return status;
}

template <PackRule kRule>
void decode_packed(std::span<const std::span<const std::uint32_t>> payloads, double parameter,
                   std::span<float> dense) {
  using Traits = PackTraits<kRule>;
  const auto elements = static_cast<std::int64_t>(dense.size());
  const auto ahead = static_cast<std::size_t>(scale_words<kRule>(elements, parameter));
  const auto block = static_cast<std::size_t>(block_elements<kRule>(elements, parameter));
  for (std::size_t i = 0; i < dense.size(); ++i) {
    PackedSum<kRule> sum;
    for (const std::span<const std::uint32_t> packed : payloads) {
      const std::uint32_t code = code_at(packed.subspan(ahead), i, Traits::bits(parameter));
      sum.add(Traits::value(code, read_scales<kRule>(packed, i / block), parameter));
    }
    dense[i] = sum.result();
  }
}

template <PackRule kRule>
constexpr Packing packing_of(bool unbiased = false, double unbiased_parameter = 0,
                             const Levels* levels = nullptr) {
  return {.rule = kRule,
          .sum = PackTraits<kRule>::kSum,
          .levels = levels,
          .unbiased = unbiased,
          .unbiased_parameter = unbiased_parameter,
          .bits = PackTraits<kRule>::bits,
          .scale_words = scale_words<kRule>,
          .words = packed_words<kRule>,
          .encode = encode_packed<kRule>,
          .decode = decode_packed<kRule>};
}

}  // namespace gradcast
