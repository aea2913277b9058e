#include "sim/theory/lorenz.hpp"

namespace gradcast {

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
