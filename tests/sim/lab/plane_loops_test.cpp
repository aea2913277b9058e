#include "sim/lab/plane_loops.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace gradcast::lab;

namespace {

template <class Real>
std::vector<Real> whole_numbers(int count, int factor) {
  std::vector<Real> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(static_cast<Real>(i * factor % 13 - 6));
  return numbers;
}

// Any number of outputs and places: whole tiles of registers, and what is left of them. Whole
// numbers: every order of additions gives the same.
template <class Real>
void check_sums(const PlaneLoops<Real>& loops) {
  const std::vector<std::ptrdiff_t> offsets{0, 3, 1, 90};
  const int taps = 4;
  const int plane = 90;
  const std::vector<Real> source = whole_numbers<Real>(2 * plane + 100, 5);
  for (int outputs = 1; outputs <= 7; ++outputs)
    for (const int places : {1, 7, 8, 16, 25, 31, 40, 64}) {
      CAPTURE(outputs, places);
      const std::vector<Real> weights = whole_numbers<Real>(taps * outputs, 3);
      const std::vector<Real> bias = whole_numbers<Real>(outputs, 7);
      std::vector<Real> packed(weights.size());
      pack_weights(
          outputs, taps, [&](int tap, int o) { return weights[tap * outputs + o]; }, packed.data());
      std::vector<Real> sums(outputs * plane);
      loops.convolve({source.data(), offsets.data(), taps, packed.data(), bias.data(), outputs,
                      places, sums.data(), plane});
      std::vector<Real> factor(outputs * plane);
      for (int o = 0; o < outputs; ++o)
        for (int p = 0; p < places; ++p) {
          Real wanted = bias[o];
          for (int tap = 0; tap < taps; ++tap)
            wanted += weights[tap * outputs + o] * source[offsets[tap] + p];
          CHECK(sums[o * plane + p] == wanted);
          factor[o * plane + p] = static_cast<Real>((o + 2 * p) % 5);
        }
      std::vector<Real> products(outputs * taps, Real{1});
      loops.correlate({source.data(), 10, offsets.data(), taps, factor.data(), 0, plane, outputs,
                       places, 2, products.data()});
      for (int o = 0; o < outputs; ++o)
        for (int tap = 0; tap < taps; ++tap) {
          Real wanted = 1;
          for (int sample = 0; sample < 2; ++sample)
            for (int p = 0; p < places; ++p)
              wanted += factor[o * plane + p] * source[sample * 10 + offsets[tap] + p];
          CHECK(products[o * taps + tap] == wanted);
        }
    }
}

// Rows of any width: their neighbours stay as they are.
template <class Real>
void check_copies(const PlaneLoops<Real>& loops) {
  const std::vector<Real> from = whole_numbers<Real>(60, 1);
  for (int width = 1; width <= 20; ++width) {
    std::vector<Real> to(50, Real{100});
    loops.copy_rows({from.data(), 30, to.data() + 1, 25, width, 2});
    for (int i = 0; i < 50; ++i) {
      const int column = i % 25 - 1;
      const bool copied = column >= 0 && column < width;
      CHECK(to[i] == (copied ? from[i / 25 * 30 + column] : Real{100}));
    }
  }
}

// 2 channels of 3: -6 -1 4 | -4 1 6. Their mean is 0, their variance 106/6.
template <class Real>
void check_norm(const PlaneLoops<Real>& loops) {
  const std::vector<Real> in{-6, -1, 4, -4, 1, 6};
  const std::vector<Real> scale{2, -1};
  const std::vector<Real> shift{1, 3};
  std::vector<Real> out(6);
  const auto moments = loops.normalise({in.data(), scale.data(), shift.data(), 2, 3}, out.data());
  CHECK(moments.mean == 0);
  const double deviation = std::sqrt(106.0 / 6 + 1e-5);
  CHECK(moments.inverse == Approx(1 / deviation));
  for (int i = 0; i < 6; ++i)
    CHECK(out[i] == Approx(scale[i / 3] * in[i] / deviation + shift[i / 3]));
}

template <class Real>
void check_all(const PlaneLoops<Real>& loops) {
  check_sums(loops);
  check_copies(loops);
  check_norm(loops);
}

}  // namespace

TEST_CASE("loops over planes do what they say, with this processor's instructions and without",
          "[lab]") {
  check_all(plane_loops<float>());
  check_all(plane_loops<double>());
  check_all(plain_plane_loops<float>());
  check_all(plain_plane_loops<double>());
}
