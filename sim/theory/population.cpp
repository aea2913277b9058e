#include "sim/theory/population.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "sim/theory/gauss_legendre.hpp"

namespace gradcast {
namespace {

/// The ends of the pieces of |u|: the law's edges, mirrored to positive values, and 0.
std::vector<double> folded_edges(const std::vector<double>& edges) {
  std::vector<double> folded;
  if (edges.empty()) return folded;
  if (edges.front() < 0 && edges.back() > 0) folded.push_back(0);
  for (const double edge : edges) folded.push_back(std::abs(edge));
  std::sort(folded.begin(), folded.end());
  folded.erase(std::unique(folded.begin(), folded.end()), folded.end());
  return folded;
}

/// The value between two others at which a rising mass reaches `mass`.
template <class Mass>
double place_of(double mass, double low, double high, Mass mass_at) {
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (mass_at(middle) < mass ? low : high) = middle;
  }
}

}  // namespace

Population::Population(Law law) : law_(std::move(law)) {
  const std::vector<double> edges = folded_edges(law_.edges);
  for (std::size_t i = 1; i < edges.size(); ++i)
    pieces_.push_back({edges[i - 1], edges[i], mass_between(edges[i - 1], edges[i]),
                       square_between(edges[i - 1], edges[i])});
  for (const Atom& atom : law_.atoms) {
    const double m = std::abs(atom.at);
    pieces_.push_back({m, m, atom.mass, atom.mass * m * m});
  }
  std::erase_if(pieces_, [](const MagnitudePiece& piece) { return piece.mass <= 0; });
  std::sort(pieces_.begin(), pieces_.end(), [](const auto& a, const auto& b) {
    return a.low != b.low ? a.low < b.low : a.high < b.high;
  });
  double mass = 0, square = 0;  // from the smallest: tails are added to tails first
  for (const MagnitudePiece& piece : pieces_) {
    mass += piece.mass;
    square += piece.square;
  }
  if (!(mass > 0 && square > 0 && std::isfinite(square)))
    throw std::logic_error("the law " + law_.name + " has no mass or no square");
  whole_mass_ = mass;
  whole_square_ = square / mass;
  for (MagnitudePiece& piece : pieces_) {
    piece.mass /= mass;
    piece.square /= square;
  }
}

double Population::magnitude_density(double m) const {
  return law_.density ? (law_.density(m) + law_.density(-m)) / whole_mass_ : 0;
}

double Population::mass_between(double low, double high) const {
  return integral(low, high, [&](double m) { return magnitude_density(m); });
}

double Population::square_between(double low, double high) const {
  return integral(low, high, [&](double m) { return m * (m * magnitude_density(m)); }) /
         whole_square_;
}

// Both correct the square for the mass that the place found misses or has too much, as if that mass
// lay at the place. So an error of the place counts only squared. For an atom, the correction is
// all.
double Population::square_of_largest(const MagnitudePiece& piece, double mass) const {
  if (mass >= piece.mass) return piece.square;
  double place = piece.high;
  if (!piece.is_atom())
    place = piece.low + piece.high - place_of(mass, piece.low, piece.high, [&](double mirrored) {
              return mass_between(piece.low + piece.high - mirrored, piece.high);
            });
  return square_between(place, piece.high) +
         (mass - mass_between(place, piece.high)) * place * place / whole_square_;
}

double Population::square_of_smallest(const MagnitudePiece& piece, double mass) const {
  if (mass >= piece.mass) return piece.square;
  double place = piece.low;
  if (!piece.is_atom())
    place =
        place_of(mass, piece.low, piece.high, [&](double m) { return mass_between(piece.low, m); });
  return square_between(piece.low, place) +
         (mass - mass_between(piece.low, place)) * place * place / whole_square_;
}

SquareShares Population::at(double q) const {
  SquareShares shares;
  if (q <= 0) return shares;
  if (q >= 1) return {1, 0};
  if (q <= 0.5) {
    double mass = q;
    for (auto piece = pieces_.rbegin(); piece != pieces_.rend() && mass > 0; ++piece) {
      shares.kept += square_of_largest(*piece, mass);
      mass -= piece->mass;
    }
    shares.left = 1 - shares.kept;
    return shares;
  }
  double mass = 1 - q;
  shares.left = 0;
  for (auto piece = pieces_.begin(); piece != pieces_.end() && mass > 0; ++piece) {
    shares.left += square_of_smallest(*piece, mass);
    mass -= piece->mass;
  }
  shares.kept = 1 - shares.left;
  return shares;
}

}  // namespace gradcast
