#include "kernels/floor_bytes.hpp"

namespace gradcast {

/// A scale of each block is written whenever its block has been read; of those there are more the
/// more elements there are.
bool measures_first(const Packing& packing) {
  constexpr std::int64_t kMany = std::int64_t{1} << 30;
  constexpr double kAnyParameter = 1024;
  const std::int64_t scales = packing.scale_words(kMany, kAnyParameter);
  return scales > 0 && scales == packing.scale_words(kMany / 2, kAnyParameter);
}

double encode_floor_bytes(const Compressor& compressor, double parameter, std::int64_t elements) {
  const auto all = static_cast<double>(elements);
  if (compressor.packing == nullptr) return kEncodeBytes * all;
  const Packing& packing = *compressor.packing;
  const double read = compressor.feedback ? 8 : 4;
  const double written = compressor.feedback ? 4 : 0;
  const double passes = measures_first(packing) ? 2 : 1;
  return (passes * read + written) * all +
         4 * static_cast<double>(packing.words(elements, parameter));
}

double decode_floor_bytes(const Packing& packing, double parameter, std::int64_t elements,
                          int workers) {
  return 4 * static_cast<double>(elements) +
         4 * static_cast<double>(packing.words(elements, parameter)) * workers;
}

double encode_floor_bytes(const LowRankSettings& settings) {
  const LowRankNumbers numbers = low_rank_numbers(settings.shape, settings.rank, settings.mode);
  const auto all = static_cast<double>(settings.shape.rows * settings.shape.columns);
  const double formed = kEncodeBytes * all;
  if (!numbers.compressed()) return formed + 4 * all;  // u is sent
  // Q is read, and P written; P is read, and Q written.
  const double thin = static_cast<double>(numbers.first + numbers.second);
  return formed + 4 * all + 2 * 4 * thin;
}

double decode_floor_bytes(const LowRankSettings& settings) {
  const LowRankNumbers numbers = low_rank_numbers(settings.shape, settings.rank, settings.mode);
  const auto all = static_cast<double>(settings.shape.rows * settings.shape.columns);
  if (!numbers.compressed()) return 8 * all;
  return 12 * all + 4 * static_cast<double>(numbers.first + numbers.second);
}

}  // namespace gradcast
