// Quantiles that intervals are made of; the normal one is kernels/normal_quantile.hpp.
#pragma once

namespace gradcast {

/// Student's t of `degrees` degrees of freedom (1 or more) below which a value lies with
/// `probability`, above 0 and below 1. Throws std::logic_error for others.
double t_quantile(double probability, double degrees);

}  // namespace gradcast
