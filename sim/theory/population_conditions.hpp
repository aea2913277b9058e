// When do the bounds hold for a whole population, whatever the density?
#pragma once
#include "sim/theory/lorenz.hpp"
#include "sim/theory/population.hpp"

namespace gradcast {

/// Looks at densities from 1e-9 to 1 - 1e-9, and closer where it fails.
LorenzCheck check_lorenz(const Population& population);

/// Sufficient for (1 - q)^2: with m the magnitude below which the fraction p of elements lies,
/// m^2 / p never falls. Where |u| has the density f, that is m f(m) <= 2 p.
bool sufficient_for_square(const Population& population);

/// Sufficient for (1 - q)^3: the density of |u| never rises, and only 0 is an atom.
bool sufficient_for_cube(const Population& population);

}  // namespace gradcast
