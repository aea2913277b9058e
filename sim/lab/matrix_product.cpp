#include "sim/lab/matrix_product.hpp"

#define GRADCAST_INSTRUCTIONS plain
#include "sim/lab/matrix_product_by_eigen.hpp"

namespace gradcast::lab {
namespace avx2 {
#ifdef GRADCAST_AVX2
void multiply(int rows, int columns, int inner, Factor<float> a, Factor<float> b, float* c,
              bool add);
#else
using plain::multiply;
#endif
}  // namespace avx2

namespace {

bool has_avx2() {
#ifdef GRADCAST_AVX2
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
#else
  return false;
#endif
}

}  // namespace

void multiply(int rows, int columns, int inner, Factor<float> a, Factor<float> b, float* c,
              bool add) {
  if (has_avx2())
    avx2::multiply(rows, columns, inner, a, b, c, add);
  else
    plain::multiply(rows, columns, inner, a, b, c, add);
}

void multiply(int rows, int columns, int inner, Factor<double> a, Factor<double> b, double* c,
              bool add) {
  const auto value = [](Factor<double> factor, int its_rows, int its_columns, int row, int column) {
    return factor.values[factor.transposed ? column * its_rows + row : row * its_columns + column];
  };
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      double sum = 0;
      for (int k = 0; k < inner; ++k)
        sum += value(a, rows, inner, i, k) * value(b, inner, columns, k, j);
      double& result = c[i * columns + j];
      result = add ? result + sum : sum;
    }
}

std::string_view product_instructions() { return has_avx2() ? "avx2" : "plain"; }

}  // namespace gradcast::lab
