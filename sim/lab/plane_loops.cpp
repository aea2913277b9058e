#include "sim/lab/plane_loops.hpp"

#include "sim/lab/matrix_product.hpp"

#define GRADCAST_INSTRUCTIONS plain
#include "sim/lab/plane_loops_by_vectors.hpp"

namespace gradcast::lab {
#ifdef GRADCAST_AVX2
namespace avx2 {
template <class Real>
const PlaneLoops<Real>& loops();
extern template const PlaneLoops<float>& loops();
extern template const PlaneLoops<double>& loops();
}  // namespace avx2
#endif

template <class Real>
const PlaneLoops<Real>& plain_plane_loops() {
  return plain::loops<Real>();
}

template <class Real>
const PlaneLoops<Real>& plane_loops() {
#ifdef GRADCAST_AVX2
  static const bool avx2 = product_instructions() == "avx2";
  if (avx2) return avx2::loops<Real>();
#endif
  return plain::loops<Real>();
}

template const PlaneLoops<float>& plane_loops();
template const PlaneLoops<double>& plane_loops();
template const PlaneLoops<float>& plain_plane_loops();
template const PlaneLoops<double>& plain_plane_loops();

}  // namespace gradcast::lab
