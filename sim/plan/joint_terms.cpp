#include "sim/plan/joint_terms.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/error.hpp"

namespace gradcast {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// A pivot below this is 0 but for rounding, or less.
constexpr double kLeastPivot = 1e-9;

Matrix matrix_of(const std::vector<std::string>& names,
                 const std::vector<TermCorrelation>& correlations) {
  Matrix matrix(names.size(), std::vector<double>(names.size(), 0));
  const auto place = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  for (std::size_t i = 0; i < names.size(); ++i) matrix[i][i] = 1;
  for (const TermCorrelation& each : correlations) {
    const std::size_t one = place(each.one);
    const std::size_t other = place(each.other);
    matrix[one][other] = matrix[other][one] = each.value;
  }
  return matrix;
}

/// Throws ValueError where there is none.
Matrix root_of(const Matrix& matrix) {
  Matrix root(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double left = matrix[i][j];
      for (std::size_t k = 0; k < j; ++k) left -= root[i][k] * root[j][k];
      if (i == j && left < kLeastPivot)
        throw ValueError("no joint distribution has these correlations");
      root[i].push_back(i == j ? std::sqrt(left) : left / root[j][j]);
    }
  return root;
}

}  // namespace

std::optional<std::size_t> JointTerms::place_of(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

std::optional<JointTerms> joint_terms(const std::vector<TermCorrelation>& correlations) {
  if (correlations.empty()) return std::nullopt;
  JointTerms joint;
  for (const TermCorrelation& each : correlations)
    for (const std::string* name : {&each.one, &each.other})
      if (!joint.place_of(*name)) joint.names.push_back(*name);
  joint.root = root_of(matrix_of(joint.names, correlations));
  return joint;
}

std::vector<double> solved(const std::vector<std::vector<double>>& matrix,
                           std::vector<double> right) {
  const Matrix root = root_of(matrix);
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) right[i] -= root[i][k] * right[k];
    right[i] /= root[i][i];
  }
  for (std::size_t i = right.size(); i-- > 0;) {
    for (std::size_t k = i + 1; k < right.size(); ++k) right[i] -= root[k][i] * right[k];
    right[i] /= root[i][i];
  }
  return right;
}

}  // namespace gradcast
