#include "sim/import/link_estimate.hpp"

#include <algorithm>

namespace gradcast {

std::optional<Link> link_of_ring(const std::vector<ImportedTransfer>& transfers, int ranks) {
  if (transfers.empty() || ranks < 2) return std::nullopt;
  double bytes = 0, seconds = 0;  // means
  for (const ImportedTransfer& one : transfers) {
    bytes += static_cast<double>(one.bytes.count);
    seconds += one.seconds.count();
  }
  const auto count = static_cast<double>(transfers.size());
  bytes /= count;
  seconds /= count;
  double rise = 0, width = 0;
  for (const ImportedTransfer& one : transfers) {
    const double aside = static_cast<double>(one.bytes.count) - bytes;
    rise += aside * (one.seconds.count() - seconds);
    width += aside * aside;
  }
  // Through the origin where there is one size, or the line would begin below it.
  double slope = width > 0 ? rise / width : 0;
  double start = seconds - slope * bytes;
  if (slope <= 0 || start < 0) {
    slope = bytes > 0 ? seconds / bytes : 0;
    start = 0;
  }
  if (slope <= 0) return std::nullopt;
  const double steps = 2.0 * (ranks - 1);
  return Link{BytesPerSecond{steps / ranks / slope}, Seconds{start / steps}};
}

}  // namespace gradcast
