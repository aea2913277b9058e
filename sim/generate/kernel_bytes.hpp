// The least bytes that the project's kernels move (kernels/README.md), from which costs are
// derived.
#pragma once
#include <cstdint>

namespace gradcast {

/// Of each element, to encode it: gradient and residual are read, the residual is written.
inline constexpr double kEncodeBytes = 12;

/// A tensor of at most this many elements is encoded whole by one block, in one launch.
inline constexpr std::int64_t kWholeTensor = 8192;

/// To decode: the sum is written once, 4 bytes an element. Of each selected element of each worker
/// value and index are read, 8 bytes; they are added in shared memory.
inline double decode_bytes(double elements, double selected, int workers) {
  return 4 * elements + 8 * selected * workers;
}

}  // namespace gradcast
