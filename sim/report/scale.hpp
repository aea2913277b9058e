// The place of a number on an axis, and the ticks of the axis.
#pragma once
#include <string>
#include <vector>

#include "sim/report/figure.hpp"

namespace gradcast {

struct Tick {
  double value;
  std::string text;
};

/// Maps [low, high] of the data to [from, to] of the paper.
struct Scale {
  AxisScale kind = AxisScale::Linear;
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;

  double at(double value) const;
  /// Whether the axis can show the number; a logarithmic one needs numbers above 0.
  bool shows(double value) const;
};

/// The range of the data, widened to whole ticks (linear) or by a little (logarithmic). Without
/// data it is 0 to 1, or 1 to 2.
Scale scale_around(AxisScale kind, double low, double high);

/// The ticks, about `most` at most: 1, 2 or 5 times a power of ten, or powers of two.
std::vector<Tick> ticks_of(const Scale& scale, int most);

/// "25.6M", "0.002": at most four digits, and letters for thousands.
std::string tick_text(double value);

}  // namespace gradcast
