// The Markov chain, on runs that were made from known numbers.
#include "sim/population/sampler.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "sim/base/statistics.hpp"
#include "sim/fit/least_squares.hpp"

using namespace gradcast;

namespace {

StackPriors one_term() {
  StackPriors priors;
  priors.terms.push_back(
      {&find_scenario_quantity("per_iteration_overhead"), "", "", {}, 0.01, 1, 1, ""});
  priors.discrepancy = 0.02;
  priors.scatter = 0.02;
  return priors;
}

/// 0.1 to 0.8 s.
Eigen::VectorXd physics() {
  Eigen::VectorXd seconds(8);
  for (int i = 0; i < 8; ++i) seconds[i] = 0.1 * (i + 1);
  return seconds;
}

/// Runs of this physics that took `overhead` more.
LinearGroup runs(std::size_t stack, double overhead) {
  LinearGroup group;
  group.stack = stack;
  group.terms = {0};
  group.measured = Eigen::VectorXd(8);
  group.compute = Eigen::VectorXd::Zero(8);
  for (int i = 0; i < 8; ++i) {
    // 1 % above and below: without any noise two groups would agree to the last digit.
    group.measured[i] = std::log(physics()[i] + overhead) + (i % 2 == 0 ? 0.01 : -0.01);
  }
  group.pieces = {{physics(), Eigen::MatrixXd::Ones(8, 1)}};
  group.about = Eigen::VectorXd::Constant(1, std::log(0.01));
  return group;
}

double median_of(const std::vector<PopulationDraw>& draws, double (*of)(const PopulationDraw&)) {
  std::vector<double> values;
  for (const PopulationDraw& draw : draws) values.push_back(of(draw));
  return median(std::move(values));
}

constexpr SamplerOptions kShort{1000, 3000, 3, 1};

}  // namespace

TEST_CASE("the chain finds what each group's software takes", "[population]") {
  const StackPriors priors = one_term();
  const std::vector<LinearGroup> groups{runs(0, 0.02), runs(1, 0.08)};
  const auto draws = sample_population(groups, 2, priors, kShort);
  REQUIRE(draws.size() == 1000);
  const double first =
      median_of(draws, [](const PopulationDraw& d) { return std::exp(d.groups[0][0]); });
  const double second =
      median_of(draws, [](const PopulationDraw& d) { return std::exp(d.groups[1][0]); });
  CHECK(first == Approx(0.02).epsilon(0.15));
  CHECK(second == Approx(0.08).epsilon(0.15));
  // The population's middle lies between: about the geometric mean, 40 ms, drawn to the prior's 10.
  const double middle =
      median_of(draws, [](const PopulationDraw& d) { return std::exp(d.middle[0]); });
  CHECK(middle > 0.01);
  CHECK(middle < 0.06);
}

// Two runs. A collective of 1 s and half of the number hides behind 2 s of backward until the
// number is 2; the second run has no collective.
TEST_CASE("a cost that hides adds nothing until it is the longer one", "[population]") {
  LinearGroup linear;
  linear.pieces = {{Eigen::Vector2d(2, 3), Eigen::MatrixXd::Zero(2, 1)},
                   {Eigen::Vector2d(1, 0), Eigen::Vector2d(0.5, 0)}};
  const auto number = [](double value) { return Eigen::VectorXd::Constant(1, value); };
  CHECK(times_of(linear, number(1)) == Eigen::Vector2d(2, 3));
  CHECK(times_of(linear, number(4)) == Eigen::Vector2d(3, 3));
  CHECK(piece_at(linear, number(1)).gain == Eigen::Vector2d(0, 0));
  CHECK(piece_at(linear, number(4)).gain == Eigen::Vector2d(0.5, 0));
  CHECK(depends(linear, 0, 0));
  CHECK_FALSE(depends(linear, 1, 0));
}

// 90 % of each run is compute, which was measured, and the rest took twice as long as physics says.
TEST_CASE("what is left of a cluster is of communication, and not of compute", "[population]") {
  StackPriors priors = one_term();
  priors.discrepancy = 1;
  LinearGroup group = runs(0, 0);
  for (int i = 0; i < 8; ++i) {
    group.compute[i] = 0.9 * physics()[i];
    group.measured[i] = std::log(physics()[i] + 0.1 * physics()[i]) + (i % 2 == 0 ? 1e-3 : -1e-3);
  }
  group.pieces[0].gain.setZero();
  const double discrepancy =
      median_of(sample_population({group}, 1, priors, kShort), [](const PopulationDraw& draw) {
        return draw.discrepancy[static_cast<std::size_t>(Transport::Nccl)];
      });
  // One shift of log 2 = 0.69 says that the scale is of that order.
  CHECK(discrepancy > 0.4);
  CHECK(discrepancy < 2);
}

// Restricted maximum likelihood would say that two equal groups have no spread between them.
TEST_CASE("two groups that agree leave the spread between stacks open", "[population]") {
  const StackPriors priors = one_term();
  const auto spread = [&](double one, double other) {
    const std::vector<LinearGroup> groups{runs(0, one), runs(1, other)};
    return median_of(sample_population(groups, 2, priors, kShort),
                     [](const PopulationDraw& d) { return d.between_stacks[0]; });
  };
  const double agree = spread(0.02, 0.02);
  const double differ = spread(0.005, 0.2);
  CHECK(agree > 0.15);
  CHECK(differ > 1.5 * agree);
}

TEST_CASE("a chain of the same seed is the same chain", "[population]") {
  const StackPriors priors = one_term();
  const std::vector<LinearGroup> groups{runs(0, 0.02)};
  const SamplerOptions few{50, 20, 1, 7};
  const auto one = sample_population(groups, 1, priors, few);
  const auto other = sample_population(groups, 1, priors, few);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i].middle[0] == other[i].middle[0]);
  CHECK(std::isnan(sample_population({runs(0, 0.02)}, 2, priors, few)[0].stacks[1][0]));
}

// 20 ms would explain the runs. Physics lets the term take 15 ms at most, and so no group takes
// more: the rest is scatter.
TEST_CASE("no draw of a group has more of a term than physics allows", "[population]") {
  const StackPriors priors = one_term();
  std::vector<LinearGroup> groups{runs(0, 0.02)};
  groups[0].most = Eigen::VectorXd::Constant(1, std::log(0.015));
  double largest = 0;
  for (const PopulationDraw& draw : sample_population(groups, 1, priors, kShort))
    largest = std::max(largest, std::exp(draw.groups[0][0]));
  CHECK(largest == Approx(0.015));
}
