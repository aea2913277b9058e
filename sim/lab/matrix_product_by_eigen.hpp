// Eigen's products, for the one set of instructions that the including file is compiled for:
// GRADCAST_INSTRUCTIONS names it.
#pragma once
#include <Eigen/Core>

#include "sim/lab/matrix_product.hpp"

namespace gradcast::lab::GRADCAST_INSTRUCTIONS {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Calls `use` with the factor as Eigen sees it.
template <class Use>
void with_view(int rows, int columns, Factor<float> factor, Use use) {
  using View = Eigen::Map<const Matrix>;
  if (factor.transposed)
    use(View(factor.values, columns, rows).transpose());
  else
    use(View(factor.values, rows, columns));
}

void multiply(int rows, int columns, int inner, Factor<float> a, Factor<float> b, float* c,
              bool add) {
  Eigen::Map<Matrix> result(c, rows, columns);
  with_view(rows, inner, a, [&](const auto& left) {
    with_view(inner, columns, b, [&](const auto& right) {
      if (add)
        result.noalias() += left * right;
      else
        result.noalias() = left * right;
    });
  });
}

}  // namespace gradcast::lab::GRADCAST_INSTRUCTIONS
