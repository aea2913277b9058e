// The fewest bytes that encoding and decoding move through memory, where nothing is read twice that
// could be kept (kernels/README.md). Costs are derived from them, and measured ones stand beside
// them.
#pragma once
#include <cstdint>

#include "kernels/compressor.hpp"

namespace gradcast {

/// Of each element, to form u = g + e: gradient and residual are read, the residual is written.
/// What a sparsifier writes of its selected elements is left out.
inline constexpr double kEncodeBytes = 12;

/// To decode pairs: the sum is written once, 4 bytes an element. Of each selected element of each
/// worker value and index are read, 8 bytes.
inline double decode_bytes(double elements, double selected, int workers) {
  return 4 * elements + 8 * selected * workers;
}

/// True where no element can be coded before all of the tensor is read: a scale is of all of it.
bool measures_first(const Packing& packing);

/// Of a tensor, without error feedback where the compressor's source has none. A cast or quantiser
/// reads gradient and residual once, or twice where it measures first; it writes the residual and
/// its payload. Not of low rank.
double encode_floor_bytes(const Compressor& compressor, double parameter, std::int64_t elements);

/// Of what a cast or quantiser sends: the payloads are read, and the sum is written.
double decode_floor_bytes(const Packing& packing, double parameter, std::int64_t elements,
                          int workers);

/// Of PowerSGD's first two calls: u is formed and its product P written; then u is read again for
/// Q. P and Q are written, and read by the second call.
double encode_floor_bytes(const LowRankSettings& settings);

/// Of PowerSGD's last call: the means of P and Q are read, and what they say is written; u is read,
/// and what stays of it is written. Of what is not compressed the mean is read and written.
double decode_floor_bytes(const LowRankSettings& settings);

}  // namespace gradcast
