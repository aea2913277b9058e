#include "kernels/bench/encode_path.hpp"

#include <algorithm>

#include "kernels/selection.hpp"

namespace gradcast {

std::string encode_path(std::uint32_t status) {
  if ((status & kGeneric) != 0) return "radix select";
  if ((status & kFullReread) != 0) return "u re-read";
  return (status & kTilesReread) != 0 ? "tiles re-read" : "fast";
}

double encode_bytes(double elements, double selected, std::uint32_t status) {
  constexpr double kTile = 1024;
  constexpr double kSector = 32;  // what a lone element costs
  const double sampled = std::min(elements / 32, 131072.0);
  const double looks_back = (status & kFullReread) != 0 ? 2 : 0;  // to count, and to send
  const double searches = (status & kGeneric) != 0 ? 3 : 0;
  return 12 * elements + 8 * sampled + elements / kTile * (3 * 4 + 3 * kSector) +
         selected * (8 + kSector) + 4 * elements * (looks_back + searches);
}

}  // namespace gradcast
