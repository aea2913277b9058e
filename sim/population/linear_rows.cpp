#include "sim/population/linear_rows.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

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

bool depends(const LinearGroup& linear, Eigen::Index row, Eigen::Index term) {
  return std::any_of(linear.pieces.begin(), linear.pieces.end(),
                     [&](const LinearPiece& piece) { return piece.gain(row, term) > 0; });
}

Eigen::VectorXd times_of(const LinearGroup& linear, const Eigen::VectorXd& numbers) {
  Eigen::VectorXd times = linear.pieces.front().base + linear.pieces.front().gain * numbers;
  for (std::size_t p = 1; p < linear.pieces.size(); ++p)
    times = times.cwiseMax(linear.pieces[p].base + linear.pieces[p].gain * numbers);
  return times;
}

LinearPiece piece_at(const LinearGroup& linear, const Eigen::VectorXd& numbers) {
  LinearPiece top = linear.pieces.front();
  Eigen::VectorXd times = top.base + top.gain * numbers;
  for (std::size_t p = 1; p < linear.pieces.size(); ++p) {
    const LinearPiece& piece = linear.pieces[p];
    const Eigen::VectorXd its = piece.base + piece.gain * numbers;
    for (Eigen::Index i = 0; i < its.size(); ++i) {
      if (its[i] <= times[i]) continue;
      times[i] = its[i];
      top.base[i] = piece.base[i];
      top.gain.row(i) = piece.gain.row(i);
    }
  }
  return top;
}

LinearRows::LinearRows(const std::vector<LinearRow>& rows,
                       const std::vector<const ScenarioQuantity*>& quantities)
    : rows_(rows), quantities_(quantities) {
  const Eigen::Index count = at(rows.size());
  const Eigen::Index terms = at(quantities.size());
  group_.measured = group_.compute = group_.share = Eigen::VectorXd(count);
  // No cost makes a run shorter.
  LinearPiece floor{Eigen::VectorXd(count), Eigen::MatrixXd::Zero(count, terms)};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Scenario& physics = *rows[i].physics;
    const Seconds alone{time_of(physics)};
    floor.base[at(i)] = alone.count();
    group_.measured[at(i)] = std::log(rows[i].measured.count());
    group_.kinds.push_back(kind_of(physics));
    group_.compute[at(i)] = computed_in(physics, alone).count();
    group_.share[at(i)] = scatter_share(group_.compute[at(i)] / rows[i].measured.count());
  }
  group_.pieces.push_back(std::move(floor));
}

void LinearRows::add(const Eigen::VectorXd& about) {
  constexpr double kStep = 0.5;  // wide, and downwards: no number is beyond what physics allows
  group_.about = about;
  const Eigen::VectorXd numbers = about.array().exp();
  LinearPiece piece = group_.pieces.front();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Scenario all = *rows_[i].physics;
    for (const std::size_t k : rows_[i].terms) quantities_[k]->set(all, numbers[at(k)]);
    const double with_all = time_of(all);
    piece.base[at(i)] = with_all;
    for (const std::size_t k : rows_[i].terms) {
      const double number = numbers[at(k)];
      Scenario other = all;
      quantities_[k]->set(other, kStep * number);
      const double gain = std::max(0.0, with_all - time_of(other)) / ((1 - kStep) * number);
      piece.gain(at(i), at(k)) = gain;
      piece.base[at(i)] -= gain * number;
    }
    // An earlier piece says too much here where a cost adds the less the larger it is.
    for (LinearPiece& earlier : group_.pieces) {
      const double says = earlier.base[at(i)] + earlier.gain.row(at(i)).dot(numbers);
      earlier.base[at(i)] -= std::max(0.0, says - with_all);
    }
  }
  group_.pieces.push_back(std::move(piece));
}

LinearGroup LinearRows::group() const {
  LinearGroup linear = group_;
  linear.pieces.clear();
  for (std::size_t k = 0; k < quantities_.size(); ++k)
    for (Eigen::Index i = 0; i < linear.measured.size(); ++i)
      if (depends(group_, i, at(k))) {
        linear.terms.push_back(k);
        break;
      }
  const Eigen::Index terms = at(linear.terms.size());
  linear.about = linear.most = Eigen::VectorXd(terms);
  for (Eigen::Index a = 0; a < terms; ++a) {
    const std::size_t k = linear.terms[static_cast<std::size_t>(a)];
    linear.about[a] = group_.about[at(k)];
    linear.most[a] = std::log(quantities_[k]->most);
  }
  for (const LinearPiece& all : group_.pieces) {
    LinearPiece piece{all.base, Eigen::MatrixXd(all.gain.rows(), terms)};
    for (Eigen::Index a = 0; a < terms; ++a)
      piece.gain.col(a) = all.gain.col(at(linear.terms[static_cast<std::size_t>(a)]));
    linear.pieces.push_back(std::move(piece));
  }
  return linear;
}

double error_of_sums(const LinearGroup& linear, const std::vector<LinearRow>& rows,
                     const std::vector<const ScenarioQuantity*>& quantities,
                     const Eigen::VectorXd& x) {
  const Eigen::VectorXd numbers = x.array().exp();
  const Eigen::VectorXd sums = times_of(linear, numbers);
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

std::vector<LinearRow> rows_of(const SourceGroup& group, const StackPriors& priors) {
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
  return rows;
}

}  // namespace gradcast
