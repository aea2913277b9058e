#include "sim/lab/matrix_product.hpp"

#define GRADCAST_INSTRUCTIONS plain
#include "sim/lab/matrix_product_by_eigen.hpp"

namespace gradcast::lab {
namespace avx2 {
#ifdef GRADCAST_AVX2
template <class Real>
void multiply(int rows, int columns, int inner, Factor<Real> a, Factor<Real> b, Real* c, bool add);
extern template void multiply<float>(int, int, int, Factor<float>, Factor<float>, float*, bool);
extern template void multiply<double>(int, int, int, Factor<double>, Factor<double>, double*, bool);
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

template <class Real>
void multiply(int rows, int columns, int inner, Factor<Real> a, Factor<Real> b, Real* c, bool add) {
  if (has_avx2())
    avx2::multiply(rows, columns, inner, a, b, c, add);
  else
    plain::multiply(rows, columns, inner, a, b, c, add);
}

template void multiply(int, int, int, Factor<float>, Factor<float>, float*, bool);
template void multiply(int, int, int, Factor<double>, Factor<double>, double*, bool);

std::string_view product_instructions() { return has_avx2() ? "avx2" : "plain"; }

}  // namespace gradcast::lab
