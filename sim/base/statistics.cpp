#include "sim/base/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "kernels/bench/sampling.hpp"
#include "kernels/normal_quantile.hpp"

namespace gradcast {

double nearest_rank(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

double t_quantile(double probability, double degrees) {
  if (!(probability > 0 && probability < 1)) throw std::logic_error("no probability to be below");
  if (!(degrees >= 1)) throw std::logic_error("Student's t without a degree of freedom");
  return boost::math::quantile(boost::math::students_t(degrees), probability);
}

double chi_squared_quantile(double probability, double degrees) {
  if (!(probability > 0 && probability < 1)) throw std::logic_error("no probability to be below");
  if (!(degrees >= 1)) throw std::logic_error("chi-squared without a degree of freedom");
  return boost::math::quantile(boost::math::chi_squared(degrees), probability);
}

double expected_maximum(int draws) {
  constexpr double kBlom =
      0.375;  // G. Blom, "Statistical Estimates and Transformed Beta-Variables"
  if (draws < 1) throw std::logic_error("the largest of no draws");
  if (draws == 1) return 0;
  return -normal_quantile((1 - kBlom) / (draws + 1 - 2 * kBlom));
}

double median(std::vector<double> values) {
  if (values.empty()) throw std::logic_error("no values have a median");
  std::sort(values.begin(), values.end());
  return median_of(values);
}

ErrorSummary summarize_errors(const std::vector<double>& errors_percent) {
  if (errors_percent.empty()) throw std::logic_error("no errors to summarize");
  const auto count = static_cast<double>(errors_percent.size());
  std::vector<double> absolute;
  ErrorSummary summary;
  summary.rows = errors_percent.size();
  for (const double error : errors_percent) {
    absolute.push_back(std::abs(error));
    if (std::abs(error) > std::abs(summary.worst)) summary.worst = error;
  }
  std::sort(absolute.begin(), absolute.end());
  summary.mean_absolute = std::accumulate(absolute.begin(), absolute.end(), 0.0) / count;
  summary.median_absolute = median(absolute);
  summary.p90_absolute = nearest_rank(absolute, 0.9);
  summary.bias = std::accumulate(errors_percent.begin(), errors_percent.end(), 0.0) / count;
  return summary;
}

}  // namespace gradcast
