#include "sim/theory/law.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/normal_quantile.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
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

using Parameters = std::vector<double>;

/// Deviations beyond which a double has no density of a normal left.
constexpr int kNormalReach = 38;
/// Largest scale: the squares of elements must fit into float32, with room.
constexpr double kLargestScale = 1e9;

double normal_density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }

double signed_by(double coin, double magnitude) { return coin < 0.5 ? -magnitude : magnitude; }

void require_scale(double scale, const char* what) {
  if (scale < 1 / kLargestScale || scale > kLargestScale)
    throw ValueError(number_to_text(scale) + " is not a " + what + " from 1e-9 to 1e9");
}

void add_normal_edges(Law& law, double mean, double deviation) {
  for (int j = -kNormalReach; j <= kNormalReach; ++j) law.edges.push_back(mean + j * deviation);
}

void require_near(double mean, double deviation) {
  constexpr double kMostDeviations = 1e6;
  if (std::abs(mean) > kMostDeviations * deviation)
    throw ValueError("the mean " + number_to_text(mean) + " is more than a million deviations of " +
                     number_to_text(deviation) + " from 0: all magnitudes are equal then");
}

Law normal_law(const Parameters& given) {
  const double mean = given[0], deviation = given[1];
  require_scale(deviation, "deviation");
  require_near(mean, deviation);
  Law law;
  law.density = [=](double x) { return normal_density((x - mean) / deviation); };
  add_normal_edges(law, mean, deviation);
  law.draw = [=](double u, double) { return mean + deviation * normal_quantile(u); };
  return law;
}

Law bimodal_law(const Parameters& given) {
  const double mean = given[0], deviation = given[1];
  require_scale(deviation, "deviation");
  require_near(mean, deviation);
  Law law;
  law.density = [=](double x) {
    return normal_density((x - mean) / deviation) + normal_density((x + mean) / deviation);
  };
  add_normal_edges(law, mean, deviation);
  add_normal_edges(law, -mean, deviation);
  std::sort(law.edges.begin(), law.edges.end());
  law.draw = [=](double u, double coin) {
    return signed_by(coin, mean) + deviation * normal_quantile(u);
  };
  return law;
}

Law uniform_law(const Parameters& given) {
  const double low = given[0], high = given[1];
  if (low >= high || std::abs(low) > kLargestScale || std::abs(high) > kLargestScale)
    throw ValueError("a uniform distribution goes from a lower to a higher number, like -1,1");
  Law law;
  law.density = [=](double x) { return x > low && x < high ? 1 / (high - low) : 0; };
  law.edges = {low, high};
  law.draw = [=](double u, double) { return low + (high - low) * u; };
  return law;
}

Law laplace_law(const Parameters& given) {
  const double scale = given[0];
  require_scale(scale, "scale");
  constexpr int kLaplaceReach = 700;  // e^-700 is 1e-304
  Law law;
  law.density = [=](double x) { return std::exp(-std::abs(x) / scale); };
  for (int j = -kLaplaceReach; j <= kLaplaceReach; j += 4) law.edges.push_back(j * scale);
  law.draw = [=](double u, double coin) { return signed_by(coin, -scale * std::log(u)); };
  return law;
}

Law student_law(const Parameters& given) {
  constexpr double kLeastDegrees = 2.2;
  constexpr double kMostDegrees = 1e6;
  const double degrees = given[0];
  if (degrees <= 2)
    throw ValueError("student:" + number_to_text(degrees) +
                     " has no finite variance, so that Top-k of all of it leaves the share 0 at "
                     "any density; take 2.2 degrees of freedom or more");
  if (degrees < kLeastDegrees || degrees > kMostDegrees)
    throw ValueError(number_to_text(degrees) +
                     " degrees of freedom are not from 2.2 (below, most of the square lies beyond "
                     "what doubles reach) to a million");
  constexpr int kStudentReach = 350;  // doublings: 1e105
  Law law;
  law.density = [=](double x) {
    return std::pow(std::hypot(1, x / std::sqrt(degrees)), -(degrees + 1));
  };
  law.edges = {0};
  for (int j = -2; j <= kStudentReach; ++j) {
    law.edges.push_back(std::ldexp(1, j));
    law.edges.push_back(-std::ldexp(1, j));
  }
  std::sort(law.edges.begin(), law.edges.end());
  // Bailey's polar method (Mathematics of Computation 62, 1994).
  law.draw = [=](double u, double v) {
    return std::sqrt(degrees * std::expm1(-2 / degrees * std::log(u))) *
           std::cos(2 * std::numbers::pi * v);
  };
  constexpr double kDegreesOfKurtosis = 4.2;  // 4 in theory; below 4.2 doubles end too early
  law.has_kurtosis = degrees >= kDegreesOfKurtosis;
  return law;
}

/// Magnitudes are lognormal, signs are a coin's.
Law lognormal_law(const Parameters& given) {
  const double deviation = given[0];
  constexpr double kMostLogDeviation = 3;
  if (deviation < 0.01 || deviation > kMostLogDeviation)
    throw ValueError(number_to_text(deviation) +
                     " is not a deviation of the logarithm from 0.01 to 3");
  Law law;
  law.density = [=](double x) {
    return normal_density(std::log(std::abs(x)) / deviation) / std::abs(x);
  };
  // The fourth moment's weight lies around 4 sigma^2, in the logarithm. Half steps: the density is
  // smooth in the logarithm, not in x.
  const int reach = 2 * (kNormalReach + static_cast<int>(std::ceil(4 * deviation)));
  for (int j = -2 * kNormalReach; j <= reach; ++j)
    for (const double sign : {-1, 1})
      law.edges.push_back(sign * std::exp(deviation * static_cast<double>(j) / 2));
  std::sort(law.edges.begin(), law.edges.end());
  law.draw = [=](double u, double coin) {
    return signed_by(coin, std::exp(deviation * normal_quantile(u)));
  };
  return law;
}

/// A standard normal law, cut off at +-clip. The mass beyond lies on the two ends.
Law clipped_normal_law(const Parameters& given) {
  const double clip = given[0];
  if (clip < 0.01 || clip > kNormalReach)
    throw ValueError(number_to_text(clip) + " is not a number of deviations from 0.01 to 38");
  Law law;
  law.density = [=](double x) { return std::abs(x) < clip ? normal_density(x) : 0; };
  law.edges = {-clip};
  for (int j = -kNormalReach; j <= kNormalReach; ++j)
    if (std::abs(j) < clip) law.edges.push_back(j);
  law.edges.push_back(clip);
  const double beyond = std::erfc(clip / std::numbers::sqrt2) / 2;
  law.atoms = {{-clip, beyond}, {clip, beyond}};
  law.draw = [=](double u, double) { return std::clamp(normal_quantile(u), -clip, clip); };
  return law;
}

Law signs_law(const Parameters&) {
  Law law;
  law.atoms = {{-1, 0.5}, {1, 0.5}};
  law.draw = [](double, double coin) { return signed_by(coin, 1); };
  return law;
}

/// The density is proportional to |u|: where Theorem 1 holds with equality.
Law linear_law(const Parameters&) {
  Law law;
  law.density = [](double x) { return std::abs(x) < 1 ? std::abs(x) : 0; };
  law.edges = {-1, 0, 1};
  law.draw = [](double u, double coin) { return signed_by(coin, std::sqrt(u)); };
  return law;
}

Law triangular_law(const Parameters&) {
  Law law;
  law.density = [](double x) { return std::max(0.0, 1 - std::abs(x)); };
  law.edges = {-1, 0, 1};
  law.draw = [](double u, double coin) { return signed_by(coin, 1 - std::sqrt(u)); };
  return law;
}

struct LawKind {
  const char* name;
  std::vector<const char*> parameters;
  Parameters usual;
  Law (*make)(const Parameters& given);
};

const std::vector<LawKind>& law_kinds() {
  static const std::vector<LawKind> kinds = {
      {"normal", {"MU", "SIGMA"}, {0, 1}, normal_law},
      {"uniform", {"A", "B"}, {-1, 1}, uniform_law},
      {"laplace", {"SCALE"}, {1}, laplace_law},
      {"student", {"NU"}, {5}, student_law},
      {"lognormal", {"SIGMA"}, {1}, lognormal_law},
      {"clipped-normal", {"C"}, {1}, clipped_normal_law},
      {"bimodal", {"MU", "SIGMA"}, {3, 1}, bimodal_law},
      {"signs", {}, {}, signs_law},
      {"linear", {}, {}, linear_law},
      {"triangular", {}, {}, triangular_law},
  };
  return kinds;
}

std::string form_of(const LawKind& kind) {
  const std::vector<std::string> parameters(kind.parameters.begin(), kind.parameters.end());
  return kind.name + (parameters.empty() ? "" : ":" + join(parameters, ","));
}

template <class Word>
std::vector<std::string> of_each_law(Word word) {
  std::vector<std::string> words;
  for (const LawKind& kind : law_kinds()) words.push_back(word(kind));
  return words;
}

}  // namespace

double kurtosis_of(const Law& law) {
  if (!law.has_kurtosis) return std::numeric_limits<double>::quiet_NaN();
  const double mass = raw_moment(law, 0, 0);
  const double mean = raw_moment(law, 0, 1) / mass;
  const double variance = raw_moment(law, mean, 2) / mass;
  return raw_moment(law, mean, 4) / mass / (variance * variance);
}

Law parse_law(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string name(text.substr(0, colon));
  const auto& kinds = law_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const LawKind& each) { return each.name == name; });
  if (kind == kinds.end())
    throw ValueError("unknown distribution '" + name + "'" + did_you_mean(name, law_names()) +
                     " (known: " + join(law_forms()) + "; or the path of a .npy file)");
  Parameters given = kind->usual;
  if (colon != std::string_view::npos) {
    const std::vector<std::string> words = split_words(text.substr(colon + 1), ',');
    if (words.size() != given.size())
      throw ValueError("'" + std::string(text) + "' has " + std::to_string(words.size()) +
                       (words.size() == 1 ? " parameter" : " parameters") + "; write it like '" +
                       form_of(*kind) + "'");
    std::transform(words.begin(), words.end(), given.begin(),
                   [](const std::string& word) { return parse_number(word); });
  }
  Law law = kind->make(given);
  law.name = text;
  return law;
}

std::vector<std::string> law_forms() { return of_each_law(form_of); }

std::vector<std::string> law_names() {
  return of_each_law([](const LawKind& kind) { return std::string(kind.name); });
}

}  // namespace gradcast
