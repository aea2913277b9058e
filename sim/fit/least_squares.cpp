#include "sim/fit/least_squares.hpp"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

namespace gradcast {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd clipped(const VectorXd& x, const VectorXd& least, const VectorXd& most) {
  return x.cwiseMax(least).cwiseMin(most);
}

/// Derivatives by differences. A step is 1e-5 of the room between the bounds, inwards at a bound:
/// far above rounding, and far below any distance of kinks that matters.
MatrixXd differences(const LeastSquaresProblem& problem, const VectorXd& x, const VectorXd& at_x) {
  MatrixXd jacobian(at_x.size(), x.size());
  for (Index j = 0; j < x.size(); ++j) {
    const double room = problem.most[j] - problem.least[j];
    double step = 1e-5 * room;
    if (x[j] + step > problem.most[j]) step = -step;
    VectorXd moved = x;
    moved[j] += step;
    jacobian.col(j) = (problem.residuals(moved) - at_x) / step;
  }
  return jacobian;
}

MatrixXd columns_of(const MatrixXd& matrix, const std::vector<Index>& which) {
  MatrixXd some(matrix.rows(), static_cast<Index>(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i)
    some.col(static_cast<Index>(i)) = matrix.col(which[i]);
  return some;
}

}  // namespace

MatrixXd solved(const MatrixXd& a, const MatrixXd& right) {
  return a.completeOrthogonalDecomposition().solve(right);
}

VectorXd bounded_linear(const MatrixXd& a, const VectorXd& b, const VectorXd& least,
                        const VectorXd& most) {
  const Index n = a.cols();
  if (n == 0) return VectorXd(0);
  VectorXd x = clipped(VectorXd::Zero(n), least, most);
  std::vector<bool> free(static_cast<std::size_t>(n), true);
  for (Index round = 0; round < 10 * n + 10; ++round) {
    // Solve for the free ones; walk there until a bound is met, which then holds its parameter.
    while (true) {
      std::vector<Index> which;
      for (Index j = 0; j < n; ++j)
        if (free[static_cast<std::size_t>(j)]) which.push_back(j);
      if (which.empty()) break;
      const VectorXd step = solved(columns_of(a, which), b - a * x);
      double share = 1;
      Index stopped = -1;
      for (std::size_t i = 0; i < which.size(); ++i) {
        const Index j = which[i];
        const double moved = x[j] + step[static_cast<Index>(i)];
        const double bound = moved < least[j] ? least[j] : most[j];
        if (moved >= least[j] && moved <= most[j]) continue;
        const double its = (bound - x[j]) / step[static_cast<Index>(i)];
        if (its < share) {
          share = its;
          stopped = j;
        }
      }
      for (std::size_t i = 0; i < which.size(); ++i)
        x[which[i]] += share * step[static_cast<Index>(i)];
      x = clipped(x, least, most);
      if (stopped < 0) break;
      x[stopped] = step[std::find(which.begin(), which.end(), stopped) - which.begin()] < 0
                       ? least[stopped]
                       : most[stopped];
      free[static_cast<std::size_t>(stopped)] = false;
    }
    // Release the one that most wants to leave its bound.
    const VectorXd pull = a.transpose() * (b - a * x);  // downhill
    Index released = -1;
    double strongest = 1e-12 * (a.transpose() * b).cwiseAbs().maxCoeff();
    for (Index j = 0; j < n; ++j) {
      if (free[static_cast<std::size_t>(j)]) continue;
      const double inwards = x[j] == least[j] ? pull[j] : -pull[j];
      if (inwards > strongest) {
        strongest = inwards;
        released = j;
      }
    }
    if (released < 0) break;
    free[static_cast<std::size_t>(released)] = true;
  }
  return x;
}

LeastSquaresSolution minimize(const LeastSquaresProblem& problem, const VectorXd& start) {
  LeastSquaresSolution best;
  best.parameters = clipped(start, problem.least, problem.most);
  best.residuals = problem.residuals(best.parameters);
  best.sum_of_squares = best.residuals.squaredNorm();
  const VectorXd room = problem.most - problem.least;
  const Index n = start.size();
  if (n == 0) {
    best.jacobian = MatrixXd(best.residuals.size(), 0);
    best.converged = true;
    return best;
  }
  double damping = 1e-9;  // nearly none: a forecast is nearly linear in what is fitted
  constexpr int kMostSteps = 100;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    best.jacobian = differences(problem, best.parameters, best.residuals);
    const MatrixXd scaled = best.jacobian * room.asDiagonal();
    const double size = std::max(scaled.norm(), 1e-300);
    bool better = false;
    for (; damping < 1e9 && !better; damping *= 10) {
      // The damped step as one more row a parameter: |J d + r|² + damping |d|², d in rooms.
      MatrixXd a(scaled.rows() + n, n);
      a << scaled, std::sqrt(damping) * size * MatrixXd::Identity(n, n);
      VectorXd b = VectorXd::Zero(scaled.rows() + n);
      b.head(scaled.rows()) = -best.residuals;
      const VectorXd step =
          bounded_linear(a, b, (problem.least - best.parameters).cwiseQuotient(room),
                         (problem.most - best.parameters).cwiseQuotient(room));
      const VectorXd moved =
          clipped(best.parameters + step.cwiseProduct(room), problem.least, problem.most);
      if (step.cwiseAbs().maxCoeff() < 1e-9) break;  // a billionth of the room is no step
      // A gain that would drown in rounding is not worth a forecast, nor a shorter step.
      const double promised = best.sum_of_squares - (best.residuals + scaled * step).squaredNorm();
      if (promised < 1e-12 * best.sum_of_squares) break;
      const VectorXd residuals = problem.residuals(moved);
      const double sum = residuals.squaredNorm();
      if (sum < best.sum_of_squares * (1 - 1e-12)) {
        better = true;
        best.parameters = moved;
        best.residuals = residuals;
        best.sum_of_squares = sum;
      }
    }
    if (!better) {
      best.converged = true;
      break;
    }
    damping = std::max(1e-9, damping / 1000);
  }
  const VectorXd uphill = best.jacobian.transpose() * best.residuals;
  for (Index j = 0; j < n; ++j) {
    const double margin = 1e-6 * room[j];
    best.at_bound.push_back((best.parameters[j] <= problem.least[j] + margin && uphill[j] > 0) ||
                            (best.parameters[j] >= problem.most[j] - margin && uphill[j] < 0));
  }
  return best;
}

Identification identify(const MatrixXd& jacobian) {
  Identification found;
  const Index n = jacobian.cols();
  std::vector<Index> with_effect;
  for (Index j = 0; j < n; ++j) {
    const bool none = jacobian.col(j).norm() == 0;
    found.without_effect.push_back(none);
    if (!none) with_effect.push_back(j);
  }
  if (with_effect.empty()) return found;
  MatrixXd some = columns_of(jacobian, with_effect);
  some.colwise().normalize();
  const Eigen::JacobiSVD<MatrixXd> svd(some, Eigen::ComputeFullV);
  const VectorXd& values = svd.singularValues();
  found.relative_singular_value =
      some.rows() < some.cols() ? 0 : values[values.size() - 1] / values[0];
  const VectorXd direction = svd.matrixV().col(some.cols() - 1).cwiseAbs();
  for (std::size_t i = 0; i < with_effect.size(); ++i)
    if (direction[static_cast<Index>(i)] > 0.3 * direction.maxCoeff() && with_effect.size() > 1)
      found.mixed.push_back(static_cast<std::size_t>(with_effect[i]));
  return found;
}

MatrixXd covariance(const LeastSquaresSolution& solution, const std::vector<bool>& free,
                    double degrees) {
  const Index n = solution.jacobian.cols();
  std::vector<Index> which;
  for (Index j = 0; j < n; ++j)
    if (free[static_cast<std::size_t>(j)] && solution.jacobian.col(j).norm() > 0)
      which.push_back(j);
  MatrixXd whole = MatrixXd::Zero(n, n);
  if (which.empty()) return whole;
  const MatrixXd some = columns_of(solution.jacobian, which);
  const VectorXd lengths = some.colwise().norm();
  const MatrixXd normal = some * lengths.cwiseInverse().asDiagonal();
  const MatrixXd inverse =
      solved(normal.transpose() * normal, MatrixXd::Identity(normal.cols(), normal.cols()));
  const double variance = solution.sum_of_squares / degrees;
  for (std::size_t i = 0; i < which.size(); ++i)
    for (std::size_t j = 0; j < which.size(); ++j)
      whole(which[i], which[j]) = variance * inverse(static_cast<Index>(i), static_cast<Index>(j)) /
                                  (lengths[static_cast<Index>(i)] * lengths[static_cast<Index>(j)]);
  return whole;
}

}  // namespace gradcast
