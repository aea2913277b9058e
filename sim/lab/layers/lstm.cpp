#include <algorithm>
#include <cmath>

#include "sim/lab/layers/layers.hpp"
#include "sim/lab/matrix_product.hpp"

namespace gradcast::lab {
namespace {

constexpr int kGates = 4;

template <class Real>
Real logistic(Real x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace

template <class Real>
Lstm<Real>::Lstm(Shape input, int units)
    : Layer<Real>(input, {input.channels, 1, units}),
      positions_(input.channels),
      inputs_(input.height * input.width),
      units_(units) {}

template <class Real>
std::vector<ParameterTensor> Lstm<Real>::parameters() const {
  const auto inputs = static_cast<std::size_t>(inputs_);
  const auto units = static_cast<std::size_t>(units_);
  return {{"input_weight", kGates * units * inputs, ParameterKind::GateWeight, units, inputs},
          {"hidden_weight", kGates * units * units, ParameterKind::GateWeight, units, units},
          {"bias", kGates * units, ParameterKind::Bias, units}};
}

template <class Real>
void Lstm<Real>::gather(const std::vector<Real>& from, int position, int samples, int width,
                        std::vector<Real>& to) const {
  to.resize(static_cast<std::size_t>(samples) * static_cast<std::size_t>(width));
  for (int sample = 0; sample < samples; ++sample)
    std::copy_n(from.data() + place(sample, position) * width, width,
                to.data() + static_cast<std::ptrdiff_t>(sample) * width);
}

template <class Real>
void Lstm<Real>::forward(const Real* parameters, const Real* in, int samples, Real* out) {
  const int width = kGates * units_;
  const Real* hidden_weight = parameters + static_cast<std::ptrdiff_t>(width) * inputs_;
  const Real* bias = hidden_weight + static_cast<std::ptrdiff_t>(width) * units_;
  const int rows = samples * positions_;
  gates_.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(width));
  cells_.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(units_));
  for (int row = 0; row < rows; ++row)
    std::copy_n(bias, width, gates_.data() + static_cast<std::ptrdiff_t>(row) * width);
  multiply(rows, width, inputs_, {in}, {parameters, true}, gates_.data(), true);
  hidden_.resize(static_cast<std::size_t>(samples) * static_cast<std::size_t>(units_));
  products_.resize(static_cast<std::size_t>(samples) * static_cast<std::size_t>(width));
  for (int position = 0; position < positions_; ++position) {
    if (position > 0) {
      for (int sample = 0; sample < samples; ++sample)
        std::copy_n(out + place(sample, position - 1) * units_, units_,
                    hidden_.data() + static_cast<std::ptrdiff_t>(sample) * units_);
      multiply(samples, width, units_, {hidden_.data()}, {hidden_weight, true}, products_.data());
    }
    for (int sample = 0; sample < samples; ++sample) {
      Real* gate = gates_.data() + place(sample, position) * width;
      Real* cell = cells_.data() + place(sample, position) * units_;
      Real* h = out + place(sample, position) * units_;
      if (position > 0) {
        const Real* product = products_.data() + static_cast<std::ptrdiff_t>(sample) * width;
        for (int n = 0; n < width; ++n) gate[n] += product[n];
      }
      for (int n = 0; n < units_; ++n) {
        Real& i = gate[n];
        Real& f = gate[units_ + n];
        Real& g = gate[2 * units_ + n];
        Real& o = gate[3 * units_ + n];
        i = logistic(i);
        f = logistic(f + 1);
        g = std::tanh(g);
        o = logistic(o);
        const Real before = position > 0 ? cell[n - units_] : Real{0};
        cell[n] = f * before + i * g;
        h[n] = o * std::tanh(cell[n]);
      }
    }
  }
}

template <class Real>
void Lstm<Real>::backward(const Real* parameters, const Real* in, const Real* out,
                          const Real* d_out, int samples, Real* d_in, Real* d_parameters) {
  const int width = kGates * units_;
  const Real* hidden_weight = parameters + static_cast<std::ptrdiff_t>(width) * inputs_;
  const int rows = samples * positions_;
  const auto states = static_cast<std::size_t>(samples) * static_cast<std::size_t>(units_);
  std::vector<Real> d_hidden(states);  // from the position behind
  std::vector<Real> d_cells(states);
  std::vector<Real> d_gates;
  Real* d_hidden_weight = d_parameters + static_cast<std::ptrdiff_t>(width) * inputs_;
  std::fill_n(d_hidden_weight, static_cast<std::ptrdiff_t>(width) * units_, Real{0});
  for (int position = positions_; position-- > 0;) {
    for (int sample = 0; sample < samples; ++sample) {
      Real* gate = gates_.data() + place(sample, position) * width;
      const Real* cell = cells_.data() + place(sample, position) * units_;
      const Real* d_h = d_out + place(sample, position) * units_;
      for (int n = 0; n < units_; ++n) {
        const Real i = gate[n];
        const Real f = gate[units_ + n];
        const Real g = gate[2 * units_ + n];
        const Real o = gate[3 * units_ + n];
        const auto state = static_cast<std::size_t>(sample * units_ + n);
        const Real d = d_h[n] + d_hidden[state];
        const Real squashed = std::tanh(cell[n]);
        const Real d_cell = d_cells[state] + d * o * (1 - squashed * squashed);
        const Real before = position > 0 ? cell[n - units_] : Real{0};
        gate[n] = d_cell * g * i * (1 - i);
        gate[units_ + n] = d_cell * before * f * (1 - f);
        gate[2 * units_ + n] = d_cell * i * (1 - g * g);
        gate[3 * units_ + n] = d * squashed * o * (1 - o);
        d_cells[state] = d_cell * f;
      }
    }
    if (position == 0) break;
    gather(gates_, position, samples, width, d_gates);
    multiply(samples, units_, width, {d_gates.data()}, {hidden_weight}, d_hidden.data());
    for (int sample = 0; sample < samples; ++sample)
      std::copy_n(out + place(sample, position - 1) * units_, units_,
                  hidden_.data() + static_cast<std::ptrdiff_t>(sample) * units_);
    multiply(width, units_, samples, {d_gates.data(), true}, {hidden_.data()}, d_hidden_weight,
             true);
  }
  multiply(width, inputs_, rows, {gates_.data(), true}, {in}, d_parameters);
  Real* d_bias = d_hidden_weight + static_cast<std::ptrdiff_t>(width) * units_;
  std::fill_n(d_bias, width, Real{0});
  for (int row = 0; row < rows; ++row)
    for (int n = 0; n < width; ++n)
      d_bias[n] += gates_[static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
                          static_cast<std::size_t>(n)];
  if (d_in != nullptr) multiply(rows, inputs_, width, {gates_.data()}, {parameters}, d_in);
}

template class Lstm<float>;
template class Lstm<double>;

}  // namespace gradcast::lab
