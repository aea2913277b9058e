// Does (1 - q)^2 bound what Top-k leaves, at every density? It does exactly when the Lorenz curve
// of u's squares (the share of the sum that the smallest fraction p has) lies under p^2: with p = 1
// - q both say the same.
#pragma once
#include "sim/theory/bounds.hpp"

namespace gradcast {

struct LorenzCheck {
  bool holds = true;
  /// Where it does not: the least density at which it fails, the one at which most is left beyond
  /// the bound, and how much that is.
  double first_q = 0;
  double worst_q = 0;
  double worst_excess = 0;

  /// Looks at one density; densities rise.
  void see(double q, const SquareShares& shares);
};

}  // namespace gradcast
