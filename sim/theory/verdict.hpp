// One distribution or vector, held against the bounds: for all densities, and at some.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/theory/bounds.hpp"
#include "sim/theory/population.hpp"
#include "sim/theory/subject.hpp"

namespace gradcast {

/// Looks at densities from 1e-9 to 1 - 1e-9, and closer where it fails.
LorenzCheck check_lorenz(const Population& population);

/// Sufficient for (1 - q)^2: with m the magnitude below which the fraction p of elements lies,
/// m^2 / p never falls. Where |u| has the density f, that is m f(m) <= 2 p.
bool sufficient_for_square(const Population& population);

/// Sufficient for (1 - q)^3: the density of |u| never rises, and only 0 is an atom.
bool sufficient_for_cube(const Population& population);

/// How many elements are drawn of a law, and which.
struct Drawing {
  std::int64_t elements = 100'000;  // as in the paper's Fig. 3 and 5
  std::uint64_t seed = 1;
};

struct AtDensity {
  double density = 0;             // as it was asked for
  std::int64_t k = 0;             // of the vector: drawn, or of the file
  double q = 0;                   // of a population the density, of a vector k / d
  SquareShares exact;             // of the population, or of the file's vector
  std::optional<double> sampled;  // what Top-k leaves of the drawn vector
};

struct BoundVerdict {
  std::string name;
  std::int64_t elements = 0;
  std::vector<AtDensity> at;
  LorenzCheck lorenz;                   // of the population, or of the file's vector
  std::optional<bool> sampled_lorenz;   // of the drawn vector
  bool below_line = false;              // of the vector, drawn or of the file
  bool sufficient = false;              // for (1 - q)^2: of the population, or of the file's vector
  std::optional<bool> cube_sufficient;  // for (1 - q)^3: of a population
  std::optional<double> kurtosis;
};

BoundVerdict judge(Subject subject, std::span<const double> densities, const Drawing& drawing);

}  // namespace gradcast
