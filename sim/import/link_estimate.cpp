#include "sim/import/link_estimate.hpp"

#include <algorithm>
#include <limits>

namespace gradcast {
namespace {

/// Seconds a byte of the fastest.
double fastest(const std::vector<ImportedTransfer>& transfers) {
  double least = std::numeric_limits<double>::infinity();
  for (const ImportedTransfer& one : transfers)
    least = std::min(least, one.seconds.count() / static_cast<double>(one.bytes.count));
  return least;
}

}  // namespace

std::optional<Link> link_of_ring(const std::vector<ImportedTransfer>& transfers, int ranks,
                                 bool with_waiting) {
  if (transfers.empty() || ranks < 2) return std::nullopt;
  double bytes = 0, seconds = 0;  // means
  for (const ImportedTransfer& one : transfers) {
    if (one.bytes.count <= 0 || one.seconds <= Seconds{0}) return std::nullopt;
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
  double slope = width > 0 ? rise / width : 0;
  double start = seconds - slope * bytes;
  if (with_waiting || slope <= 0 || start < 0) {
    slope = fastest(transfers);
    start = 0;
  }
  const double steps = 2.0 * (ranks - 1);
  return Link{BytesPerSecond{steps / ranks / slope}, Seconds{start / steps}};
}

}  // namespace gradcast
