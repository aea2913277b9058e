#include "sim/population/learning.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "kernels/normal_quantile.hpp"
#include "sim/base/error.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"
#include "sim/fit/least_squares.hpp"
#include "sim/forecast/link_doubt.hpp"
#include "sim/forecast/software_spread.hpp"
#include "sim/plan/situation.hpp"
#include "sim/plan/stack_use.hpp"
#include "sim/population/group_chain.hpp"
#include "sim/population/repeats.hpp"

namespace gradcast {
namespace {

using Eigen::VectorXd;

/// A stack's file may leave these at 0, and a chain cannot.
constexpr double kLeastDiscrepancy = 1e-3;
constexpr double kLeastScatter = 1e-3;

/// The deviation between the scatters of groups, on a log scale. With it a lognormal has the median
/// and the 95th percentile of a half-normal, which the population's scatters are drawn from, but
/// does not reach 0: a few runs that agree by chance, or repeat one set-up, know nothing exactly.
constexpr double kScatterDeviation = 0.65;

/// The median of a run's scatter, so that the 90 % interval of what it makes of a run is the
/// stack's: of a half-normal scale times Student's t of 4 degrees that interval ends at 1.975 of
/// its scale, whose median is 0.674.
double usual_scatter(const Stack& stack) {
  constexpr double kReach = 1.975;
  constexpr double kMedian = 0.674;
  return std::max(kLeastScatter,
                  kMedian * stack.scatter * t_quantile(0.95, kSpreadDegrees) / kReach);
}

double value_at(std::vector<double> values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

/// A logarithm's middle, and how far its ends lie from it in deviations of Student's t.
struct LogSpread {
  double middle = 0;
  double above = 0;
  double below = 0;
};

/// `middle`: the value that forecasts use, between the 5th and the 95th percentile.
LogSpread log_spread_about(double middle, const std::vector<double>& logs) {
  static const double kReach = t_quantile(0.95, kSpreadDegrees);
  return {middle, std::min(kMostTermDeviation, (value_at(logs, 0.95) - middle) / kReach),
          std::min(kMostTermDeviation, (middle - value_at(logs, 0.05)) / kReach)};
}

LogSpread log_spread_of(const std::vector<double>& logs) {
  return log_spread_about(median(logs), logs);
}

KnownRange range_of(const LogSpread& spread) {
  static const double kReach = t_quantile(0.95, kSpreadDegrees);
  return {std::exp(spread.middle), std::exp(spread.middle - kReach * spread.below),
          std::exp(spread.middle + kReach * spread.above)};
}

/// A term that can be learned: its value is above 0, and not known exactly.
bool is_open(const StackTerm& term) { return term.value > 0 && term.deviation > 0; }

/// The ranks of the values, as deviations of a normal distribution.
std::vector<double> normal_scores(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> scores(values.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank)
    scores[order[rank]] =
        normal_quantile((static_cast<double>(rank) + 0.5) / static_cast<double>(order.size()));
  return scores;
}

double correlation_of(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) /
         std::sqrt(std::inner_product(a.begin(), a.end(), a.begin(), 0.0) *
                   std::inner_product(b.begin(), b.end(), b.begin(), 0.0));
}

/// Logarithms of the times that the model gives the runs, by row.
VectorXd log_times(const LinearGroup& linear, const VectorXd& x, double shift) {
  return (linear.compute.array() +
          std::exp(shift) * (times_of(linear, x.array().exp()) - linear.compute).array())
      .log();
}

/// The kinds of runs that were measured, each once, and how runs' errors tell of them.
struct MeasuredKinds {
  std::vector<RunKind> kinds{};
  VectorXd share{};           // by kind: of the scatter that its runs have
  Eigen::MatrixXd weights{};  // by kind, by row: of errors in scatters, for the kind's own
  Eigen::MatrixXd root{};     // by kind, by kind: what stays unknown, in scatters
};

/// Correlation above which two kinds are one: 1.5 % longer or shorter on as many ranks.
constexpr double kOneKind = 0.95;

MeasuredKinds measured_kinds(const LinearGroup& linear) {
  constexpr int kDigits = 4;  // of a file
  MeasuredKinds measured;
  std::vector<double> shares;
  for (std::size_t i = 0; i < linear.kinds.size(); ++i) {
    const RunKind& kind = linear.kinds[i];
    if (kind.compute <= Seconds{0} ||
        std::any_of(measured.kinds.begin(), measured.kinds.end(),
                    [&](const RunKind& known) { return kind_correlation(known, kind) > kOneKind; }))
      continue;
    measured.kinds.push_back(
        {kind.compressor, Seconds{rounded_to(kDigits, kind.compute.count())}, kind.ranks});
    shares.push_back(linear.share[at(i)]);
  }
  measured.share = Eigen::Map<const VectorXd>(shares.data(), at(shares.size()));
  const Eigen::MatrixXd shared = kind_correlations(measured.kinds, linear.kinds);
  measured.weights = solved(scatter_of(linear.kinds), shared.transpose()).transpose();
  Eigen::MatrixXd unknown =
      kind_correlations(measured.kinds, measured.kinds) - measured.weights * shared.transpose();
  unknown.diagonal().array() += 1e-9;
  measured.root = Eigen::LLT<Eigen::MatrixXd>(unknown).matrixL();
  return measured;
}

/// Rounded as a file has them. Rounding may leave a matrix that no distribution has, where terms
/// are all but one: then all go together a little less.
void make_possible(std::vector<TermCorrelation>& correlations) {
  constexpr double kLeastPivot = 1e-4;
  constexpr double kLess = 0.999;
  constexpr double kParts = 1e4;
  const auto possible = [&] {
    try {
      const auto joint = joint_terms(correlations);
      return !joint || std::all_of(joint->root.begin(), joint->root.end(), [&](const auto& row) {
        return row.back() * row.back() >= kLeastPivot;
      });
    } catch (const ValueError&) {
      return false;
    }
  };
  const auto round = [&](double by) {
    for (TermCorrelation& each : correlations)
      each.value = std::round(each.value * by * kParts) / kParts;
  };
  round(1);
  for (int tries = 0; tries < 1000 && !possible(); ++tries) round(kLess);
}

/// Links whose slower end a run would have shown: they take half of the run, or their slow end adds
/// a tenth or more, which nobody takes for scatter.
std::vector<std::string> links_shown_by(const Scenario& scenario,
                                        const std::shared_ptr<const Stack>& prior) {
  constexpr double kScatter = 0.1;
  std::vector<std::string> links;
  if (link_doubts(scenario, interval_reach()).empty()) return links;
  const Evaluation forecast = evaluate_on(scenario, prior, *find_engine("analytic"));
  if (!forecast.doubt.spread) return links;
  const SoftwareSpread& spread = *forecast.doubt.spread;
  for (const SpreadTerm& term : spread.terms)
    if (is_link(term.name) && (term.seconds >= spread.forecast / 2 ||
                               longer_at_slow_end(term) >= kScatter * spread.forecast))
      links.push_back(shown_as(term.name, scenario));
  return links;
}

}  // namespace

StackLearner::StackLearner(const Stack& prior, const std::vector<FitRow>& rows, std::uint64_t seed)
    : prior_(prior), rows_(rows), seed_(seed) {
  if (prior.factor)
    throw ValueError("stack '" + prior.name +
                     "' was learned from the runs of one cluster: learn from those runs and the "
                     "new ones together, by the stack that it was learned from");
  auto fixed = std::make_shared<Stack>(prior);
  std::erase_if(fixed->terms, is_open);
  middle_ = deviation_ = VectorXd::Zero(at(prior.terms.size()));
  std::vector<const ScenarioQuantity*> quantities;
  for (std::size_t k = 0; k < prior.terms.size(); ++k) {
    quantities.push_back(prior.terms[k].quantity);
    if (!is_open(prior.terms[k])) continue;
    middle_[at(k)] = std::log(prior.terms[k].value);
    deviation_[at(k)] = prior.terms[k].deviation;
  }
  const auto shared_prior = std::make_shared<const Stack>(prior);
  for (const FitRow& row : rows) links_.push_back(links_shown_by(row.scenario, shared_prior));
  std::vector<LinearRow> linear;
  physics_.reserve(rows.size());
  for (const FitRow& row : rows) {
    Scenario& physics = physics_.emplace_back(row.scenario);
    physics.stack = fixed;
    apply_stack(physics);
    LinearRow each{&physics, row.run.iteration, {}};
    for (const StackTerm* term : terms_for(prior_, physics))
      if (is_open(*term)) each.terms.push_back(static_cast<std::size_t>(term - &prior_.terms[0]));
    linear.push_back(std::move(each));
  }
  // A cost that hides under backward adds little until it no longer hides. Sums about small ones
  // alone say that a large one adds little, too: such a pass is not believed.
  constexpr int kPasses = 6;
  constexpr double kBelieved = 0.02;
  double least_error = std::numeric_limits<double>::infinity();
  VectorXd about = middle_;
  LinearRows pieces(linear, quantities);
  for (int pass = 0; pass < kPasses && least_error > kBelieved; ++pass) {
    const bool first = pass == 0;
    pieces.add(about);
    LinearGroup sums = pieces.group();
    sums.apart = apart_of(sums.kinds);
    std::vector<Draw> draws =
        chain_draws(sums, first ? Lengths{1500, 4000, 4} : Lengths{3000, 16000, 8});
    const VectorXd centre = centre_of(sums, draws, columns_of(sums, draws));
    for (std::size_t a = 0; a < sums.terms.size(); ++a) {
      // Passes may still swing between two values: where costs overlap the sums are rough.
      double& its = about[at(sums.terms[a])];
      its = pass < 2 ? centre[at(a)] : (its + centre[at(a)]) / 2;
    }
    const double error =
        first ? least_error
              : error_of_sums(sums, linear, quantities, centre.head(at(sums.terms.size())));
    if (!first && error >= least_error) continue;
    least_error = error;
    linear_ = std::move(sums);
    draws_ = std::move(draws);
  }
}

std::vector<StackLearner::Draw> StackLearner::chain_draws(const LinearGroup& linear,
                                                          const Lengths& lengths) const {
  GroupChain chain(linear, {.scatter = usual_scatter(prior_),
                            .scatter_deviation = kScatterDeviation,
                            .degrees = kSpreadDegrees});
  Dice dice(seed_);
  const double discrepancy = std::max(kLeastDiscrepancy, prior_.discrepancy);
  std::vector<Draw> draws;
  for (int i = 0; i < lengths.burn_in + lengths.sweeps; ++i) {
    const bool learning = i < lengths.burn_in;
    chain.sweep(middle_, deviation_, discrepancy, dice, learning);
    if (!learning && i % lengths.thin == 0)
      draws.push_back({chain.bounded(), chain.shift(), chain.scatter()});
  }
  return draws;
}

LinearGroup StackLearner::some_of(const std::vector<std::size_t>& rows) const {
  LinearGroup some;
  std::vector<std::size_t> columns;
  for (std::size_t a = 0; a < linear_.terms.size(); ++a)
    if (std::any_of(rows.begin(), rows.end(),
                    [&](std::size_t i) { return depends(linear_, at(i), at(a)); }))
      columns.push_back(a);
  some.measured = some.compute = some.share = VectorXd(at(rows.size()));
  some.about = some.most = VectorXd(at(columns.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    some.measured[at(i)] = linear_.measured[at(rows[i])];
    some.share[at(i)] = linear_.share[at(rows[i])];
    some.compute[at(i)] = linear_.compute[at(rows[i])];
    some.kinds.push_back(linear_.kinds[rows[i]]);
  }
  for (const LinearPiece& all : linear_.pieces) {
    LinearPiece piece{VectorXd(at(rows.size())),
                      Eigen::MatrixXd(at(rows.size()), at(columns.size()))};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      piece.base[at(i)] = all.base[at(rows[i])];
      for (std::size_t a = 0; a < columns.size(); ++a)
        piece.gain(at(i), at(a)) = all.gain(at(rows[i]), at(columns[a]));
    }
    some.pieces.push_back(std::move(piece));
  }
  for (std::size_t a = 0; a < columns.size(); ++a) {
    some.terms.push_back(linear_.terms[columns[a]]);
    some.about[at(a)] = linear_.about[at(columns[a])];
    some.most[at(a)] = linear_.most[at(columns[a])];
  }
  some.apart = apart_of(some.kinds);
  return some;
}

std::set<std::string> StackLearner::compressors_of(std::size_t term,
                                                   const std::vector<std::size_t>& rows) const {
  std::set<std::string> names;
  for (const std::size_t row : rows) {
    const Scenario& scenario = rows_[row].scenario;
    const std::vector<const StackTerm*> paid = terms_for(prior_, scenario);
    if (scenario.compresses() &&
        std::find(paid.begin(), paid.end(), &prior_.terms[term]) != paid.end())
      names.emplace(scenario.compressor->name);
  }
  return names;
}

std::string StackLearner::implementation_of(const RunKind& kind, const LinearGroup& linear,
                                            const std::vector<std::size_t>& rows) const {
  std::set<std::string> made;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (linear.kinds[i].compressor == kind.compressor &&
        kind_correlation(linear.kinds[i], kind) > kOneKind)
      made.insert(gradcast::implementation_of(rows_[rows[i]].scenario));
  return made.size() == 1 ? *made.begin() : "";
}

void StackLearner::widen_seen(StackTerm& term, const LinearGroup& linear, std::size_t column,
                              const std::vector<std::size_t>& rows) const {
  if (term.seen.empty()) return;  // it holds everywhere
  const std::vector<std::string> names = split_words(term.quantity->seen_by, ' ');
  SeenBox box;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!depends(linear, at(i), at(column))) continue;
    const Scenario& scenario = physics_[rows[i]];
    const Plan plan = make_plan(scenario);
    for (const SituationNumber& number : situation_numbers())
      if (std::find(names.begin(), names.end(), number.name) != names.end() ||
          (number.name == "shards" && scenario.shards() > 1))
        widen(box, number, number.of(scenario, plan));
  }
  if (!box.empty()) term.seen.push_back(box);
}

std::vector<std::vector<double>> StackLearner::columns_of(const LinearGroup& linear,
                                                          const std::vector<Draw>& draws) {
  std::vector<std::vector<double>> columns(linear.terms.size() + 1);
  for (const Draw& draw : draws) {
    for (std::size_t a = 0; a < linear.terms.size(); ++a) columns[a].push_back(draw.x[at(a)]);
    columns.back().push_back(draw.shift);
  }
  return columns;
}

/// The median of a sum is not the sum of its medians. These values of the terms and, last, of the
/// shift are near their medians, and what they forecast of the runs is the median of the draws: to
/// so many percent, against so many deviations from the median (least squares, by Gauss and
/// Newton). A run takes the largest of several sums. A step that ends worse, where another sum is
/// the largest, is halved.
VectorXd StackLearner::centre_of(const LinearGroup& linear, const std::vector<Draw>& draws,
                                 const std::vector<std::vector<double>>& columns) {
  constexpr double kPrecision = 0.01;
  constexpr int kSteps = 30;
  const Eigen::Index terms = at(linear.terms.size());
  const Eigen::Index runs = linear.measured.size();
  VectorXd medians(terms + 1), low(terms + 1), high(terms + 1);
  for (Eigen::Index a = 0; a <= terms; ++a) {
    const std::vector<double>& values = columns[static_cast<std::size_t>(a)];
    medians[a] = median(values);
    low[a] = value_at(values, 0.05);
    high[a] = value_at(values, 0.95);
  }
  const VectorXd deviations = ((high - low) / 4).array().max(1e-6);
  std::vector<std::vector<double>> logs(static_cast<std::size_t>(runs));
  for (const Draw& draw : draws) {
    const VectorXd its = log_times(linear, draw.x, draw.shift);
    for (Eigen::Index i = 0; i < runs; ++i) logs[static_cast<std::size_t>(i)].push_back(its[i]);
  }
  VectorXd wanted(runs);
  for (Eigen::Index i = 0; i < runs; ++i)
    wanted[i] = median(std::move(logs[static_cast<std::size_t>(i)]));
  VectorXd centre = medians, best = medians;
  double least = std::numeric_limits<double>::infinity();
  for (int step = 0; step < kSteps; ++step) {
    const VectorXd numbers = centre.head(terms).array().exp();
    const double factor = std::exp(centre[terms]);
    const LinearPiece piece = piece_at(linear, numbers);
    const VectorXd rest = factor * (piece.base - linear.compute + piece.gain * numbers);
    const VectorXd times = linear.compute + rest;
    const VectorXd off = (times.array().log() - wanted.array()) / kPrecision;
    const VectorXd apart = (centre - medians).cwiseQuotient(deviations);
    const double misfit = off.squaredNorm() + apart.squaredNorm();
    if (!(misfit < least)) {
      centre = (centre + best) / 2;
      continue;
    }
    least = misfit;
    best = centre;
    Eigen::MatrixXd jacobian(runs, terms + 1);
    for (Eigen::Index a = 0; a < terms; ++a)
      jacobian.col(a) = factor * piece.gain.col(a).array() * numbers[a] / times.array();
    jacobian.col(terms) = rest.array() / times.array();
    jacobian /= kPrecision;
    Eigen::MatrixXd normal = jacobian.transpose() * jacobian;
    normal.diagonal().array() += deviations.array().inverse().square();
    const VectorXd slope = jacobian.transpose() * off + apart.cwiseQuotient(deviations);
    const VectorXd moved = solved(normal, slope);
    centre -= moved.cwiseMax(-deviations).cwiseMin(deviations);
    centre = centre.cwiseMax(low).cwiseMin(high);
  }
  return best;
}

LearnedStack StackLearner::learned(const LinearGroup& linear, const std::vector<std::size_t>& rows,
                                   const std::vector<Draw>& draws,
                                   const std::string& evidence) const {
  LearnedStack learned{prior_, {}};
  Stack& stack = learned.stack;
  std::vector<std::vector<double>> columns = columns_of(linear, draws);
  const VectorXd centre = centre_of(linear, draws, columns);
  std::vector<std::string> names;
  std::vector<StackTerm> own;  // of the compressors that ran, beside what is known of all
  for (std::size_t a = 0; a < linear.terms.size(); ++a) {
    const StackTerm& of_all = stack.terms[linear.terms[a]];
    StackTerm term = of_all;
    std::set<std::string> ran;
    if (term.quantity->of == ScenarioQuantity::Of::Costs && term.compressor.empty())
      ran = compressors_of(linear.terms[a], rows);
    if (!ran.empty()) term.compressor = *ran.begin();
    const LogSpread spread = log_spread_about(centre[at(a)], columns[a]);
    StackTerm shown = term;
    if (!ran.empty()) shown.compressor = join({ran.begin(), ran.end()}, " and ");
    learned.terms.push_back({shown.name(), term.quantity,
                             range_of({std::log(term.value), term.deviation, term.deviation}),
                             range_of(spread)});
    names.push_back(term.name());
    term.value = std::exp(spread.middle);
    term.deviation = spread.above;
    term.deviation_below = spread.below;
    term.source = evidence;
    term.of_family = false;
    widen_seen(term, linear, a, rows);
    if (ran.empty()) stack.terms[linear.terms[a]] = term;
    for (const std::string& compressor : ran) {
      own.push_back(term);
      own.back().compressor = compressor;
    }
  }
  stack.terms.insert(stack.terms.end(), own.begin(), own.end());
  names.emplace_back(kModelFactor);
  const LogSpread factor = log_spread_about(centre[at(linear.terms.size())], columns.back());
  const double discrepancy = prior_.discrepancy;
  learned.terms.push_back(
      {kModelFactor, nullptr, range_of({0, discrepancy, discrepancy}), range_of(factor)});
  stack.factor = std::exp(factor.middle);
  stack.discrepancy_elsewhere = prior_.discrepancy;
  stack.scatter_elsewhere = prior_.scatter;
  stack.discrepancy = factor.above;
  stack.discrepancy_below = factor.below;
  std::vector<double> scatters;
  Dice dice(seed_);
  const MeasuredKinds measured = measured_kinds(linear);
  const std::size_t first_kind = columns.size();
  columns.resize(first_kind + measured.kinds.size());
  for (const Draw& draw : draws) {
    VectorXd unknown(at(measured.kinds.size()));
    for (Eigen::Index k = 0; k < unknown.size(); ++k) unknown[k] = dice.normal();
    const VectorXd errors =
        (linear.measured - log_times(linear, draw.x, draw.shift)).cwiseQuotient(linear.share);
    const VectorXd its = measured.weights * errors + draw.scatter * measured.root * unknown;
    for (std::size_t k = 0; k < measured.kinds.size(); ++k)
      columns[first_kind + k].push_back(measured.share[at(k)] * its[at(k)]);
  }
  for (std::size_t k = 0; k < measured.kinds.size(); ++k) {
    const LogSpread spread = log_spread_of(columns[first_kind + k]);
    stack.kinds.push_back({measured.kinds[k], std::exp(spread.middle),
                           (spread.above + spread.below) / 2,
                           implementation_of(measured.kinds[k], linear, rows)});
    const double between = measured.share[at(k)] * prior_.scatter * std::sqrt(kKindShare);
    names.push_back(stack.kinds.back().name());
    learned.terms.push_back(
        {names.back(), nullptr, range_of({0, between, between}), range_of(spread)});
  }
  for (const Draw& draw : draws) scatters.push_back(draw.scatter * t_quantile(dice.uniform(), 4));
  const LogSpread scatter = log_spread_of(scatters);
  stack.scatter = (scatter.above + scatter.below) / 2;
  learned.terms.push_back({"scatter", nullptr, range_of({0, prior_.scatter, prior_.scatter}),
                           range_of({0, stack.scatter, stack.scatter})});
  std::vector<std::vector<double>> scores;
  for (const std::vector<double>& column : columns) scores.push_back(normal_scores(column));
  constexpr double kByChance = 0.05;  // what chance makes of 2000 draws
  for (std::size_t a = 0; a < names.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (const double value = correlation_of(scores[a], scores[b]); std::abs(value) > kByChance)
        stack.correlations.push_back({names[b], names[a], value});
  make_possible(stack.correlations);
  std::set<std::string> shown;
  for (const std::size_t i : rows) shown.insert(links_[i].begin(), links_[i].end());
  stack.shown_links.emplace(shown.begin(), shown.end());
  for (const std::size_t i : rows) {
    const std::string& source = rows_[i].run.source;
    if (std::find(stack.sources.begin(), stack.sources.end(), source) == stack.sources.end())
      stack.sources.push_back(source);
  }
  return learned;
}

LearnedStack StackLearner::by_all(const std::string& evidence) const {
  std::vector<std::size_t> all(rows_.size());
  std::iota(all.begin(), all.end(), 0);
  return learned(linear_, all, draws_, evidence);
}

LearnedStack StackLearner::by_some(const std::vector<std::size_t>& rows) const {
  const LinearGroup linear = some_of(rows);
  // Many rows take longer to look at, and leave fewer states to look for.
  const int sweeps = std::clamp(120'000 / static_cast<int>(rows_.size()), 2000, 12'000);
  return learned(linear, rows, chain_draws(linear, {sweeps / 4, sweeps, sweeps / 2000 + 1}),
                 "the other runs");
}

double CheckedRun::error_percent(const Evaluation& forecast) const {
  return 100 * (forecast.result.iteration / row->run.iteration - 1);
}

bool CheckedRun::holds(const Evaluation& forecast) const {
  return forecast.interval && row->run.iteration >= forecast.interval->low &&
         row->run.iteration <= forecast.interval->high;
}

Evaluation evaluate_on(const Scenario& scenario, const std::shared_ptr<const Stack>& stack,
                       const Engine& engine) {
  Scenario on = scenario;
  on.stack = stack;
  apply_stack(on);
  return evaluate(on, engine);
}

std::vector<CheckedRun> check_by_others(const StackLearner& learner,
                                        const std::vector<FitRow>& rows, const Engine& engine,
                                        const std::function<void(std::size_t)>& progress) {
  const auto prior = std::make_shared<const Stack>(learner.prior());
  std::vector<CheckedRun> checked;
  std::map<std::vector<std::size_t>, std::shared_ptr<const Stack>> by;  // repeats share one
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CheckedRun run{&rows[i], evaluate_on(rows[i].scenario, prior, engine), {}};
    const std::vector<std::size_t> others = rows_but_repeats(rows, i);
    run.others = others.size();
    run.after = run.before;
    if (!others.empty()) {
      std::shared_ptr<const Stack>& stack = by[others];
      if (stack == nullptr) stack = std::make_shared<const Stack>(learner.by_some(others).stack);
      run.after = evaluate_on(rows[i].scenario, stack, engine);
    }
    checked.push_back(std::move(run));
    if (progress) progress(i + 1);
  }
  return checked;
}

}  // namespace gradcast
