#include "sim/theory/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/limits.hpp"
#include "sim/inputs/cost_table.hpp"
#include "sim/theory/population.hpp"
#include "sim/theory/subject.hpp"
#include "sim/theory/vector_conditions.hpp"

namespace gradcast {
namespace {

std::optional<double> if_finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

BoundVerdict judged_law(const Law& law, std::span<const double> densities, const Drawing& drawing) {
  const Population population(law);
  const SortedMagnitudes drawn(drawn_from(law, drawing.elements, drawing.seed));
  BoundVerdict verdict;
  verdict.elements = drawing.elements;
  for (const double density : densities) {
    const std::int64_t k = wanted_elements(drawn.size(), density);
    verdict.at.push_back({density, k, density, population.at(density), drawn.at(k).left});
  }
  verdict.lorenz = check_lorenz(population);
  verdict.sampled_lorenz = drawn.check_lorenz().holds;
  verdict.below_line = drawn.below_line();
  verdict.sufficient = sufficient_for_square(population);
  verdict.cube_sufficient = sufficient_for_cube(population);
  verdict.kurtosis = if_finite(kurtosis_of(law));
  return verdict;
}

BoundVerdict judged_vector(std::vector<float> vector, std::span<const double> densities) {
  BoundVerdict verdict;
  verdict.kurtosis = if_finite(kurtosis_of(vector));
  const SortedMagnitudes sorted(std::move(vector));
  verdict.elements = sorted.size();
  for (const double density : densities) {
    const std::int64_t k = wanted_elements(sorted.size(), density);
    const double q = static_cast<double>(k) / static_cast<double>(sorted.size());
    verdict.at.push_back({density, k, q, sorted.at(k), std::nullopt});
  }
  verdict.lorenz = sorted.check_lorenz();
  verdict.below_line = sorted.below_line();
  verdict.sufficient = sorted.sufficient_for_square();
  return verdict;
}

}  // namespace

BoundVerdict judge(Subject subject, std::span<const double> densities, const Drawing& drawing) {
  BoundVerdict verdict = subject.law ? judged_law(*subject.law, densities, drawing)
                                     : judged_vector(std::move(subject.vector), densities);
  verdict.name = subject.name;
  return verdict;
}

namespace {

/// Equality cases hold: the rounding of quadrature.
constexpr double kConditionSlack = 1 + 1e-9;

constexpr int kDensitySteps = 400;
constexpr int kRefinements = 50;

/// Densities from kLeastDensity to 1 less that, equally far in log(q / (1 - q)).
double density_of_step(int step) {
  const double end = std::log(kLeastDensity / (1 - kLeastDensity));
  const double x = end * (1 - 2.0 * step / kDensitySteps);
  return 1 / (1 + std::exp(-x));
}

bool fails_at(const Population& population, double q) {
  return !within_bound(q, 2, population.at(q));
}

/// The first density at which it fails, between one where it holds and one where it does not.
double first_failure(const Population& population, double holds, double fails) {
  for (int i = 0; i < kRefinements; ++i) {
    const double middle = holds + (fails - holds) / 2;
    (fails_at(population, middle) ? fails : holds) = middle;
  }
  return fails;
}

/// Looks between two densities for the one with the largest excess: a third of the range goes at
/// each step.
void look_closer(const Population& population, double low, double high, LorenzCheck& check) {
  const auto excess = [&](double q) { return population.at(q).left - bound_left(q, 2); };
  for (int i = 0; i < kRefinements; ++i) {
    const double third = (high - low) / 3;
    if (excess(low + third) < excess(high - third))
      low += third;
    else
      high -= third;
  }
  check.see(low, population.at(low));
}

/// Calls see(m, p) at some magnitudes of each continuous piece, rising; p is the share below
/// m. Ends as soon as it answers false.
template <class See>
bool at_magnitudes(const Population& population, See see) {
  constexpr int kMagnitudes = 8;
  double below = 0;
  for (const MagnitudePiece& piece : population.pieces()) {
    for (int i = 1; i < kMagnitudes && !piece.is_atom(); ++i) {
      const double m = piece.low + (piece.high - piece.low) * i / kMagnitudes;
      if (!see(m, below + population.mass_between(piece.low, m))) return false;
    }
    below += piece.mass;
  }
  return true;
}

bool has_atom_above_zero(const Population& population) {
  for (const MagnitudePiece& piece : population.pieces())
    if (piece.is_atom() && piece.high > 0) return true;
  return false;
}

}  // namespace

LorenzCheck check_lorenz(const Population& population) {
  LorenzCheck check;
  int worst_step = 0;
  for (int step = 0; step <= kDensitySteps; ++step) {
    const double q = density_of_step(step);
    const bool held = check.holds;
    const double excess = check.worst_excess;
    check.see(q, population.at(q));
    if (check.worst_excess > excess) worst_step = step;
    if (held && !check.holds && step > 0)
      check.first_q = first_failure(population, density_of_step(step - 1), q);
  }
  if (!check.holds)
    look_closer(population, density_of_step(std::max(worst_step - 1, 0)),
                density_of_step(std::min(worst_step + 1, kDensitySteps)), check);
  return check;
}

// At an atom, p grows and m does not.
bool sufficient_for_square(const Population& population) {
  return !has_atom_above_zero(population) && at_magnitudes(population, [&](double m, double p) {
    return m * population.magnitude_density(m) <= 2 * p * kConditionSlack;
  });
}

bool sufficient_for_cube(const Population& population) {
  double before = population.pieces().front().low > 0 ? 0 : HUGE_VAL;
  return !has_atom_above_zero(population) && at_magnitudes(population, [&](double m, double) {
    const double density = population.magnitude_density(m);
    if (density > before * kConditionSlack) return false;
    before = density;
    return true;
  });
}

}  // namespace gradcast
