// Eigen's products, for the one set of instructions that the including file is compiled for:
// GRADCAST_INSTRUCTIONS names it.
#pragma once
#include <Eigen/Core>

#include "sim/lab/matrix_product.hpp"

namespace gradcast::lab::GRADCAST_INSTRUCTIONS {

template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Calls `use` with the factor as Eigen sees it.
template <class Real, class Use>
void with_view(int rows, int columns, Factor<Real> factor, Use use) {
  using View = Eigen::Map<const Matrix<Real>>;
  if (factor.transposed)
    use(View(factor.values, columns, rows).transpose());
  else
    use(View(factor.values, rows, columns));
}

template <class Real>
void multiply(int rows, int columns, int inner, Factor<Real> a, Factor<Real> b, Real* c, bool add) {
  Eigen::Map<Matrix<Real>> result(c, rows, columns);
  with_view(rows, inner, a, [&](const auto& left) {
    with_view(inner, columns, b, [&](const auto& right) {
      if (add)
        result.noalias() += left * right;
      else
        result.noalias() = left * right;
    });
  });
}

template void multiply(int, int, int, Factor<float>, Factor<float>, float*, bool);
template void multiply(int, int, int, Factor<double>, Factor<double>, double*, bool);

}  // namespace gradcast::lab::GRADCAST_INSTRUCTIONS
