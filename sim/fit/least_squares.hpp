// Least squares within bounds: finds the parameters that make a model's differences from
// measurements small.
#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <vector>

namespace gradcast {

/// Eigen counts with a sign.
inline Eigen::Index at(std::size_t i) { return static_cast<Eigen::Index>(i); }

/// The x with least |a x - right|, of the least norm, for each column of `right`. Eigen compiles a
/// solver anew for each type of its right side, which takes seconds: this is the one type.
Eigen::MatrixXd solved(const Eigen::MatrixXd& a, const Eigen::MatrixXd& right);

struct LeastSquaresProblem {
  Eigen::VectorXd least;  // bounds, by parameter
  Eigen::VectorXd most;
  /// The differences to make small, by run. They are as smooth as a forecast: pieces that meet in
  /// kinks.
  std::function<Eigen::VectorXd(const Eigen::VectorXd& parameters)> residuals;
};

struct LeastSquaresSolution {
  Eigen::VectorXd parameters;
  Eigen::VectorXd residuals;
  Eigen::MatrixXd jacobian;  // the residuals' derivatives at the solution, runs x parameters
  double sum_of_squares = 0;
  bool converged = false;  // no step makes it smaller

  /// Parameters that lie on a bound and would become better beyond it.
  std::vector<bool> at_bound;
};

/// Levenberg-Marquardt. Each step is solved exactly within the bounds (active set).
LeastSquaresSolution minimize(const LeastSquaresProblem& problem, const Eigen::VectorXd& start);

/// min |A x - b| with least <= x <= most, by an active set (Stark and Parker, BVLS, 1995).
Eigen::VectorXd bounded_linear(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                               const Eigen::VectorXd& least, const Eigen::VectorXd& most);

/// Whether runs tell the parameters apart. The Jacobian's columns are scaled to length one first,
/// so that units do not count.
struct Identification {
  std::vector<bool> without_effect;  // no run depends on it
  /// Smallest singular value over largest, of those with an effect; 1 for one alone, 0 for none.
  double relative_singular_value = 0;
  /// The parameters that the direction of the smallest singular value mixes: if they change
  /// together, no run shows it.
  std::vector<std::size_t> mixed;
};

Identification identify(const Eigen::MatrixXd& jacobian);

/// The covariance of the free parameters: residual variance x (JᵀJ)⁻¹. Rows and columns of the
/// other parameters, and of those that change no residual, are 0. `degrees`: runs minus free
/// parameters, at least 1.
Eigen::MatrixXd covariance(const LeastSquaresSolution& solution, const std::vector<bool>& free,
                           double degrees);

}  // namespace gradcast
