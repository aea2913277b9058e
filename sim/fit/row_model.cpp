#include "sim/fit/row_model.hpp"

#include "sim/base/error.hpp"
#include "sim/compare/comparison.hpp"
#include "sim/forecast/preset.hpp"

namespace gradcast {

std::vector<FitRow> fit_rows_of(const MeasuredRuns& measured, DataFiles& files,
                                const std::string& stack) {
  std::vector<FitRow> rows;
  for (const MeasuredRun& run : measured.runs)
    rows.push_back(naming_row(measured.path, run, [&] {
      FitRow row{run, request_of(run, files, stack), {}};
      row.request.stack.clear();  // the fit is to find the software's costs
      row.scenario = make_scenario(row.request, files);
      make_plan(row.scenario);
      return row;
    }));
  return rows;
}

std::vector<bool> scope_of(const FitStructure& structure, const MeasuredRun& run) {
  std::vector<bool> in_scope;
  for (const FitParameter& parameter : structure.parameters)
    in_scope.push_back(parameter.scope.holds(run));
  return in_scope;
}

void QuantityUse::set(Scenario& scenario, const Eigen::VectorXd& values) const {
  double number = 0;
  for (const Eigen::Index i : parameters) number += values[i];
  quantity->set(scenario, number);
}

std::vector<QuantityUse> uses_of(const FitStructure& structure, const MeasuredRun& run) {
  const std::vector<bool> in_scope = scope_of(structure, run);
  std::vector<QuantityUse> uses;
  for (const ScenarioQuantity& quantity : all_scenario_quantities()) {
    QuantityUse use{&quantity, {}};
    for (std::size_t i = 0; i < structure.parameters.size(); ++i)
      if (in_scope[i] && structure.parameters[i].quantity == &quantity)
        use.parameters.push_back(static_cast<Eigen::Index>(i));
    if (use.parameters.size() > 1 && !quantity.adds_up)
      throw ValueError("structure '" + structure.name + "' has two parameters '" +
                       std::string(quantity.name) +
                       "' for this run; their scopes must not overlap");
    if (!use.parameters.empty()) uses.push_back(std::move(use));
  }
  return uses;
}

Scenario with_parameters(const FitRow& row, const FitStructure& structure,
                         const Eigen::VectorXd& parameters) {
  Scenario scenario = row.scenario;
  for (const QuantityUse& use : uses_of(structure, row.run)) use.set(scenario, parameters);
  return scenario;
}

Eigen::VectorXd forecasts(const std::vector<const FitRow*>& rows, const FitStructure& structure,
                          const Eigen::VectorXd& parameters, const Engine& engine) {
  Eigen::VectorXd times(static_cast<Eigen::Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    times[static_cast<Eigen::Index>(i)] =
        run(with_parameters(*rows[i], structure, parameters), engine).iteration.count();
  return times;
}

std::vector<double> errors_percent(const std::vector<const FitRow*>& rows,
                                   const FitStructure& structure, const Eigen::VectorXd& parameters,
                                   const Engine& engine) {
  const Eigen::VectorXd times = forecasts(rows, structure, parameters, engine);
  std::vector<double> errors;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double measured = rows[i]->run.iteration.count();
    errors.push_back(100 * (times[static_cast<Eigen::Index>(i)] / measured - 1));
  }
  return errors;
}

const Engine& engine_for_search(const std::vector<FitRow>& rows, const Engine& preferred) {
  const Engine& analytic = *find_engine("analytic");
  for (const FitRow& row : rows)
    if (!analytic.refusal(make_plan(row.scenario), row.scenario.cluster, row.scenario.world)
             .empty())
      return preferred;
  return analytic;
}

RowForecaster::RowForecaster(const FitRow& row, const FitStructure& structure, const Engine& engine)
    : engine_(engine), uses_(uses_of(structure, row.run)), scenario_(row.scenario) {
  if (scenario_.compresses() && scenario_.cluster.ranks() > 1 && scenario_.payload.count == 0)
    costs_ = std::make_unique<KnownCosts>(scenario_);
}

double RowForecaster::at(const Eigen::VectorXd& parameters, Keep keep) {
  asked_.clear();
  for (const QuantityUse& use : uses_)
    for (const Eigen::Index i : use.parameters) asked_.push_back(parameters[i]);
  if (last_ >= 0 && asked_ == own_) return last_;
  own_ = asked_;
  if (const auto known = kept_.find(own_); known != kept_.end()) return last_ = known->second;
  for (const QuantityUse& use : uses_) use.set(scenario_, parameters);
  const Plan plan = make_plan(scenario_, {.coarse = true, .costs = costs_.get()});
  last_ = summarize(plan, engine_.run(plan, scenario_.cluster, scenario_.world)).iteration.count();
  if (keep == Keep::Always) kept_.emplace(own_, last_);
  return last_;
}

RowForecaster& RowForecasters::of(const FitRow& row) {
  const auto at = made_.find(&row);
  if (at != made_.end()) return at->second;
  return made_.try_emplace(&row, row, structure_, engine_).first->second;
}

}  // namespace gradcast
