#include "kernels/bench/sampling.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>

namespace gradcast {
namespace {

constexpr double kGoodEnough = 0.005;
constexpr std::int64_t kFewest = 3;
constexpr double kFewerAfter = 2;   // times the limit: `least_samples` no longer matters
constexpr double kGiveUpAfter = 4;  // times the limit: nor does it that samples were discarded

class Sampling {
 public:
  Sampling(const BenchLimits& limits, const BenchClock& clock)
      : limits_(limits), clock_(clock), begin_(clock()) {}

  void stop_if_asked() const {
    if (limits_.interrupted && limits_.interrupted()) throw BenchInterrupted{};
  }

  void add(double seconds) {
    std::vector<double>& kind = seconds < 0 ? discarded_ : kept_;
    seconds = std::abs(seconds);
    kind.insert(std::upper_bound(kind.begin(), kind.end(), seconds), seconds);
  }

  bool enough() const {
    const double used = clock_() - begin_;
    const auto taken = static_cast<std::int64_t>(kept_.size());
    if (taken >= limits_.most_samples) return true;
    if (taken >= limits_.least_samples &&
        (used >= limits_.seconds || median_uncertainty(kept_) < kGoodEnough))
      return true;
    if (taken >= kFewest && used >= kFewerAfter * limits_.seconds) return true;
    return taken + static_cast<std::int64_t>(discarded_.size()) >= kFewest &&
           used >= kGiveUpAfter * limits_.seconds;
  }

  BenchTiming timing() const {
    const std::vector<double>& counted = kept_.empty() ? discarded_ : kept_;
    return {median_of(counted), p95_of(counted), static_cast<std::int64_t>(counted.size()),
            static_cast<std::int64_t>(discarded_.size())};
  }

 private:
  const BenchLimits& limits_;
  const BenchClock& clock_;
  double begin_;
  std::vector<double> kept_;  // rising, as the discarded
  std::vector<double> discarded_;
};

}  // namespace

double steady_seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

BenchTiming take_samples(const TakeSample& sample, const BenchLimits& limits,
                         const BenchClock& clock) {
  Sampling sampling(limits, clock);
  sampling.stop_if_asked();
  sample();
  do {
    sampling.stop_if_asked();
    sampling.add(sample());
  } while (!sampling.enough());
  return sampling.timing();
}

double median_of(const std::vector<double>& rising) {
  const std::size_t half = rising.size() / 2;
  return rising.size() % 2 == 1 ? rising[half] : (rising[half - 1] + rising[half]) / 2;
}

double p95_of(const std::vector<double>& rising) {
  // In whole numbers: 0.95 x 20 is not 19 in doubles.
  return rising[(rising.size() * 95 + 99) / 100 - 1];
}

double median_uncertainty(const std::vector<double>& rising) {
  const auto n = static_cast<double>(rising.size());
  if (n < 6) return std::numeric_limits<double>::infinity();
  const double ranks = 0.98 * std::sqrt(n);
  const double low = std::max(1.0, std::floor(n / 2 - ranks));
  const double high = std::min(n, std::ceil(n / 2 + 1 + ranks));
  const double width =
      rising[static_cast<std::size_t>(high) - 1] - rising[static_cast<std::size_t>(low) - 1];
  return width > 0 ? width / 2 / median_of(rising) : 0;
}

}  // namespace gradcast
