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

/// Sufficient for (1 - q)^2: with m the magnitude below which the fraction p of elements lies, m^2
/// / p never falls. If |u| has the density f, that is m f(m) <= 2 p.
bool sufficient_for_square(const Population& population);

/// Sufficient for (1 - q)^3: the density of |u| never rises, and only 0 is an atom.
bool sufficient_for_cube(const Population& population);

/// Parameters of a draw from a law.
struct Drawing {
  std::int64_t elements = 100'000;  // as in the paper's Fig. 3 and 5
  std::uint64_t seed = 1;
};

struct AtDensity {
  double density = 0;             // as typed
  std::int64_t k = 0;             // for the vector: the drawn one or the file's
  double q = 0;                   // a population's density; for a vector k / d
  SquareShares exact;             // for the population, or for the file's vector
  std::optional<double> sampled;  // share that Top-k leaves of the drawn vector
};

struct BoundVerdict {
  std::string name;
  std::int64_t elements = 0;
  std::vector<AtDensity> at;
  LorenzCheck lorenz;                   // for the population, or for the file's vector
  std::optional<bool> sampled_lorenz;   // for the drawn vector
  bool below_line = false;              // for the vector: the drawn one or the file's
  bool sufficient = false;              // for (1 - q)^2: the population's, or the file's vector's
  std::optional<bool> cube_sufficient;  // for (1 - q)^3: the population's
  std::optional<double> kurtosis;
};

BoundVerdict judge(Subject subject, std::span<const double> densities, const Drawing& drawing);

}  // namespace gradcast
