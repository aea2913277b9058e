#include "kernels/bench/sampling.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace gradcast;

namespace {

/// Samples by a clock that only they move: sample i (0 is the warm-up) has `seconds(i)` and takes
/// `passes` altogether.
struct Fake {
  std::function<double(int)> seconds;
  double passes = 0;
  double now = 100;
  int calls = 0;

  BenchTiming timing(const BenchLimits& limits) {
    return take_samples(
        [this] {
          now += passes;
          return seconds(calls++);
        },
        limits, [this] { return now; });
  }
};

double steady(int /*sample*/) { return 0.001; }
double wild(int sample) { return 0.001 * (1 + sample % 10); }

}  // namespace

TEST_CASE("a steady time is known after the least number of samples and a warm-up") {
  Fake fake{steady, 0.001};
  const BenchTiming timing = fake.timing({});
  CHECK(timing.samples == 20);
  CHECK(fake.calls == 21);
  CHECK(timing.median_seconds == 0.001);
  CHECK(timing.discarded == 0);
}

// 1 s of samples that take 10 ms each, preparation included, and the warm-up.
TEST_CASE("a time that scatters is sampled until the time is up") {
  Fake fake{wild, 0.01};
  const BenchTiming timing = fake.timing({});
  CHECK(timing.samples >= 98);
  CHECK(timing.samples <= 100);
  CHECK(timing.median_seconds == Approx(0.0055).margin(0.0006));
  CHECK(timing.p95_seconds == Approx(0.010));
}

TEST_CASE("nothing is sampled more often than the limit says") {
  Fake fake{wild, 1e-6};
  CHECK(fake.timing({}).samples == 1000);
}

TEST_CASE("what is too slow for 20 samples in twice the time gets by with fewer, at least 3") {
  Fake fits{wild, 0.09};  // 21 calls in 1.89 s
  CHECK(fits.timing({}).samples == 20);
  Fake slow{wild, 0.3};  // 2 s are up with the 7th call
  CHECK(slow.timing({}).samples == 6);
  Fake slower{wild, 5};
  CHECK(slower.timing({}).samples == 3);
}

TEST_CASE("sampling stops between samples when it is told to") {
  Fake fake{wild, 0.01};
  BenchLimits limits;
  limits.interrupted = [&] { return fake.calls >= 7; };
  CHECK_THROWS_AS(fake.timing(limits), BenchInterrupted);
  CHECK(fake.calls == 7);
}

TEST_CASE("a sample that is discarded is counted as such and does not count") {
  Fake fake{[](int sample) { return sample % 2 == 0 ? 0.001 : -0.005; }, 0.001};
  const BenchTiming timing = fake.timing({});
  CHECK(timing.samples == 20);
  CHECK(timing.discarded == 20);
  CHECK(timing.p95_seconds == 0.001);
}

TEST_CASE("where all samples are discarded they are the answer, and it says so") {
  Fake fake{[](int) { return -0.005; }, 0.1};
  const BenchTiming timing = fake.timing({});
  CHECK(timing.median_seconds == 0.005);
  CHECK(timing.samples == timing.discarded);
  CHECK(timing.samples == Approx(40).margin(1));  // 4 s of 0.1 s
}

TEST_CASE("medians and 95th percentiles are those of small examples") {
  CHECK(median_of({3}) == 3);
  CHECK(median_of({1, 2, 10}) == 2);
  CHECK(median_of({1, 2, 4, 10}) == 3);
  CHECK(p95_of({7}) == 7);
  std::vector<double> values;
  for (int i = 1; i <= 20; ++i) values.push_back(i);
  CHECK(p95_of(values) == 19);  // 95 % of 20 do not exceed it
  values.push_back(21);
  CHECK(p95_of(values) == 20);  // 19 of 21 were only 90.5 %
}

// n = 100: ranks 50 - 9.8 and 51 + 9.8, to the outside: 40 and 61.
TEST_CASE("the median's uncertainty is that of its order statistics") {
  std::vector<double> values;
  for (int i = 1; i <= 100; ++i) values.push_back(i);
  CHECK(median_uncertainty(values) == Approx((61 - 40) / 2.0 / 50.5));
  CHECK(median_uncertainty({1, 1, 1, 1, 1, 1}) == 0);
  CHECK(std::isinf(median_uncertainty({1, 1, 1, 1, 1})));
}
