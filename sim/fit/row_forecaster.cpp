#include "sim/fit/row_forecaster.hpp"

namespace gradcast {

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
