// All of a law at once, by magnitude: the share that Top-k leaves of infinitely many elements.
#pragma once
#include <vector>

#include "sim/theory/bounds.hpp"
#include "sim/theory/law.hpp"

namespace gradcast {

/// A stretch of magnitudes between two edges, or an atom (low == high). Shares of the whole.
struct MagnitudePiece {
  double low = 0;
  double high = 0;
  double mass = 0;
  double square = 0;

  bool is_atom() const { return low == high; }
};

class Population {
 public:
  /// Throws std::logic_error for a law without mass or square.
  explicit Population(Law law);

  const Law& law() const { return law_; }
  /// Pieces by rising magnitude.
  const std::vector<MagnitudePiece>& pieces() const { return pieces_; }

  /// The shares that Top-k takes and leaves at the density q, 0 <= q <= 1. An atom may be taken in
  /// part.
  SquareShares at(double q) const;

  /// The density of |u| at m, as a share of the whole.
  double magnitude_density(double m) const;

  /// The share of elements with a magnitude in a part of a piece.
  double mass_between(double low, double high) const;

 private:
  double square_between(double low, double high) const;
  /// The square of the `mass` largest elements of a piece, or of its smallest.
  double square_of_largest(const MagnitudePiece& piece, double mass) const;
  double square_of_smallest(const MagnitudePiece& piece, double mass) const;

  Law law_;
  std::vector<MagnitudePiece> pieces_;
  double whole_mass_ = 1;    // mass of the law's density and atoms
  double whole_square_ = 1;  // as a multiple of whole_mass_
};

}  // namespace gradcast
