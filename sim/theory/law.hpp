// A named distribution of the elements of u: "normal:8,1".
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gradcast {

/// A value that elements have with a probability above 0.
struct Atom {
  double at = 0;
  double mass = 0;
};

struct Law {
  std::string name;  // as it was typed: "normal:8,1"
  /// The density of one element, apart from the atoms; null if there are only atoms. Without atoms
  /// its scale is free.
  std::function<double(double)> density;
  /// The ends of the density's pieces, rising. Inside a piece the density is smooth and of one
  /// scale. Outside all pieces it is 0, or too small for doubles.
  std::vector<double> edges;
  std::vector<Atom> atoms;
  /// An element from two uniform numbers between 0 and 1.
  std::function<double(double, double)> draw;
  bool has_kurtosis = true;  // its fourth moment is finite
};

/// E (u - mean)^4 / variance^2; 3 for a normal one. NaN where it is not finite.
double kurtosis_of(const Law& law);

/// A name, and behind a colon its parameters. Throws ValueError for an unknown name, for parameters
/// that make no distribution, and for one without a finite variance.
Law parse_law(std::string_view text);

/// "normal:MU,SIGMA", ... for help and messages.
std::vector<std::string> law_forms();

/// "normal", ... for completion.
std::vector<std::string> law_names();

}  // namespace gradcast
