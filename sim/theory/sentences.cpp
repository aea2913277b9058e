#include "sim/theory/sentences.hpp"

#include "sim/base/units.hpp"
#include "sim/theory/bounds.hpp"

namespace gradcast {
namespace {

std::string three_digits(double value) { return number_to_text(rounded_to(3, value)); }

/// "0.511", but near 1 "1 - 0.00012".
std::string density_text(double q) {
  return q > 0.99 ? "1 - " + three_digits(1 - q) : three_digits(q);
}

/// As a whole number where it is large: "250250".
std::string order_text(double delta) {
  constexpr int kOrderDigits = 6;
  return number_to_text(rounded_to(kOrderDigits, iterations_order(delta)));
}

std::string lorenz_sentence(const BoundVerdict& verdict) {
  const LorenzCheck& lorenz = verdict.lorenz;
  if (lorenz.holds)
    return verdict.name + ": at every density, Top-k leaves at most (1 - k/d)^2 of the square" +
           (verdict.cube_sufficient.value_or(false)
                ? "; even (1 - k/d)^3, as the density of |u| never rises."
                : ".");
  return verdict.name + ": Top-k leaves more than (1 - k/d)^2 of the square from the density " +
         density_text(lorenz.first_q) + " on; at " + density_text(lorenz.worst_q) +
         " it leaves most beyond it, by " + three_digits(lorenz.worst_excess) + ".";
}

}  // namespace

std::vector<std::string> verdict_sentences(const BoundVerdict& verdict) {
  std::vector<std::string> sentences{lorenz_sentence(verdict)};
  if (verdict.at.empty()) return sentences;
  const AtDensity& at = verdict.at.front();
  sentences.push_back(verdict.name + ": at the density " + number_to_text(at.density) +
                      ", Theorem 2's order of iterations is " + order_text(at.q) +
                      " with 1 - k/d, " + order_text(at.q * (2 - at.q)) + " with (1 - k/d)^2, " +
                      order_text(at.exact.kept) +
                      " with what Top-k leaves here. Orders compare; they count no iterations.");
  return sentences;
}

}  // namespace gradcast
