// The run to measure next: the one that would narrow the forecasts of a user's set-ups most.
#pragma once
#include <string>
#include <vector>

#include "sim/fit/row_model.hpp"
#include "sim/forecast/evaluation.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast {

struct NextRun {
  std::string words;  // "vgg-16, topk, 4 nodes"
  Request request;
  Evaluation forecast;
  /// The percentage by which the 90 % intervals of all set-ups that were looked at would become
  /// narrower, in the mean.
  double narrower_percent = 0;
};

/// ", ddp, after backward": the run's schedule where another run of its model has another; else "".
std::string schedule_apart(const MeasuredRun& run, const std::vector<const MeasuredRun*>& all);

/// The share by which an interval becomes narrower if another run is measured. `logs` and
/// `measured` are logarithms of joint draws of two runs' times; a run has its own scatter beside
/// them.
double narrower_by(const std::vector<double>& logs, const std::vector<double>& measured,
                   double scatter);

/// The best of the set-ups of the rows with other numbers of nodes, compressors, schedules: at most
/// three, the best first. Set-ups that cannot be forecast are left out.
std::vector<NextRun> runs_to_measure_next(const std::vector<FitRow>& rows, const Stack& stack,
                                          const Engine& engine, DataFiles& files);

}  // namespace gradcast
