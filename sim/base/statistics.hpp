// Medians, what errors come to, and quantiles that intervals are made of (the normal one is
// kernels/normal_quantile.hpp).
#pragma once
#include <cstddef>
#include <vector>

namespace gradcast {

/// Student's t of `degrees` degrees of freedom (1 or more) below which a value lies with
/// `probability`, above 0 and below 1. Throws std::logic_error for others.
double t_quantile(double probability, double degrees);

/// Of the errors in percent of some rows. The 90th percentile is nearest-rank.
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

/// The middle one, or the mean of the two in the middle. Throws std::logic_error for no values.
double median(std::vector<double> values);

}  // namespace gradcast
