#include "sim/lab/observation.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/npy.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"

namespace gradcast::lab {
namespace {

constexpr double kBinWidth = 0.1;  // deviations
constexpr int kInnerBins = 120;    // from -6 to 6
constexpr std::size_t kWorker = 0;

std::vector<Bin> empty_bins(double least, double largest) {
  std::vector<Bin> bins;
  for (int i = 0; i < kInnerBins; ++i)
    bins.push_back({(i - kInnerBins / 2) * kBinWidth, (i + 1 - kInnerBins / 2) * kBinWidth, 0});
  const double end = kInnerBins / 2 * kBinWidth;
  bins.insert(bins.begin(), {std::min(least, -end), -end, 0});
  bins.push_back({end, std::max(largest, end), 0});
  return bins;
}

std::size_t bin_of(double deviations) {
  const double place = std::floor(deviations / kBinWidth) + kInnerBins / 2 + 1;
  return static_cast<std::size_t>(std::clamp<double>(place, 0, kInnerBins + 1));
}

Json moments_json(const Observation& seen) {
  return {{"iteration", seen.iteration}, {"tensor", seen.tensor},       {"elements", seen.elements},
          {"mean", seen.mean},           {"deviation", seen.deviation}, {"kurtosis", seen.kurtosis},
          {"zeros", seen.zeros}};
}

Json bin_json(const Bin& bin) {
  return {{"from_deviations", bin.from}, {"to_deviations", bin.to}, {"count", bin.count}};
}

}  // namespace

Observation observed(std::span<const float> u, int iteration, const std::string& tensor) {
  std::vector<double> values;
  for (const float value : u)
    if (std::isfinite(value)) values.push_back(value);
  Observation seen;
  seen.iteration = iteration;
  seen.tensor = tensor;
  seen.elements = static_cast<std::int64_t>(u.size());
  const auto count = static_cast<double>(std::max<std::size_t>(values.size(), 1));
  for (const double value : values) seen.mean += value / count;
  double squares = 0;
  double fourths = 0;
  for (const double value : values) {
    const double square = (value - seen.mean) * (value - seen.mean);
    squares += square / count;
    fourths += square * square / count;
    if (value == 0) ++seen.zeros;
  }
  if (squares == 0) return seen;  // one value: no shape
  seen.deviation = std::sqrt(squares);
  seen.kurtosis = fourths / (squares * squares);
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  seen.bins = empty_bins(*least / seen.deviation, *largest / seen.deviation);
  for (const double value : values) ++seen.bins[bin_of(value / seen.deviation)].count;
  return seen;
}

std::vector<Observation> observe(const Exchange& exchange,
                                 const std::vector<ParameterTensor>& tensors, int iteration) {
  const std::vector<float> u = exchange.last_u(kWorker);
  std::vector<Observation> observations{observed(u, iteration, kAllTensors)};
  std::size_t first = 0;
  for (const ParameterTensor& tensor : tensors) {
    observations.push_back(
        observed(std::span(u).subspan(first, tensor.elements), iteration, tensor.name));
    first += tensor.elements;
  }
  return observations;
}

Json observation_json(const Observation& observation) {
  Json json = moments_json(observation);
  json["bins"] = Json::array();
  for (const Bin& bin : observation.bins)
    if (bin.count > 0) json["bins"].push_back(bin_json(bin));
  return json;
}

std::string observations_table(const std::vector<Observation>& observations) {
  if (observations.empty()) return "";
  TextTable table{{"iteration", "u's mean", "deviation", "kurtosis", "zeros"}, {}};
  const auto shown = [](double value) { return value_to_text(rounded_to(3, value)); };
  for (const Observation& seen : observations)
    if (seen.tensor == kAllTensors)
      table.rows.push_back({std::to_string(seen.iteration), shown(seen.mean), shown(seen.deviation),
                            shown(seen.kurtosis), std::to_string(seen.zeros)});
  return "\nu = gradient + residual of the first worker (a normal distribution has kurtosis "
         "3):\n\n" +
         to_text(table);
}

std::string observations_csv(const std::vector<Observation>& observations) {
  std::vector<Json> rows;
  for (const Observation& seen : observations)
    for (const Bin& bin : seen.bins)
      if (bin.count > 0) {
        rows.push_back(moments_json(seen));
        rows.back().update(bin_json(bin));
      }
  return rows_to_csv(rows);
}

std::filesystem::path record_u(const Exchange& exchange, int iteration,
                               const std::filesystem::path& folder) {
  std::filesystem::path path = folder / ("u-" + std::to_string(iteration) + ".npy");
  write_text_file(path, npy_of(exchange.last_u(kWorker)));
  return path;
}

}  // namespace gradcast::lab
