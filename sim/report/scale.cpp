#include "sim/report/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "sim/base/units.hpp"

namespace gradcast {
namespace {

bool is_binary(AxisScale kind) { return kind == AxisScale::Log2 || kind == AxisScale::Bytes; }

bool is_logarithmic(AxisScale kind) { return is_binary(kind) || kind == AxisScale::Log10; }

/// The least of 1, 2, 5 times a power of ten that is not below `step`.
double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

double linear_step(const Scale& scale, int most) {
  return round_step((scale.high - scale.low) / std::max(1, most));
}

std::vector<Tick> linear_ticks(const Scale& scale, int most) {
  std::vector<Tick> ticks;
  const double step = linear_step(scale, most);
  const double first = std::ceil(scale.low / step - 1e-6);
  for (int i = 0; i <= 100; ++i) {
    const double value = (first + i) * step;
    if (value > scale.high + 1e-6 * step) break;
    ticks.push_back({value, tick_text(value)});
  }
  return ticks;
}

/// Keeps every n-th tick, so that at most `most` are left.
std::vector<Tick> thinned(const std::vector<double>& values, int most, bool bytes = false) {
  const std::size_t every =
      std::max<std::size_t>(1, (values.size() + static_cast<std::size_t>(most) - 1) /
                                   static_cast<std::size_t>(std::max(1, most)));
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < values.size(); i += every)
    ticks.push_back({values[i], bytes ? to_text(Bytes{static_cast<std::int64_t>(values[i])})
                                      : tick_text(values[i])});
  return ticks;
}

std::vector<Tick> log2_ticks(const Scale& scale, int most) {
  std::vector<double> values;
  for (double power = std::ceil(std::log2(scale.low) - 1e-9); power <= std::log2(scale.high) + 1e-9;
       ++power)
    values.push_back(std::exp2(power));
  return thinned(values, most, scale.kind == AxisScale::Bytes);
}

std::vector<Tick> log10_ticks(const Scale& scale, int most) {
  for (const std::vector<double>& factors :
       {std::vector<double>{1, 2, 5}, std::vector<double>{1, 3}, std::vector<double>{1}}) {
    std::vector<double> values;
    for (double power = std::floor(std::log10(scale.low)); power <= std::log10(scale.high) + 1e-9;
         ++power)
      for (const double factor : factors)
        if (const double value = factor * std::pow(10.0, power);
            value >= scale.low * (1 - 1e-9) && value <= scale.high * (1 + 1e-9))
          values.push_back(value);
    if (static_cast<int>(values.size()) <= most || factors.size() == 1)
      return thinned(values, most);
  }
  return {};
}

}  // namespace

double Scale::at(double value) const {
  const auto along = [&](double v) {
    if (is_logarithmic(kind)) return std::log(v);
    return v;
  };
  return from + (to - from) * (along(value) - along(low)) / (along(high) - along(low));
}

bool Scale::shows(double value) const {
  const bool logarithmic = is_logarithmic(kind);
  return std::isfinite(value) && (!logarithmic || value > 0);
}

Scale scale_around(AxisScale kind, double low, double high) {
  Scale scale;
  scale.kind = kind;
  const bool empty = !std::isfinite(low) || !std::isfinite(high) || low > high;
  if (is_logarithmic(kind)) {
    if (empty || low <= 0) low = 1, high = 2;
    const double margin = low == high ? (is_binary(kind) ? 2.0 : 1.5) : std::pow(high / low, 0.04);
    scale.low = low / margin;
    scale.high = high * margin;
    return scale;
  }
  if (empty) low = 0, high = 1;
  if (low == high) (high > 0 ? low : high) = 0;  // a single number: begin at 0
  if (low == high) high = 1;
  scale.low = low;
  scale.high = high;
  const double step = linear_step(scale, 5);
  scale.low = std::floor(low / step + 1e-6) * step;
  scale.high = std::ceil(high / step - 1e-6) * step;
  return scale;
}

std::vector<Tick> ticks_of(const Scale& scale, int most) {
  if (is_binary(scale.kind)) return log2_ticks(scale, most);
  if (scale.kind == AxisScale::Log10) return log10_ticks(scale, most);
  return linear_ticks(scale, most);
}

std::string tick_text(double value) {
  constexpr std::array<std::pair<double, const char*>, 4> kLetters = {
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}}};
  for (const auto& [from, letter] : kLetters)
    if (std::abs(value) >= from && std::abs(value) < 1e15)
      return number_to_text(rounded_to(4, value / (from == 1e4 ? 1e3 : from))) + letter;
  return number_to_text(rounded_to(4, value) + 0.0);
}

}  // namespace gradcast
