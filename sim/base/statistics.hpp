// Medians, summaries of errors, and quantiles for intervals (the normal quantile is in
// kernels/normal_quantile.hpp).
#pragma once
#include <cstddef>
#include <vector>

namespace gradcast {

/// The quantile of Student's t distribution: a value lies below it with `probability` (above 0 and
/// below 1). `degrees` of freedom: 1 or more. Throws std::logic_error for others.
double t_quantile(double probability, double degrees);

/// The same of the chi-squared distribution.
double chi_squared_quantile(double probability, double degrees);

/// Expected distance of the largest of `draws` from a normal distribution above the mean, in
/// standard deviations. By Blom's formula: within 0.03 of the exact value. 0 for one draw. `draws`:
/// 1 or more.
double expected_maximum(int draws);

/// A summary of the errors of some rows, in percent. The 90th percentile is nearest-rank.
struct ErrorSummary {
  std::size_t rows = 0;
  double mean_absolute = 0;
  double median_absolute = 0;
  double p90_absolute = 0;
  double worst = 0;  // with its sign
  double bias = 0;   // mean of the signed errors
};

/// Throws std::logic_error for no errors.
ErrorSummary summarize_errors(const std::vector<double>& errors_percent);

/// The smallest value that at least `share` of the sorted values do not exceed. `sorted` has at
/// least one; `share`: above 0, up to 1.
double nearest_rank(const std::vector<double>& sorted, double share);

/// The middle value, or the mean of the two in the middle. Throws std::logic_error for no values.
double median(std::vector<double> values);

}  // namespace gradcast
