#include "sim/theory/verdict.hpp"

#include <cmath>
#include <utility>

#include "sim/inputs/cost_table.hpp"
#include "sim/theory/population.hpp"
#include "sim/theory/population_conditions.hpp"
#include "sim/theory/sample.hpp"
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

}  // namespace gradcast
