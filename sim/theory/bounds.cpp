#include "sim/theory/bounds.hpp"

#include <cmath>

namespace gradcast {
namespace {

constexpr double kRoundingSlack = 1e-9;

}  // namespace

double bound_left(double q, int power) { return std::pow(1 - q, power); }

bool within_bound(double q, int power, const SquareShares& shares) {
  if (q >= 1) return true;  // nothing is left
  if (q > 0.5) return shares.left <= bound_left(q, power) * (1 + kRoundingSlack);
  const double least_kept = -std::expm1(power * std::log1p(-q));
  return shares.kept >= least_kept * (1 - kRoundingSlack);
}

double iterations_order(double delta) { return 1 / (delta * delta); }

void LorenzCheck::see(double q, const SquareShares& shares) {
  if (within_bound(q, 2, shares)) return;
  const double excess = shares.left - bound_left(q, 2);
  if (holds) first_q = q;
  if (!holds && excess <= worst_excess) return;
  holds = false;
  worst_excess = excess;
  worst_q = q;
}

}  // namespace gradcast
