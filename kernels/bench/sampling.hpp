// When a measurement has enough samples, and what they say. Knows no device. Read by C++ and CUDA:
// C++17.
#pragma once
#include <functional>
#include <vector>

#include "kernels/bench/bench.hpp"

namespace gradcast {

/// Prepares and takes one sample: the seconds of what is timed. A sample that must not count (the
/// clock was throttled) is returned negative.
using TakeSample = std::function<double()>;

/// A clock in seconds.
using BenchClock = std::function<double()>;
double steady_seconds();

/// One call that is not counted, then samples until one of these holds:
///  - `most_samples` were taken;
///  - `least_samples` were taken, and the time is up or the median is known to 0.5 %;
///  - twice the time is up, and 3 were taken: what is too slow for `least_samples` gets by with
///    fewer.
/// The time is all that passes, preparation included, for it is the user who waits. Where every
/// sample had to be discarded until four times the time was up, the discarded ones are the answer;
/// `discarded` says so. Throws BenchInterrupted.
BenchTiming take_samples(const TakeSample& sample, const BenchLimits& limits,
                         const BenchClock& clock = steady_seconds);

/// Of at least one value, rising. The median of an even number is half-way between the middle two;
/// the 95th percentile is the least value that 95 % do not exceed.
double median_of(const std::vector<double>& rising);
double p95_of(const std::vector<double>& rising);

/// Half the width of the median's 95 % confidence interval, as a share of the median: between the
/// order statistics 0.98 sqrt(n) ranks below and above the middle (the binomial's normal
/// approximation), whatever the distribution. Infinite below 6 values, where no two of them make
/// such an interval.
double median_uncertainty(const std::vector<double>& rising);

}  // namespace gradcast
