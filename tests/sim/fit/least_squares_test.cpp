#include "sim/fit/least_squares.hpp"

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

using namespace gradcast;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

VectorXd vector(std::initializer_list<double> values) {
  VectorXd made(static_cast<Eigen::Index>(values.size()));
  Eigen::Index i = 0;
  for (const double value : values) made[i++] = value;
  return made;
}

/// a + b x at x = 0, 1, 2, 3 minus what was seen there.
LeastSquaresProblem line(const VectorXd& seen) {
  return {vector({-100, -100}), vector({100, 100}), [seen](const VectorXd& p) {
            VectorXd r(seen.size());
            for (Eigen::Index x = 0; x < seen.size(); ++x)
              r[x] = p[0] + p[1] * static_cast<double>(x) - seen[x];
            return r;
          }};
}

}  // namespace

TEST_CASE("A line through points on it is found exactly", "[fit]") {
  const auto found = minimize(line(vector({1, 3, 5, 7})), vector({0, 0}));
  CHECK(found.converged);
  CHECK(found.parameters[0] == Approx(1));
  CHECK(found.parameters[1] == Approx(2));
  CHECK(found.sum_of_squares < 1e-12);
}

TEST_CASE("A line among points off it is the textbook's", "[fit]") {
  // 0, 1, 1, 2 at 0, 1, 2, 3: slope = sum (x - 1.5)(y - 1) / 5 = 3/5, intercept = 1 - 0.6 x 1.5.
  const auto found = minimize(line(vector({0, 1, 1, 2})), vector({50, -50}));
  CHECK(found.parameters[1] == Approx(0.6));
  CHECK(found.parameters[0] == Approx(0.1));
  // Residuals 0.1, -0.3, 0.3, -0.1.
  CHECK(found.sum_of_squares == Approx(0.2));
}

TEST_CASE("What would leave its bounds stays on one, and the others make the best of it", "[fit]") {
  LeastSquaresProblem problem = line(vector({1, 3, 5, 7}));
  problem.most[1] = 1;  // the slope wants 2
  const auto found = minimize(problem, vector({0, 0}));
  CHECK(found.parameters[1] == 1);
  CHECK(found.parameters[0] == Approx(2.5));  // the mean of 1, 2, 3, 4
  CHECK(found.at_bound[1]);
  CHECK_FALSE(found.at_bound[0]);
}

TEST_CASE("A bound that is only touched is let go again", "[fit]") {
  // From zero, the walk to (3, 1) meets x = 1.5 of the second first if it overshoots; the solution
  // lies inside.
  const MatrixXd a = (MatrixXd(3, 2) << 1, 0.9, 0, 1, 1, 1).finished();
  const VectorXd b = a * vector({3, 1});
  const VectorXd x = bounded_linear(a, b, vector({0, 0}), vector({4, 1.5}));
  CHECK(x[0] == Approx(3));
  CHECK(x[1] == Approx(1));
}

TEST_CASE("Bounded linear least squares meets its conditions of optimality", "[fit]") {
  // The pull of every parameter is nothing inside, and outwards on a bound.
  for (int seed = 0; seed < 200; ++seed) {
    std::srand(static_cast<unsigned>(seed));
    const MatrixXd a = MatrixXd::Random(6, 4);
    const VectorXd b = VectorXd::Random(6) * 3;
    const VectorXd least = VectorXd::Constant(4, -0.3);
    const VectorXd most = VectorXd::Constant(4, 0.5);
    const VectorXd x = bounded_linear(a, b, least, most);
    const VectorXd pull = a.transpose() * (b - a * x);
    for (Eigen::Index j = 0; j < 4; ++j) {
      INFO("seed " << seed << ", parameter " << j);
      REQUIRE(x[j] >= least[j]);
      REQUIRE(x[j] <= most[j]);
      if (x[j] > least[j] && x[j] < most[j]) REQUIRE(std::abs(pull[j]) < 1e-9);
      if (x[j] == least[j]) REQUIRE(pull[j] < 1e-9);
      if (x[j] == most[j]) REQUIRE(pull[j] > -1e-9);
    }
  }
}

TEST_CASE("Columns that repeat each other, or say nothing, do not keep the least from being found",
          "[fit]") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::srand(seed);
    const Eigen::Index n = 1 + static_cast<Eigen::Index>(seed % 8);
    MatrixXd a = MatrixXd::Random(1 + static_cast<Eigen::Index>(seed / 8 % 9), n);
    if (n > 1 && seed % 3 == 0) a.col(n - 1) = -2 * a.col(0);
    if (n > 2 && seed % 5 == 0) a.col(1).setZero();
    if (n > 3 && seed % 7 == 0) a.col(2) = a.col(0) + 1e-9 * a.col(3);
    if (seed % 2 == 0) a.col(0) *= 1e6;  // units differ
    const VectorXd b = VectorXd::Random(a.rows()) * 3;
    const VectorXd least = VectorXd::Random(n) - VectorXd::Constant(n, 1);  // some above, some at 0
    const VectorXd most = least + VectorXd::Random(n).cwiseAbs() + VectorXd::Constant(n, 0.01);
    const VectorXd x = bounded_linear(a, b, least, most);
    const VectorXd rest = b - a * x;
    for (Eigen::Index j = 0; j < n; ++j) {
      INFO("seed " << seed << ", parameter " << j << " of " << n);
      REQUIRE(x[j] >= least[j]);
      REQUIRE(x[j] <= most[j]);
      // In shares of what this column could pull at most, so that units do not count.
      const double pull = a.col(j).dot(rest);
      const double none = 1e-7 * a.col(j).norm() * b.norm();
      if (x[j] > least[j]) REQUIRE(pull >= -none);
      if (x[j] < most[j]) REQUIRE(pull <= none);
    }
  }
}

TEST_CASE("With nothing to search the residuals are what they are", "[fit]") {
  const LeastSquaresProblem problem{VectorXd(0), VectorXd(0), [](const VectorXd&) {
                                      return vector({3, 4});
                                    }};
  const auto found = minimize(problem, VectorXd(0));
  CHECK(found.sum_of_squares == 25);
  CHECK(found.converged);
  CHECK(found.at_bound.empty());
}

TEST_CASE("A bent model is followed to its least", "[fit]") {
  // max(p, 2) beside p: residuals max(p, 2) - 5 and p - 3 are least at p = 4.
  const LeastSquaresProblem problem{vector({0}), vector({10}), [](const VectorXd& p) {
                                      return vector({std::max(p[0], 2.0) - 5, p[0] - 3});
                                    }};
  CHECK(minimize(problem, vector({0})).parameters[0] == Approx(4));
  CHECK(minimize(problem, vector({9})).parameters[0] == Approx(4));
}

TEST_CASE("The mean of n values has the variance of one over n", "[fit]") {
  // Values 1, 2, 3, 6: mean 3, sum of squares 4 + 1 + 0 + 9 = 14, variance 14/3, of the mean 14/12.
  const LeastSquaresProblem problem{
      vector({-10}), vector({10}), [](const VectorXd& p) {
        return VectorXd(VectorXd::Constant(4, p[0]) - vector({1, 2, 3, 6}));
      }};
  const auto found = minimize(problem, vector({0}));
  CHECK(covariance(found, {true}, 3)(0, 0) == Approx(14.0 / 12));
  CHECK(covariance(found, {false}, 3)(0, 0) == 0);
}

TEST_CASE("A parameter that moves nothing there has no covariance, and spoils no other's",
          "[fit]") {
  // As above, beside one of which the mean does not depend.
  const LeastSquaresProblem problem{
      vector({-10, 0}), vector({10, 1}), [](const VectorXd& p) {
        return VectorXd(VectorXd::Constant(4, p[0]) - vector({1, 2, 3, 6}));
      }};
  const auto found = minimize(problem, vector({0, 0.5}));
  const MatrixXd known = covariance(found, {true, true}, 3);
  CHECK(known(0, 0) == Approx(14.0 / 12));
  CHECK(known(1, 1) == 0);
  CHECK(known(0, 1) == 0);
}

TEST_CASE("Units of parameters do not count where they are told apart", "[fit]") {
  const MatrixXd plain = (MatrixXd(3, 2) << 1, 0, 1, 1, 1, 2).finished();
  const MatrixXd scaled = plain * vector({1e-9, 1e6}).asDiagonal();
  CHECK(identify(plain).relative_singular_value ==
        Approx(identify(scaled).relative_singular_value));
}

TEST_CASE("Parameters that do the same to every run are named together", "[fit]") {
  const MatrixXd same = (MatrixXd(3, 3) << 1, 5, 2, 1, 0, 2, 1, 1, 2).finished();
  const Identification found = identify(same);
  CHECK(found.relative_singular_value < 1e-12);
  CHECK(found.mixed == std::vector<std::size_t>{0, 2});
}

TEST_CASE("A parameter that no run depends on is found, and the others are told apart", "[fit]") {
  const MatrixXd one = (MatrixXd(3, 2) << 1, 0, 2, 0, 3, 0).finished();
  const Identification found = identify(one);
  CHECK(found.without_effect == std::vector<bool>{false, true});
  CHECK(found.relative_singular_value == 1);
  CHECK(found.mixed.empty());
}

TEST_CASE("Fewer runs than parameters tell nothing apart", "[fit]") {
  CHECK(identify((MatrixXd(1, 2) << 1, 2).finished()).relative_singular_value == 0);
}
