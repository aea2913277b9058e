// The loops of plane_loops.hpp, for the one set of instructions that the including file is compiled
// for: GRADCAST_INSTRUCTIONS names it. Only what every compiler for it inlines is called from here,
// so that no function compiled for newer processors is linked into the rest.
#pragma once
#include <cstring>

#include "sim/lab/plane_loops.hpp"

namespace gradcast::lab::GRADCAST_INSTRUCTIONS {

#ifdef __AVX2__
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class Real>
struct VectorOf {
  typedef Real type __attribute__((vector_size(kVectorBytes)));
};
template <class Real>
using Vector = typename VectorOf<Real>::type;

template <class Real>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(Real));

template <class Real>
inline Vector<Real> load(const Real* from) {
  Vector<Real> vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class Real>
inline void store(Real* to, Vector<Real> vector) {
  std::memcpy(to, &vector, sizeof vector);
}

/// `value` in each lane. Less 0 it is the same number; plus 0 a negative zero would not be.
template <class Real>
inline Vector<Real> in_each_lane(Real value) {
  return value - Vector<Real>{};
}

template <class Real>
inline Real sum_of_lanes(Vector<Real> vector) {
  Real lanes[kLanes<Real>];
  std::memcpy(lanes, &vector, sizeof vector);
#pragma GCC unroll 8
  for (int half = kLanes<Real> / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return lanes[0];
}

/// kOutputs x kVectors sums stay in registers.
template <class Real, int kOutputs, int kVectors>
void convolve_tile(const Convolving<Real>& asked, int output, int place) {
  Vector<Real> sums[kOutputs][kVectors];
  for (int o = 0; o < kOutputs; ++o)
    for (int v = 0; v < kVectors; ++v)
      sums[o][v] = in_each_lane(asked.bias == nullptr ? Real{0} : asked.bias[output + o]);
  const Real* weights = asked.weights + static_cast<std::ptrdiff_t>(output) * asked.taps;
  const Real* source = asked.source + place;
  for (int tap = 0; tap < asked.taps; ++tap, weights += kOutputs) {
    const Real* from = source + asked.offsets[tap];
    Vector<Real> in[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) in[v] = load(from + v * kLanes<Real>);
#pragma GCC unroll 4
    for (int o = 0; o < kOutputs; ++o) {
      const Vector<Real> weight = in_each_lane(weights[o]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[o][v] += weight * in[v];
    }
  }
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      store(asked.sums + (output + o) * asked.plane + place + v * kLanes<Real>, sums[o][v]);
}

template <class Real, int kOutputs>
void convolve_outputs(const Convolving<Real>& asked, int output) {
  const int vectors = (asked.places + kLanes<Real> - 1) / kLanes<Real>;
  int vector = 0;
  // Four are two and two: a tile of one leaves the processor waiting for its sums.
  for (; vectors - vector == 3 || vectors - vector > 4; vector += 3)
    convolve_tile<Real, kOutputs, 3>(asked, output, vector * kLanes<Real>);
  for (; vectors - vector > 1; vector += 2)
    convolve_tile<Real, kOutputs, 2>(asked, output, vector * kLanes<Real>);
  if (vector < vectors) convolve_tile<Real, kOutputs, 1>(asked, output, vector * kLanes<Real>);
}

/// Calls part.operator()<n>(output) for each n outputs that are worked on together.
template <class Part>
inline void by_parts(int outputs, Part part) {
  for (int output = 0; output < outputs;) {
    const int together = outputs_together(outputs, output);
    if (together == 1) part.template operator()<1>(output);
    if (together == 2) part.template operator()<2>(output);
    if (together == 3) part.template operator()<3>(output);
    if (together == 4) part.template operator()<4>(output);
    output += together;
  }
}

template <class Real>
void convolve(const Convolving<Real>& asked) {
  by_parts(asked.outputs,
           [&]<int kOutputs>(int output) { convolve_outputs<Real, kOutputs>(asked, output); });
}

template <class Real, int kOutputs, int kTaps>
void correlate_tile(const Correlating<Real>& asked, int output, int tap) {
  Vector<Real> sums[kOutputs][kTaps] = {};
  for (int sample = 0; sample < asked.samples; ++sample) {
    const Real* factors[kOutputs];
    for (int o = 0; o < kOutputs; ++o)
      factors[o] = asked.factor + sample * asked.factor_sample + (output + o) * asked.factor_plane;
    const Real* sources[kTaps];
    for (int t = 0; t < kTaps; ++t)
      sources[t] = asked.source + sample * asked.source_sample + asked.offsets[tap + t];
    for (int place = 0; place < asked.places; place += kLanes<Real>) {
      Vector<Real> in[kTaps];
#pragma GCC unroll 4
      for (int t = 0; t < kTaps; ++t) in[t] = load(sources[t] + place);
#pragma GCC unroll 4
      for (int o = 0; o < kOutputs; ++o) {
        const Vector<Real> factor = load(factors[o] + place);
#pragma GCC unroll 4
        for (int t = 0; t < kTaps; ++t) sums[o][t] += factor * in[t];
      }
    }
  }
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o)
#pragma GCC unroll 4
    for (int t = 0; t < kTaps; ++t)
      asked.sums[(output + o) * asked.taps + tap + t] += sum_of_lanes<Real>(sums[o][t]);
}

template <class Real, int kOutputs>
void correlate_outputs(const Correlating<Real>& asked, int output) {
  int tap = 0;
  for (; tap + 3 <= asked.taps; tap += 3) correlate_tile<Real, kOutputs, 3>(asked, output, tap);
  if (asked.taps - tap == 2) correlate_tile<Real, kOutputs, 2>(asked, output, tap);
  if (asked.taps - tap == 1) correlate_tile<Real, kOutputs, 1>(asked, output, tap);
}

template <class Real>
void correlate(const Correlating<Real>& asked) {
  by_parts(asked.outputs,
           [&]<int kOutputs>(int output) { correlate_outputs<Real, kOutputs>(asked, output); });
}

inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }

/// Copies a row of at least one `Piece` piece by piece; the last two may overlap.
template <class Piece, class Real>
inline void copy_row(const Real* from, Real* to, int width) {
  constexpr int kNumbers = static_cast<int>(sizeof(Piece) / sizeof(Real));
  const auto copy = [&](int at) {
    Piece piece;
    std::memcpy(&piece, from + at, sizeof piece);
    std::memcpy(to + at, &piece, sizeof piece);
  };
  for (int at = 0; at + kNumbers < width; at += kNumbers) copy(at);
  copy(width - kNumbers);
}

template <class Real>
void copy_rows(const Copying<Real>& asked) {
  typedef Real Half __attribute__((vector_size(kVectorBytes / 2)));
  const Real* from = asked.from;
  Real* to = asked.to;
  const int width = asked.width;
  for (int row = 0; row < asked.rows; ++row, from += asked.from_row, to += asked.to_row)
    if (width >= kLanes<Real>)
      copy_row<Vector<Real>>(from, to, width);
    else if (width >= kLanes<Real> / 2)
      copy_row<Half>(from, to, width);
    else
      copy_row<Real>(from, to, width);
}

/// The sum over i < `count`: of whole vectors, given their first i, and of the rest one by one.
template <class Real, class VectorTerm, class Term>
inline Real sum_over(int count, VectorTerm vector_term, Term term) {
  constexpr int kTogether = 4;  // so that no sum waits for the one before it
  Vector<Real> sums[kTogether] = {};
  int i = 0;
  for (; i + kTogether * kLanes<Real> <= count; i += kTogether * kLanes<Real>)
#pragma GCC unroll 4
    for (int n = 0; n < kTogether; ++n) sums[n] += vector_term(i + n * kLanes<Real>);
  for (; i + kLanes<Real> <= count; i += kLanes<Real>) sums[0] += vector_term(i);
  Real sum = sum_of_lanes<Real>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; i < count; ++i) sum += term(i);
  return sum;
}

template <class Real>
Moments<Real> normalise(const Normalising<Real>& asked, Real* out) {
  constexpr Real kEpsilon = static_cast<Real>(1e-5);  // added to the variance, as in PyTorch
  const Real* in = asked.in;
  const int size = asked.channels * asked.plane;
  const Real sum = sum_over<Real>(
      size, [&](int i) { return load(in + i); }, [&](int i) { return in[i]; });
  const Real mean = sum / static_cast<Real>(size);
  const auto squared = [](auto x) { return x * x; };
  const Real squares = sum_over<Real>(
      size, [&](int i) { return squared(load(in + i) - mean); },
      [&](int i) { return squared(in[i] - mean); });
  const Real inverse = 1 / root(squares / static_cast<Real>(size) + kEpsilon);
  for (int channel = 0; channel < asked.channels; ++channel) {
    const Real factor = asked.scale[channel] * inverse;
    const Real shift = asked.shift[channel];
    for (int i = 0; i < asked.plane; ++i) *out++ = (*in++ - mean) * factor + shift;
  }
  return {mean, inverse};
}

// With x the normalised input and s = scale x d_out:
// d_in = inverse (s - mean of s - x mean of (s x)).
template <class Real>
void normalise_back(const Normalising<Real>& asked, Moments<Real> moments, const Real* d_out,
                    Real* d_in, Real* d_scale, Real* d_shift) {
  const Real mean = moments.mean;
  const Real inverse = moments.inverse;
  Real sum = 0;
  Real sum_with_x = 0;
  for (int channel = 0; channel < asked.channels; ++channel) {
    const Real* in = asked.in + channel * asked.plane;
    const Real* d = d_out + channel * asked.plane;
    const Real alone = sum_over<Real>(
        asked.plane, [&](int i) { return load(d + i); }, [&](int i) { return d[i]; });
    const Real with_x =
        inverse * sum_over<Real>(
                      asked.plane, [&](int i) { return load(d + i) * (load(in + i) - mean); },
                      [&](int i) { return d[i] * (in[i] - mean); });
    d_shift[channel] += alone;
    d_scale[channel] += with_x;
    sum += asked.scale[channel] * alone;
    sum_with_x += asked.scale[channel] * with_x;
  }
  if (d_in == nullptr) return;
  const auto size = static_cast<Real>(asked.channels * asked.plane);
  const Real by_in = inverse * inverse * sum_with_x / size;
  const Real constant = inverse * sum / size;
  const Real* in = asked.in;
  for (int channel = 0; channel < asked.channels; ++channel) {
    const Real by_d = inverse * asked.scale[channel];
    for (int i = 0; i < asked.plane; ++i)
      *d_in++ = by_d * *d_out++ - (by_in * (*in++ - mean) + constant);
  }
}

template <class Real>
const PlaneLoops<Real>& loops() {
  static constexpr PlaneLoops<Real> kLoops{convolve<Real>, correlate<Real>, copy_rows<Real>,
                                           normalise<Real>, normalise_back<Real>};
  return kLoops;
}

template const PlaneLoops<float>& loops();
template const PlaneLoops<double>& loops();

}  // namespace gradcast::lab::GRADCAST_INSTRUCTIONS
