#include "sim/theory/vector_conditions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace gradcast {
namespace {

/// Tolerance for quotients whose parts are exact or rounded once.
constexpr double kQuotientSlack = 1 + 1e-12;

}  // namespace

SortedMagnitudes::SortedMagnitudes(std::vector<float> vector) : magnitudes_(std::move(vector)) {
  for (float& element : magnitudes_) element = std::abs(element);
  std::sort(magnitudes_.begin(), magnitudes_.end(), std::greater<>());
  for (std::int64_t i = size(); i-- > 0;) whole_ += square_of(i);  // the smallest first
}

double SortedMagnitudes::square_of(std::int64_t i) const {
  const double magnitude = magnitudes_[static_cast<std::size_t>(i)];
  return magnitude * magnitude;
}

SquareShares SortedMagnitudes::at(std::int64_t k) const {
  double kept = 0;
  double left = 0;
  for (std::int64_t i = k; i-- > 0;) kept += square_of(i);
  for (std::int64_t i = size(); i-- > k;) left += square_of(i);
  return {kept / whole_, left / whole_};
}

double SortedMagnitudes::square_below_largest(std::int64_t larger) const {
  return square_of(larger) / square_of(0);
}

LorenzCheck SortedMagnitudes::check_lorenz() const {
  LorenzCheck check;
  const double d = static_cast<double>(size());
  double kept = 0;
  // The sum of the smallest comes from a difference, which is exact enough while it is large; the
  // rest is summed from the other end.
  const std::int64_t middle = size() / 2;
  for (std::int64_t k = 1; k <= middle; ++k) {
    kept += square_of(k - 1);
    check.see(static_cast<double>(k) / d, {kept / whole_, (whole_ - kept) / whole_});
  }
  LorenzCheck upper;  // falling, so that its first failure is the last one seen
  double left = 0;
  for (std::int64_t k = size() - 1; k > middle; --k) {
    left += square_of(k);
    const double q = static_cast<double>(k) / d;
    const SquareShares shares{(whole_ - left) / whole_, left / whole_};
    upper.see(q, shares);
    if (!within_bound(q, 2, shares)) upper.first_q = q;
  }
  if (upper.holds) return check;
  if (check.holds) check.first_q = upper.first_q;
  check.holds = false;
  if (upper.worst_excess > check.worst_excess) {
    check.worst_excess = upper.worst_excess;
    check.worst_q = upper.worst_q;
  }
  return check;
}

bool SortedMagnitudes::below_line() const {
  const double d = static_cast<double>(size());
  for (std::int64_t i = 0; i < size(); ++i)
    if (square_below_largest(i) > (1 - static_cast<double>(i) / d) * kQuotientSlack) return false;
  return true;
}

bool SortedMagnitudes::sufficient_for_square() const {
  const auto quotient = [&](std::int64_t i) {  // i from 0
    return square_of(i) / static_cast<double>(2 * (size() - 1 - i) + 1);
  };
  for (std::int64_t i = 1; i < size(); ++i)
    if (quotient(i) > quotient(i - 1) * kQuotientSlack) return false;
  return true;
}

}  // namespace gradcast
