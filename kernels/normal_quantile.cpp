// Eigen's ndtri, which is that of Moshier's Cephes library: relative error below 1e-15.
#include "kernels/normal_quantile.hpp"

#include <unsupported/Eigen/SpecialFunctions>

namespace gradcast {

double normal_quantile(double probability) { return Eigen::numext::ndtri(probability); }

double gaussian_deviations(const Selection& selection, std::int64_t elements) {
  const double sides = selection.mode == Mode::Code ? 2 : 1;
  return -normal_quantile(static_cast<double>(selection.k) /
                          (sides * static_cast<double>(elements)));
}

}  // namespace gradcast
