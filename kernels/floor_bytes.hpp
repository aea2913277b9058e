// The fewest bytes that encoding and decoding move through memory, where nothing is read twice that
// could be kept (kernels/README.md). Costs are derived from them, and measured ones stand beside
// them.
#pragma once
#include <cstdint>

#include "kernels/compressor.hpp"

namespace gradcast {

/// Bytes of an element to form u = g + e: gradient and residual are read, the residual is written.
/// A sparsifier also writes its selected elements, which are left out.
inline constexpr double kEncodeBytes = 12;

/// Bytes to decode pairs: the sum is written once, 4 bytes an element. Value and index of each
/// selected element of each worker are read, 8 bytes.
inline double decode_bytes(double elements, double selected, int workers) {
  return 4 * elements + 8 * selected * workers;
}

/// True where no element can be coded before all of the tensor is read: a scale is of all of it.
bool measures_first(const Packing& packing);

/// Bytes to encode a tensor, without error feedback if the compressor's source has none. A cast or
/// quantiser reads gradient and residual once, or twice if it measures first. It writes the
/// residual and its payload. Not for low rank.
double encode_floor_bytes(const Compressor& compressor, double parameter, std::int64_t elements);

/// Bytes to decode the payloads of a cast or quantiser: they are read, and the sum is written.
double decode_floor_bytes(const Packing& packing, double parameter, std::int64_t elements,
                          int workers);

/// Bytes of PowerSGD's first two calls. The first forms u, reads Q and writes their product P. The
/// second reads u and P, and writes Q. If the tensor is not compressed, u is formed and sent.
double encode_floor_bytes(const LowRankSettings& settings);

/// Bytes of PowerSGD's last call. It reads the means of P and Q, and u; it writes the dense
/// gradient and the residual. If the tensor is not compressed, the mean is read and written.
double decode_floor_bytes(const LowRankSettings& settings);

}  // namespace gradcast
