// Results of `gradcast train`, grouped: the same setup with other seeds is one group. Accuracies as
// lines: a line a setup, a point each evaluation, over the seeds.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/report/figure.hpp"
#include "sim/report/results.hpp"

namespace gradcast {

/// Trainings that differ by their seeds alone, each seed once.
struct TrainingGroup {
  std::string network;
  std::string dataset;
  std::string name;  // "topk 0.001", and what else sets it apart: "topk 0.001, feedback no"
  std::string epochs;
  bool dense = false;
  std::vector<const ResultFile*> trainings;
};

/// Groups in the order of the results. A result without rows is left out.
std::vector<TrainingGroup> grouped_trainings(const std::vector<const ResultFile*>& trained);

/// "fnn-3 on fashion-mnist"
std::string subject_of(const TrainingGroup& group);

/// Sentences on the final accuracies, medians over the seeds, one for each network and dataset:
/// "fnn-3 on fashion-mnist ended at: dense 85.4 %, topk 0.001 81.9 % (3.5 points behind dense)."
/// The best comes first. Each is compared with dense trainings of as many epochs.
std::vector<std::string> ends_of(const std::vector<TrainingGroup>& groups);

/// A number that the result's summary has for the whole training.
std::optional<double> number_of_summary(const ResultFile& training, std::string_view name);

/// The numbers of the groups' rows over the iterations, from all seeds: `value_of` gives a row's
/// number, or none.
template <class ValueOf>
std::map<double, std::vector<double>> over_iterations(const TrainingGroup& group,
                                                      ValueOf value_of) {
  std::map<double, std::vector<double>> curve;
  for (const ResultFile* training : group.trainings)
    for (const Json& row : training->rows) {
      const std::optional<double> iteration = positive_of(row, "iteration");
      const std::optional<double> value = value_of(*training, row);
      if (iteration && value) curve[*iteration].push_back(*value);
    }
  return curve;
}

/// The values of all seeds of a setup, by x.
using SeedCurve = std::map<double, std::vector<double>>;

/// "topk 0.001", "gaussian (code) 0.001": compressor, mode and density of a row.
std::string curve_name(const Json& row);

/// The median of `values`, in a band from the least to the most.
FigurePoint point_of_seeds(double x, const std::vector<double>& values);

}  // namespace gradcast
