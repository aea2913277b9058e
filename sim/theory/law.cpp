#include "sim/theory/law.hpp"

#include <cmath>
#include <limits>

#include "sim/theory/gauss_legendre.hpp"

namespace gradcast {
namespace {

/// E (u - about)^power, not yet divided by the mass, which is power 0.
double raw_moment(const Law& law, double about, int power) {
  double sum = 0;
  for (const Atom& atom : law.atoms) sum += atom.mass * std::pow(atom.at - about, power);
  for (std::size_t i = 1; i < law.edges.size(); ++i)
    sum += integral(law.edges[i - 1], law.edges[i], [&](double x) {
      const double density = law.density(x);
      return density > 0 ? density * std::pow(x - about, power) : 0;  // not 0 x infinity
    });
  return sum;
}

}  // namespace

double kurtosis_of(const Law& law) {
  if (!law.has_kurtosis) return std::numeric_limits<double>::quiet_NaN();
  const double mass = raw_moment(law, 0, 0);
  const double mean = raw_moment(law, 0, 1) / mass;
  const double variance = raw_moment(law, mean, 2) / mass;
  return raw_moment(law, mean, 4) / mass / (variance * variance);
}

}  // namespace gradcast
