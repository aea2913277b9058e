// Products of matrices: nearly all of a training's time but for the compressors'. Row-major, as
// everything here.
#pragma once
#include <string_view>

namespace gradcast::lab {

/// A matrix that is read. With `transposed`, what lies in memory is its transpose.
template <class Real>
struct Factor {
  const Real* values;
  bool transposed = false;
};

/// c = a b; with `add`, c += a b. c is `rows` x `columns`, a `rows` x `inner`, b `inner` x
/// `columns`. One thread computes it; for the same sizes and instructions the bits are the same.
void multiply(int rows, int columns, int inner, Factor<float> a, Factor<float> b, float* c,
              bool add = false);

/// The same of doubles, slowly: they only check gradients, in tests. Eigen's products would take
/// seconds more to compile.
void multiply(int rows, int columns, int inner, Factor<double> a, Factor<double> b, double* c,
              bool add = false);

/// The instructions that this processor multiplies with: "avx2" or "plain". The two round
/// differently, so their trainings differ in the last bits, and later in more.
std::string_view product_instructions();

}  // namespace gradcast::lab
