// Terms of a stack whose errors belong together: runs that measured their sum know the sum better
// than any of them.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gradcast {

/// Correlation of the logarithms of two terms, from -1 to 1. A name is that of a StackTerm, or
/// kModelFactor.
struct TermCorrelation {
  std::string one;
  std::string other;
  double value = 0;
};

/// The factor on all times of a cluster, which a stack that was learned there has.
inline constexpr const char* kModelFactor = "model_factor";

struct JointTerms {
  std::vector<std::string> names;
  /// The triangle L with L Lᵀ = the matrix of correlations (Cholesky's), by row up to the diagonal.
  std::vector<std::vector<double>> root;

  /// nullopt for a term that goes with no other.
  std::optional<std::size_t> place_of(const std::string& name) const;
};

/// The terms that these name; pairs that are not named have a correlation of 0. nullopt for no
/// correlations. Throws ValueError where no joint distribution has them.
std::optional<JointTerms> joint_terms(const std::vector<TermCorrelation>& correlations);

/// x of `matrix` x = `right`, for a symmetric positive definite matrix.
std::vector<double> solved(const std::vector<std::vector<double>>& matrix,
                           std::vector<double> right);

}  // namespace gradcast
