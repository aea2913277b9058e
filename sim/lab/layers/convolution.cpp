#include <algorithm>

#include "sim/lab/layers/layers.hpp"
#include "sim/lab/plane_loops.hpp"

namespace gradcast::lab {
namespace {

/// Places that the gradient by a kernel adds up before the sums leave the registers.
constexpr int kPlacesTogether = 2048;

Shape convolved(Shape input, int outputs, Kernel kernel) {
  const auto along = [&](int length) {
    return (length + 2 * kernel.padding - kernel.size) / kernel.stride + 1;
  };
  return {outputs, along(input.height), along(input.width)};
}

/// Copies rows whose numbers lie at a distance of `from_step` and `to_step` from each other.
template <class Real>
void copy_plane(const Copying<Real>& rows, int from_step, int to_step) {
  if (from_step == 1 && to_step == 1) return plane_loops<Real>().copy_rows(rows);
  for (int row = 0; row < rows.rows; ++row) {
    const Real* from = rows.from + row * rows.from_row;
    Real* to = rows.to + row * rows.to_row;
    if (from_step == 2 && to_step == 1)
      for (int i = 0; i < rows.width; ++i) to[i] = from[2 * i];
    else
      for (int i = 0; i < rows.width; ++i) to[i * to_step] = from[i * from_step];
  }
}

}  // namespace

/// One sample in memory, as the loops over planes need it. A stride of s cuts the padded input into
/// phases: phase (a, b) has its rows a, a + s, ... and their columns b, b + s, ... Within a phase
/// each tap of the kernel lies at one distance from the output's place, if all planes have rows of
/// the same length.
template <class Real>
struct Convolution<Real>::Planes {
  /// Rows (or columns) of a phase that lie in the input, not in its padding.
  struct Range {
    int first, last;
    int count() const { return last - first + 1; }
  };
  /// The gradient by one phase of the input is a convolution of the output's gradient.
  struct Back {
    int a, b;
    Range rows, columns;
    std::vector<std::ptrdiff_t> offsets;
    std::vector<int> kernel_places;  // per tap: output, dy, dx within the parameters
  };

  Shape in;
  Shape out;
  Kernel kernel;
  int phases;  // along each side; a stride beyond the kernel leaves phases out
  int row;     // elements from a row to the next one
  int rows;    // of a phase that the kernel reaches
  std::ptrdiff_t in_plane;
  std::ptrdiff_t out_plane;
  std::ptrdiff_t above;  // zeros before an output plane
  int places;            // from an output's first to its last
  std::vector<std::ptrdiff_t> offsets;
  std::vector<Back> backs;

  // One sample or several, as the loops need them. The zeros around the rows are never written.
  std::vector<Real> padded_in;
  std::vector<Real> padded_out;
  std::vector<Real> sums;
  std::vector<Real> weights;

  Planes(Shape input, Shape output, Kernel used) : in(input), out(output), kernel(used) {
    const int s = kernel.stride;
    const int reach = (kernel.size - 1) / s;  // of the kernel within a phase
    phases = std::min(s, kernel.size);
    // With a stride of 1 the zeros behind a row are those before the next one.
    row = s == 1 ? std::max(in.width + kernel.padding, out.width)
                 : std::max(in_phase(in.width, 0).last + 1, out.width + reach);
    rows = out.height + reach;
    in_plane = row * (rows + 1) + kBehindPlanes;
    above = reach * row + reach;
    out_plane = above + row * std::max(out.height, in_phase(in.height, 0).last + 1) + kBehindPlanes;
    places = row * (out.height - 1) + out.width;
    for (int channel = 0; channel < in.channels; ++channel)
      for (int dy = 0; dy < kernel.size; ++dy)
        for (int dx = 0; dx < kernel.size; ++dx)
          offsets.push_back(phase(channel, dy % s, dx % s) + dy / s * row + dx / s);
    for (int a = 0; a < phases; ++a)
      for (int b = 0; b < phases; ++b) add_back(a, b);
    padded_in.resize(samples_together() * in_size());
    padded_out.resize(samples_together() * out_size());
    sums.resize(static_cast<std::size_t>(std::max(in.channels, out.channels) * out_plane));
    weights.resize(offsets.size() * static_cast<std::size_t>(out.channels));
  }

  std::size_t in_size() const {
    return static_cast<std::size_t>(in_plane * in.channels * phases * phases);
  }
  std::size_t out_size() const { return static_cast<std::size_t>(out_plane * out.channels); }
  std::size_t samples_together() const {
    return static_cast<std::size_t>(std::max(1, kPlacesTogether / places));
  }

  void write_in(const Real* from, Real* to) const {
    const int s = kernel.stride;
    for (int channel = 0; channel < in.channels; ++channel, from += in.height * in.width)
      for (int a = 0; a < phases; ++a)
        for (int b = 0; b < phases; ++b) {
          const Range lines = in_phase(in.height, a);
          const Range columns = in_phase(in.width, b);
          copy_plane<Real>({from + in_place(a, b, lines.first, columns.first), s * in.width,
                            to + phase(channel, a, b) + lines.first * row + columns.first, row,
                            columns.count(), std::min(lines.last, rows - 1) - lines.first + 1},
                           s, 1);
        }
  }
  void write_out(const Real* from, Real* to) const {
    for (int channel = 0; channel < out.channels; ++channel)
      copy_plane<Real>({from + channel * out.height * out.width, out.width,
                        to + channel * out_plane + above, row, out.width, out.height},
                       1, 1);
  }
  void read_out(Real* to) const {
    for (int channel = 0; channel < out.channels; ++channel)
      copy_plane<Real>({sums.data() + channel * out_plane, row,
                        to + channel * out.height * out.width, out.width, out.width, out.height},
                       1, 1);
  }

  void forward(const Real* from, const Real* bias, Real* to) {
    write_in(from, padded_in.data());
    plane_loops<Real>().convolve({padded_in.data(), offsets.data(),
                                  static_cast<int>(offsets.size()), weights.data(), bias,
                                  out.channels, places, sums.data(), out_plane});
    read_out(to);
  }

  /// The gradient by one sample, whose d_out lies padded at `d_out`.
  void back_to_in(const Real* d_out, Real* d_in) {
    const int s = kernel.stride;
    if (phases < s) std::fill_n(d_in, in.size(), Real{0});
    const Real* packed = weights.data();
    for (const Back& back : backs) {
      const int first = back.rows.first * row + back.columns.first;
      const auto taps = static_cast<int>(back.offsets.size());
      plane_loops<Real>().convolve(
          {d_out + first, back.offsets.data(), taps, packed, nullptr, in.channels,
           (back.rows.count() - 1) * row + back.columns.count(), sums.data(), out_plane});
      packed += taps * in.channels;
      for (int channel = 0; channel < in.channels; ++channel)
        copy_plane<Real>({sums.data() + channel * out_plane, row,
                          d_in + channel * in.height * in.width +
                              in_place(back.a, back.b, back.rows.first, back.columns.first),
                          s * in.width, back.columns.count(), back.rows.count()},
                         1, s);
    }
  }

  void pack_forward(const Real* parameters) {
    const auto taps = static_cast<int>(offsets.size());
    pack_weights(
        out.channels, taps, [&](int tap, int output) { return parameters[output * taps + tap]; },
        weights.data());
  }
  void pack_back(const Real* parameters) {
    Real* packed = weights.data();
    const int area = kernel.size * kernel.size;
    for (const Back& back : backs) {
      const auto taps = static_cast<int>(back.offsets.size());
      pack_weights(
          in.channels, taps,
          [&](int tap, int channel) {
            return parameters[back.kernel_places[static_cast<std::size_t>(tap)] + channel * area];
          },
          packed);
      packed += taps * in.channels;
    }
  }

 private:
  Range in_phase(int length, int phase) const {
    const int s = kernel.stride;
    return {std::max(0, kernel.padding - phase + s - 1) / s,
            (kernel.padding + length - 1 - phase) / s};
  }
  std::ptrdiff_t phase(int channel, int a, int b) const {
    return ((channel * phases + a) * phases + b) * in_plane;
  }
  /// Place within a plane of the input of row i, column j of a phase.
  int in_place(int a, int b, int i, int j) const {
    const int s = kernel.stride;
    return (i * s + a - kernel.padding) * in.width + j * s + b - kernel.padding;
  }
  void add_back(int a, int b) {
    const int s = kernel.stride;
    Back back{a, b, in_phase(in.height, a), in_phase(in.width, b), {}, {}};
    for (int output = 0; output < out.channels; ++output)
      for (int dy = a; dy < kernel.size; dy += s)
        for (int dx = b; dx < kernel.size; dx += s) {
          back.offsets.push_back(output * out_plane + above - dy / s * row - dx / s);
          back.kernel_places.push_back((output * in.channels * kernel.size + dy) * kernel.size +
                                       dx);
        }
    backs.push_back(std::move(back));
  }
};

template <class Real>
Convolution<Real>::Convolution(Shape input, int outputs, Kernel kernel)
    : Layer<Real>(input, convolved(input, outputs, kernel)),
      kernel_(kernel),
      patch_(input.channels * kernel.size * kernel.size),
      planes_(std::make_unique<Planes>(input, this->output(), kernel)) {}

template <class Real>
Convolution<Real>::~Convolution() = default;

template <class Real>
std::vector<ParameterTensor> Convolution<Real>::parameters() const {
  const auto patch = static_cast<std::size_t>(patch_);
  const auto outputs = static_cast<std::size_t>(this->output().channels);
  std::vector<ParameterTensor> tensors{
      {"weight", outputs * patch, ParameterKind::Weight, patch, patch}};
  if (kernel_.bias) tensors.push_back({"bias", outputs, ParameterKind::Bias, patch});
  return tensors;
}

template <class Real>
void Convolution<Real>::forward(const Real* parameters, const Real* in, int samples, Real* out) {
  const Real* bias = parameters + static_cast<std::ptrdiff_t>(this->output().channels) * patch_;
  planes_->pack_forward(parameters);
  for (int sample = 0; sample < samples; ++sample) {
    planes_->forward(in, kernel_.bias ? bias : nullptr, out);
    in += this->input().size();
    out += this->output().size();
  }
}

template <class Real>
void Convolution<Real>::backward(const Real* parameters, const Real* in, const Real*,
                                 const Real* d_out, int samples, Real* d_in, Real* d_parameters) {
  const int outputs = this->output().channels;
  const int plane = this->output().height * this->output().width;
  Real* d_bias = d_parameters + static_cast<std::ptrdiff_t>(outputs) * patch_;
  std::fill(d_parameters, d_bias + (kernel_.bias ? outputs : 0), Real{0});
  Planes& planes = *planes_;
  if (d_in != nullptr) planes.pack_back(parameters);
  const auto together = static_cast<int>(planes.samples_together());
  for (int first = 0; first < samples; first += together) {
    const int count = std::min(together, samples - first);
    for (int i = 0; i < count; ++i) {
      Real* padded = planes.padded_out.data() + static_cast<std::size_t>(i) * planes.out_size();
      planes.write_in(in, planes.padded_in.data() + static_cast<std::size_t>(i) * planes.in_size());
      planes.write_out(d_out, padded);
      if (kernel_.bias)
        for (int channel = 0; channel < outputs; ++channel)
          for (int n = 0; n < plane; ++n) d_bias[channel] += d_out[channel * plane + n];
      if (d_in != nullptr) {
        planes.back_to_in(padded, d_in);
        d_in += this->input().size();
      }
      in += this->input().size();
      d_out += this->output().size();
    }
    plane_loops<Real>().correlate(
        {planes.padded_in.data(), static_cast<std::ptrdiff_t>(planes.in_size()),
         planes.offsets.data(), patch_, planes.padded_out.data() + planes.above,
         static_cast<std::ptrdiff_t>(planes.out_size()), planes.out_plane, outputs, planes.places,
         count, d_parameters});
  }
}

template class Convolution<float>;
template class Convolution<double>;

}  // namespace gradcast::lab
