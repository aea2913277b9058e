// Decides when a measurement has enough samples, and summarizes them. It does not depend on a
// device. Both C++ and CUDA read this file: C++17.
#pragma once
#include <functional>
#include <vector>

#include "kernels/bench/bench.hpp"

namespace gradcast {

/// Prepares and takes one sample: returns the seconds of the timed call. The value is negative for
/// a sample that must not count (the clock was throttled).
using TakeSample = std::function<double()>;

/// A clock in seconds.
using BenchClock = std::function<double()>;
double steady_seconds();

/// One call that is not counted, then samples until one of these holds:
///  - `most_samples` were taken;
///  - `least_samples` were taken, and the time is up or the median is known to 0.5 %;
///  - twice the time is up, and 3 were taken: what is too slow for `least_samples` gets by with
///    fewer.
/// The time includes preparation, because the user waits for that too. If every sample had to be
/// discarded until four times the time was up, the discarded ones are the answer, and `discarded`
/// says so. Throws BenchInterrupted.
BenchTiming take_samples(const TakeSample& sample, const BenchLimits& limits,
                         const BenchClock& clock = steady_seconds);

/// The summary of at least one value, in rising order. The median of an even number of values is
/// half-way between the middle two. The 95th percentile is the least value that 95 % do not exceed.
double median_of(const std::vector<double>& rising);
double p95_of(const std::vector<double>& rising);

/// Half the width of the median's 95 % confidence interval, as a share of the median. The interval
/// lies between the order statistics 0.98 sqrt(n) ranks below and above the middle (the binomial's
/// normal approximation); this holds for any distribution. Infinite for fewer than 6 values,
/// because no two of them make such an interval.
double median_uncertainty(const std::vector<double>& rising);

}  // namespace gradcast
