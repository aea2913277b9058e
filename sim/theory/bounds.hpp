// How much of u's square Top-k leaves at most, as theory says: (1 - q)^1, ^2 and ^3, with q = k/d.
// What "at most" means for doubles, and a check of (1 - q)^2 at every density.
#pragma once

namespace gradcast {

/// Of u's square, by Top-k at the density q: what it takes and what it leaves. They add up to 1;
/// each is told by itself, because the smaller one would be lost in a difference.
struct SquareShares {
  double kept = 0;
  double left = 1;
};

/// (1 - q)^power. `power` is 1: of any vector (Stich et al., arXiv 1809.07599). 2: Theorem 1 of
/// Understanding Top-k Sparsification (Shi et al., arXiv 1911.08772). 3: of a population whose
/// density of |u| does not rise.
double bound_left(double q, int power);

/// Is `left` at most (1 - q)^power? The equality cases hold: a relative 1e-9 is the rounding of
/// sums and of quadrature.
bool within_bound(double q, int power, const SquareShares& shares);

/// Theorem 2's order of the iterations after which compressed SGD converges as dense SGD does:
/// 1 / delta^2, where Top-k keeps at least the share delta of u's square. With c = d/k, the delta
/// of the classic bound, 1/c, gives c^2; that of Theorem 1, (2c - 1)/c^2, gives c^4 / (2c - 1)^2.
double iterations_order(double delta);

/// Does (1 - q)^2 bound what Top-k leaves, at every density? It does exactly when the Lorenz curve
/// of u's squares (the share of the sum that the smallest fraction p has) lies under p^2: with
/// p = 1 - q both say the same.
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
