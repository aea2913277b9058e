// The distribution of u = gradient + residual during a training: Fig. 2, 7 and 8 of Understanding
// Top-k Sparsification.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/base/table.hpp"
#include "sim/report/figures.hpp"
#include "sim/report/trainings.hpp"

namespace gradcast {
namespace {

constexpr double kFurthestDrawn = 4;  // deviations
constexpr const char* kNormal = "normal distribution";

const Json& observations_of(const ResultFile& training) {
  static const Json kNone = Json::array();
  const auto found = training.document.find("observations");
  return found != training.document.end() && found->is_array() ? *found : kNone;
}

/// The share of the elements that lies in each bin, by tenths of a deviation, in percent.
FigureSeries ridge_of(const Json& observation) {
  FigureSeries ridge{"iteration " + text_of(observation, "iteration"), {}};
  const auto elements = positive_of(observation, "elements");
  const auto bins = observation.find("bins");
  if (!elements || bins == observation.end() || !bins->is_array()) return ridge;
  for (const Json& bin : *bins) {
    const auto from = number_of(bin, "from_deviations");
    const auto to = number_of(bin, "to_deviations");
    const auto count = number_of(bin, "count");
    if (!from || !to || !count || *to <= *from) continue;
    const double middle = (*from + *to) / 2;
    if (std::abs(middle) > kFurthestDrawn) continue;
    constexpr double kBin = 0.1;
    FigurePoint point{middle, 100 * *count / *elements * kBin / (*to - *from)};
    point.label = ridge.name + ": " + optional_text(rounded_to(3, point.y)) +
                  " % of the elements lie around " + optional_text(rounded_to(2, middle)) +
                  " deviations";
    ridge.points.push_back(std::move(point));
  }
  return ridge;
}

/// The same for a normal distribution, which Gaussian-k's threshold assumes.
FigureSeries normal_ridge() {
  FigureSeries ridge{kNormal, {}, true};
  for (int i = -40; i <= 40; ++i) {
    const double x = i / 10.0;
    ridge.points.push_back(
        {x, 10 * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi)});  // % in a tenth
  }
  return ridge;
}

void add_observation(Figure& figure, FigurePanel& panel, const Json& observation,
                     const std::string& what) {
  figure.table.rows.push_back(
      {what, text_of(observation, "iteration"), text_of(observation, "tensor"),
       text_of(observation, "elements"), optional_text(number_of(observation, "mean")),
       optional_text(number_of(observation, "deviation")),
       optional_text(number_of(observation, "kurtosis")), text_of(observation, "zeros")});
  if (text_of(observation, "tensor") != "all") return;
  FigureSeries ridge = ridge_of(observation);
  if (!ridge.points.empty()) panel.series.push_back(std::move(ridge));
}

/// "2.1 to 3.4": the kurtosis of the whole model's u.
std::string kurtosis_words(const Json& observations) {
  std::optional<double> least;
  std::optional<double> most;
  for (const Json& observation : observations) {
    const auto kurtosis = number_of(observation, "kurtosis");
    if (!kurtosis || text_of(observation, "tensor") != "all") continue;
    least = std::min(*kurtosis, least.value_or(*kurtosis));
    most = std::max(*kurtosis, most.value_or(*kurtosis));
  }
  if (!least) return "";
  const std::string low = fixed(*least, 2);
  const std::string high = fixed(*most, 2);
  return low == high ? low : low + " to " + high;
}

}  // namespace

std::vector<Figure> u_figures(const std::vector<const ResultFile*>& trained) {
  Figure figure{"u",
                FigureKind::Ridges,
                "Histograms of u = gradient + residual, of the first worker",
                "",
                {"deviations from 0", AxisScale::Linear},
                {"% of the elements in a tenth of a deviation", AxisScale::Linear}};
  figure.table.header = {"training", "iteration", "tensor",   "elements",
                         "mean",     "deviation", "kurtosis", "zeros"};
  std::string kurtoses;
  for (const TrainingGroup& group : grouped_trainings(trained))
    for (const ResultFile* training : group.trainings) {
      const Json& observations = observations_of(*training);
      if (observations.empty()) continue;
      std::string what = group.network + ", " + group.name;
      if (group.trainings.size() > 1) what += ", seed " + text_of(training->document, "seed");
      FigurePanel panel{what, {}};
      for (const Json& observation : observations)
        add_observation(figure, panel, observation, what);
      if (panel.series.empty()) continue;
      panel.series.push_back(normal_ridge());
      figure.panels.push_back(std::move(panel));
      kurtoses += (kurtoses.empty() ? "" : "; ") + what + ": " + kurtosis_words(observations);
    }
  if (figure.panels.empty()) return {};
  figure.summary =
      "The dashed line is a normal distribution of the same deviation. Kurtosis, 3 "
      "for a normal distribution, of " +
      kurtoses + ".";
  figure.summary += cut_to_fit(figure);
  return {figure};
}

}  // namespace gradcast
