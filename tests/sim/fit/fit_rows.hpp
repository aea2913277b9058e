// Measured runs of the toy network, made from known parameters.
#pragma once
#include <string>
#include <vector>

#include "sim/fit/fit.hpp"
#include "tests/sim/plan/toy.hpp"

namespace gradcast::toy {

/// The toy network on two ranks, so many times as wide: elements, and compute in another proportion
/// (root 3), so that runs differ in both.
inline FitRow fit_row(const std::string& compressor, int width) {
  FitRow row;
  row.scenario = scenario(compressor.c_str());
  for (GradientTensor& tensor : row.scenario.model.change().tensors) tensor.elements *= width;
  row.run.line = 1;
  row.run.source = "toy";
  row.run.model = "toy-" + std::to_string(width);
  row.run.cluster = "toy";
  row.run.nodes = 2;
  row.run.gpus_per_node = 1;
  row.run.compressor = compressor;
  row.run.compute = row.scenario.trace->iteration();
  row.request.costs = "toy-costs";
  return row;
}

inline std::vector<FitRow> fit_table(const std::vector<std::string>& compressors, int widths = 6) {
  std::vector<FitRow> rows;
  for (int width = 1; width <= widths; ++width)
    for (const std::string& compressor : compressors) rows.push_back(fit_row(compressor, width));
  return rows;
}

inline FitParameter parameter(const char* quantity, const char* applies_to, const char* start,
                              const char* least, const char* most) {
  FitParameter made;
  made.quantity = &find_scenario_quantity(quantity);
  made.applies_to = applies_to;
  made.scope = parse_fit_scope(applies_to);
  made.start = made.quantity->parse(start);
  made.least = made.quantity->parse(least);
  made.most = made.quantity->parse(most);
  if (made.least > made.most) std::swap(made.least, made.most);
  made.source = "a test";
  return made;
}

inline std::vector<const FitRow*> pointers(const std::vector<FitRow>& rows) {
  std::vector<const FitRow*> all;
  for (const FitRow& row : rows) all.push_back(&row);
  return all;
}

/// Every run "measured" as the structure forecasts it with those parameters.
inline void measure(std::vector<FitRow>& rows, const FitStructure& structure,
                    const Eigen::VectorXd& truth) {
  const auto times = forecasts(pointers(rows), structure, truth, *find_engine("analytic"));
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].run.iteration = Seconds{times[static_cast<Eigen::Index>(i)]};
}

inline const FitOptions kSearch{find_engine("analytic"), 10, 1};

}  // namespace gradcast::toy
