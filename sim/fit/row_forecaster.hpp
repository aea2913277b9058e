// Forecasts measured runs at many parameters. A search asks thousands of times, so that whatever
// the parameters do not change is made once.
#pragma once
#include <Eigen/Core>
#include <map>
#include <memory>
#include <vector>

#include "sim/fit/row_model.hpp"
#include "sim/plan/bucket_costs.hpp"

namespace gradcast {

class RowForecaster {
 public:
  /// All arguments must outlive it. Throws as uses_of does.
  RowForecaster(const FitRow& row, const FitStructure& structure, const Engine& engine);

  enum class Keep { Last, Always };

  /// The forecast at these parameters of the structure: what forecasts() gives, but for rounding.
  /// If the run's own parameters are those of the last call, or of one that was kept, it is not
  /// made again.
  double at(const Eigen::VectorXd& parameters, Keep keep = Keep::Last);

 private:
  const Engine& engine_;
  std::vector<QuantityUse> uses_;
  Scenario scenario_;  // what is set in it is set again by every forecast
  std::unique_ptr<KnownCosts> costs_;
  std::vector<double> own_;  // parameters of the last forecast, those that apply to the run
  std::vector<double> asked_;
  double last_ = -1;  // none yet
  std::map<std::vector<double>, double> kept_;
};

/// Those of the runs of one structure. Fits that leave out some runs share the others.
class RowForecasters {
 public:
  RowForecasters(const FitStructure& structure, const Engine& engine)
      : structure_(structure), engine_(engine) {}

  RowForecaster& of(const FitRow& row);

 private:
  const FitStructure& structure_;
  const Engine& engine_;
  std::map<const FitRow*, RowForecaster> made_;
};

}  // namespace gradcast
