// Loops over planes of numbers that take most of a convolutional network's training: written for
// vectors of numbers, and compiled for the instructions of two kinds of processors.
#pragma once
#include <cstddef>

namespace gradcast::lab {

/// Planes lie in memory row by row, with zeros between the rows. So a neighbour of every place of a
/// plane lies at the same distance from it, and a loop need not know where rows end. Behind each
/// plane that is read lie this many numbers more, whose values do not matter.
inline constexpr std::ptrdiff_t kBehindPlanes = 16;

/// sums[output][place] = bias[output] + sum over taps of weight[tap][output] x
/// source[offsets[tap] + place].
template <class Real>
struct Convolving {
  const Real* source;
  const std::ptrdiff_t* offsets;  // one per tap
  int taps;
  const Real* weights;  // as pack_weights leaves them
  const Real* bias;     // null: 0
  int outputs;
  int places;
  Real* sums;            // kBehindPlanes behind each plane are overwritten
  std::ptrdiff_t plane;  // distance between two outputs' planes in `sums`
};

/// sums[output x taps + tap] += sum over samples and places of
/// factor[output][place] x source[offsets[tap] + place].
template <class Real>
struct Correlating {
  const Real* source;
  std::ptrdiff_t source_sample;  // distance between two samples
  const std::ptrdiff_t* offsets;
  int taps;
  const Real* factor;  // 0 between and behind the rows
  std::ptrdiff_t factor_sample;
  std::ptrdiff_t factor_plane;
  int outputs;
  int places;
  int samples;
  Real* sums;
};

/// Rows of `width` numbers, each at a distance from the one before it.
template <class Real>
struct Copying {
  const Real* from;
  std::ptrdiff_t from_row;
  Real* to;
  std::ptrdiff_t to_row;
  int width;
  int rows;
};

/// A group of channels of one sample, one after another: out = (in - mean) x inverse x scale +
/// shift, where the group's (in - mean) x inverse has mean 0 and variance 1.
template <class Real>
struct Normalising {
  const Real* in;
  const Real* scale;  // one per channel
  const Real* shift;
  int channels;
  int plane;
};

template <class Real>
struct Moments {
  Real mean;
  Real inverse;  // 1 / standard deviation
};

template <class Real>
struct PlaneLoops {
  void (*convolve)(const Convolving<Real>&);
  void (*correlate)(const Correlating<Real>&);
  void (*copy_rows)(const Copying<Real>&);
  Moments<Real> (*normalise)(const Normalising<Real>&, Real* out);
  /// Adds the gradients by scale and shift to theirs. `d_in` may be null.
  void (*normalise_back)(const Normalising<Real>&, Moments<Real>, const Real* d_out, Real* d_in,
                         Real* d_scale, Real* d_shift);
};

/// The loops for this processor. One thread runs each; for the same sizes and instructions
/// (product_instructions) the bits are the same. Real: float or double.
template <class Real>
const PlaneLoops<Real>& plane_loops();

/// The loops for any processor of this kind.
template <class Real>
const PlaneLoops<Real>& plain_plane_loops();

/// Number of outputs that `convolve` works on together from output `first` on: at most 4, and parts
/// as even as can be. Inlined always: whoever calls it is compiled for instructions of its own.
[[gnu::always_inline]] inline int outputs_together(int outputs, int first) {
  const int left = outputs - first;
  const int parts = (left + 3) / 4;
  return (left + parts - 1) / parts;
}

/// Writes weight(tap, output) in the order in which `convolve` reads it.
template <class Real, class Weight>
void pack_weights(int outputs, int taps, Weight weight, Real* packed) {
  for (int first = 0; first < outputs;) {
    const int together = outputs_together(outputs, first);
    for (int tap = 0; tap < taps; ++tap)
      for (int i = 0; i < together; ++i) *packed++ = weight(tap, first + i);
    first += together;
  }
}

}  // namespace gradcast::lab
