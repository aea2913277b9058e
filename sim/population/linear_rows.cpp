#include "sim/population/linear_rows.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "sim/engine/iteration_result.hpp"
#include "sim/fit/least_squares.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {
namespace {

double time_of(const Scenario& scenario) {
  return run(scenario, *find_engine("analytic")).iteration.count();
}

}  // namespace

Eigen::MatrixXd kind_correlations(const std::vector<RunKind>& some,
                                  const std::vector<RunKind>& others) {
  Eigen::MatrixXd correlations(at(some.size()), at(others.size()));
  for (std::size_t i = 0; i < some.size(); ++i)
    for (std::size_t j = 0; j < others.size(); ++j)
      correlations(at(i), at(j)) = kKindShare * kind_correlation(some[i], others[j]);
  return correlations;
}

Eigen::MatrixXd scatter_of(const std::vector<RunKind>& kinds) {
  Eigen::MatrixXd scatter = kind_correlations(kinds, kinds);
  scatter.diagonal().setOnes();
  return scatter;
}

Eigen::MatrixXd apart_of(const std::vector<RunKind>& kinds) {
  const Eigen::MatrixXd scatter = scatter_of(kinds);
  return Eigen::LLT<Eigen::MatrixXd>(scatter).matrixL().solve(
      Eigen::MatrixXd::Identity(scatter.rows(), scatter.cols()));
}

LinearGroup linear_rows(const std::vector<LinearRow>& rows,
                        const std::vector<const ScenarioQuantity*>& quantities,
                        const Eigen::VectorXd& about) {
  const std::size_t count = rows.size();
  LinearGroup linear;
  linear.measured = linear.physics = linear.compute = linear.share = Eigen::VectorXd(at(count));
  Eigen::MatrixXd gain = Eigen::MatrixXd::Zero(at(count), at(quantities.size()));
  for (std::size_t i = 0; i < count; ++i) {
    const Scenario& physics = *rows[i].physics;
    Scenario all = physics;
    for (const std::size_t k : rows[i].terms) quantities[k]->set(all, std::exp(about[at(k)]));
    const double alone = time_of(physics);
    const double with_all = time_of(all);
    double sum = 0;
    for (const std::size_t k : rows[i].terms) {
      Scenario other = all;
      quantities[k]->set(other, quantities[k]->get(physics));
      gain(at(i), at(k)) = std::max(0.0, with_all - time_of(other));
      sum += gain(at(i), at(k));
    }
    // Together they add what all of them add together, whatever hides behind what.
    const double scale = sum > 0 ? std::max(0.0, with_all - alone) / sum : 0;
    for (const std::size_t k : rows[i].terms) gain(at(i), at(k)) *= scale * std::exp(-about[at(k)]);
    linear.measured[at(i)] = std::log(rows[i].measured.count());
    linear.physics[at(i)] = alone;
    linear.kinds.push_back(kind_of(physics));
    linear.compute[at(i)] = computed_in(physics, Seconds{alone}).count();
    linear.share[at(i)] = scatter_share(linear.compute[at(i)] / rows[i].measured.count());
  }
  for (std::size_t k = 0; k < quantities.size(); ++k)
    if (gain.col(at(k)).maxCoeff() > 0) linear.terms.push_back(k);
  linear.gain = Eigen::MatrixXd(at(count), at(linear.terms.size()));
  linear.about = linear.most = Eigen::VectorXd(at(linear.terms.size()));
  for (std::size_t a = 0; a < linear.terms.size(); ++a) {
    linear.gain.col(at(a)) = gain.col(at(linear.terms[a]));
    linear.about[at(a)] = about[at(linear.terms[a])];
    linear.most[at(a)] = std::log(quantities[linear.terms[a]]->most);
  }
  return linear;
}

double error_of_sums(const LinearGroup& linear, const std::vector<LinearRow>& rows,
                     const std::vector<const ScenarioQuantity*>& quantities,
                     const Eigen::VectorXd& x) {
  const Eigen::VectorXd numbers = x.array().exp();
  const Eigen::VectorXd sums = linear.physics + linear.gain * numbers;
  double largest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Scenario all = *rows[i].physics;
    for (std::size_t a = 0; a < linear.terms.size(); ++a) {
      const std::size_t k = linear.terms[a];
      const std::vector<std::size_t>& its = rows[i].terms;
      if (std::find(its.begin(), its.end(), k) != its.end())
        quantities[k]->set(all, numbers[at(a)]);
    }
    largest = std::max(largest, std::abs(std::log(sums[at(i)] / time_of(all))));
  }
  return largest;
}

LinearGroup linear_group(const SourceGroup& group, std::size_t stack, const StackPriors& priors,
                         const Eigen::VectorXd& about) {
  std::vector<const ScenarioQuantity*> quantities;
  for (const TermPrior& prior : priors.terms) quantities.push_back(prior.quantity);
  std::vector<LinearRow> rows;
  for (const FitRow& row : group.rows) {
    LinearRow each{&row.scenario, row.run.iteration, {}};
    for (std::size_t k = 0; k < priors.terms.size(); ++k)
      if (priors.terms[k].holds_for(group.stack) &&
          pays(*priors.terms[k].quantity, priors.terms[k].compressor, row.scenario) &&
          is_made_by(priors.terms[k].implementation, row.scenario))
        each.terms.push_back(k);
    rows.push_back(std::move(each));
  }
  LinearGroup linear = linear_rows(rows, quantities, about);
  linear.stack = stack;
  linear.transport = transport_of(group.stack);
  return linear;
}

}  // namespace gradcast
