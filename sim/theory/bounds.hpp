// Upper bounds on the share of u's square that Top-k leaves: (1 - q)^1, ^2 and ^3, with q = k/d.
// "At most" allows for the rounding of doubles. LorenzCheck checks (1 - q)^2 at every density.
#pragma once

namespace gradcast {

/// The shares of u's square that Top-k takes and leaves at the density q. They add up to 1; both
/// are stored, because the smaller one would be lost in a difference.
struct SquareShares {
  double kept = 0;
  double left = 1;
};

/// (1 - q)^power. Power 1 holds for any vector (Stich et al., arXiv 1809.07599). Power 2 is Theorem
/// 1 of Understanding Top-k Sparsification (Shi et al., arXiv 1911.08772). Power 3 holds for a
/// population whose density of |u| does not rise.
double bound_left(double q, int power);

/// Is `left` at most (1 - q)^power? The equality cases hold: a relative 1e-9 is the rounding of
/// sums and of quadrature.
bool within_bound(double q, int power, const SquareShares& shares);

/// Theorem 2's order of the iterations after which compressed SGD converges as dense SGD does:
/// 1 / delta^2, where Top-k keeps at least the share delta of u's square. With c = d/k, the delta
/// of the classic bound, 1/c, gives c^2; that of Theorem 1, (2c - 1)/c^2, gives c^4 / (2c - 1)^2.
double iterations_order(double delta);

/// Does (1 - q)^2 bound the share that Top-k leaves, at every density? It does exactly when the
/// Lorenz curve of u's squares lies under p^2. That curve is the share of the sum in the smallest
/// fraction p; p = 1 - q makes the two conditions the same.
struct LorenzCheck {
  bool holds = true;
  /// If it does not hold: the lowest density at which it fails, the density with the largest excess
  /// over the bound, and that excess.
  double first_q = 0;
  double worst_q = 0;
  double worst_excess = 0;

  /// Looks at one density; densities rise.
  void see(double q, const SquareShares& shares);
};

}  // namespace gradcast
