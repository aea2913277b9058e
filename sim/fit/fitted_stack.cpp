#include "sim/fit/fitted_stack.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "sim/base/text.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {
namespace {

/// Half of a 95 % interval in standard deviations of a t with 5 degrees of freedom, which is what
/// forecasts draw a stack's terms from: the interval that was fitted stays as wide.
constexpr double kDeviationsTo95 = 2.571;

/// "my-runs" of "traces/measured-my-runs.csv".
std::string name_of(const std::string& fitted_on) {
  std::string name = std::filesystem::path(fitted_on).filename().string();
  if (name.ends_with(".csv")) name.erase(name.size() - 4);
  constexpr std::string_view kPrefix = "measured-";
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

/// The compressors that a parameter is of: {""} for all; none where a stack cannot say whose it is.
std::vector<std::string> compressors_of(const FitParameter& parameter) {
  const std::vector<FitScope::Condition>& conditions = parameter.scope.conditions;
  if (conditions.empty()) return {""};
  const bool costs = parameter.quantity->of == ScenarioQuantity::Of::Costs;
  if (costs && conditions.size() == 1 && conditions[0].column == "compressor")
    return conditions[0].values;
  return {};
}

std::vector<SeenBox> seen_by(const Fit& fit, const StackTerm& term, const FitScope& scope) {
  const std::vector<std::string> names = split_words(term.quantity->seen_by, ' ');
  SeenBox seen;
  for (const FitRow* row : fit.rows) {
    if (!scope.holds(row->run) || !pays(*term.quantity, term.compressor, row->scenario)) continue;
    const Plan plan = make_plan(row->scenario);
    for (const SituationNumber& number : situation_numbers())
      if (std::find(names.begin(), names.end(), number.name) != names.end())
        widen(seen, number, number.of(row->scenario, plan));
  }
  if (seen.empty()) return {};
  return {seen};
}

/// At a bound a value is not known better than its bounds: half of the room between them.
double deviation_of(const FittedParameter& fitted, const FitParameter& parameter) {
  const double room = fitted.at_bound ? parameter.most - parameter.least : fitted.high - fitted.low;
  const double half = room / 2 / fitted.value;
  return std::isfinite(half) ? std::min(kMostTermDeviation, half / kDeviationsTo95)
                             : kMostTermDeviation;
}

/// The deviation that the fit left unexplained, as a share of the measured time.
double relative_deviation(const Fit& fit) {
  if (fit.structure->errors == FitErrors::Relative) return fit.deviation;
  double sum = 0;
  for (std::size_t i = 0; i < fit.rows.size(); ++i) {
    const double share =
        fit.residuals[static_cast<Eigen::Index>(i)] / fit.rows[i]->run.iteration.count();
    sum += share * share;
  }
  return std::sqrt(sum / std::max(1.0, fit.degrees));
}

}  // namespace

std::optional<FittedFile> fitted_stack(const Fit& fit, const std::string& fitted_on) {
  Stack stack;
  stack.name = name_of(fitted_on);
  std::vector<std::string> comments{
      "The software stack of " + std::to_string(fit.runs) +
          " runs, fitted by `gradcast fit "
          "--measured " +
          fitted_on + "`; structure " + fit.structure->name + ".",
      "It was seen on their clusters alone: how far other clusters lie apart, it cannot say."};
  for (std::size_t i = 0; i < fit.parameters.size(); ++i) {
    const FitParameter& parameter = fit.structure->parameters[i];
    const FittedParameter& fitted = fit.parameters[i];
    if (!parameter.quantity->software) continue;
    const std::vector<std::string> compressors = compressors_of(parameter);
    std::string why;
    if (!fitted.fixed.empty())
      why = "not estimated";
    else if (compressors.empty())
      why = "it applies to some runs only";
    else if (fitted.value <= 0)
      why = "fitted as 0";
    if (!why.empty()) {
      comments.push_back("Left out: " + parameter.name() + ", " + why + ".");
      continue;
    }
    for (const std::string& compressor : compressors) {
      StackTerm term;
      term.quantity = parameter.quantity;
      term.compressor = compressor;
      term.value = fitted.value;
      term.deviation = deviation_of(fitted, parameter);
      term.source = std::to_string(fit.runs) + " runs of " + fitted_on;
      term.seen = seen_by(fit, term, parameter.scope);
      stack.terms.push_back(term);
    }
  }
  if (stack.terms.empty()) return std::nullopt;
  stack.scatter = relative_deviation(fit);
  stack.discrepancy = stack.scatter;  // one fit says no more about other clusters
  std::set<std::string> sources;
  for (const FitRow* row : fit.rows) sources.insert(row->run.source);
  comments.push_back("sources: " + join({sources.begin(), sources.end()}, " "));
  return FittedFile{"platforms/stack-" + stack.name + ".csv", stack_csv(stack, comments)};
}

}  // namespace gradcast
