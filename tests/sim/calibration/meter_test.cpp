// The duration of a point, and points that the device cannot hold.
#include "sim/calibration/meter.hpp"

#include <catch2/catch.hpp>
#include <new>

#include "tests/sim/calibration/toy_point.hpp"

using namespace gradcast;
using toy::bench_point;

namespace {

/// A device whose memory holds a million elements and no more, whatever it said before.
class FullBench : public Bench {
 public:
  BenchDevice device() const override { return {}; }
  std::vector<std::string> implementations(const std::string& /*compressor*/,
                                           Mode /*mode*/) const override {
    return {};
  }
  std::int64_t memory_needed(const BenchPoint& /*point*/) const override { return 0; }
  BenchResult measure(const BenchPoint& point, const BenchLimits& /*limits*/) override {
    if (point.tensors[0] > 1'000'000) throw std::bad_alloc();
    return {};
  }
  BenchTiming ceiling(std::int64_t /*elements*/, const BenchLimits& /*limits*/) override {
    return {};
  }
};

}  // namespace

// At a million elements a second and 2 s a point: 3 million elements take longer than that.
TEST_CASE("a point takes its seconds, or the least samples where they are longer") {
  FullBench bench;
  const Meter meter(bench, Seconds{2}, 1e6);
  CHECK(meter.work({bench_point("topk", {1000}), 0.01}) == 2);
  CHECK(meter.work({bench_point("topk", {1'000'000, 2'000'000}), 0.01}) == 3);
  BenchPoint all_sent = bench_point("qsgd", {3'000'000});  // decoded of 1 and of 4 workers
  CHECK(meter.work({all_sent, 1}) == Approx(3 + 5));
  all_sent.workers.clear();
  CHECK(meter.work({all_sent, 1}) == 3);
}

TEST_CASE("a point that the device's memory does not hold is left out, and said") {
  FullBench bench;
  Meter meter(bench, Seconds{1}, 1e6);
  std::vector<std::string> notes;
  std::vector<std::int64_t> kept;
  measure_all(
      {{bench_point("topk", {1000}), 0.01},
       {bench_point("topk", {2'000'000}), 0.01},
       {bench_point("topk", {3000}), 0.01}},
      meter, true,
      [&](const CalibrationPoint& point, const BenchResult& /*result*/) {
        kept.push_back(point.elements());
      },
      [&](const std::string& line) { notes.push_back(line); });
  CHECK(kept == std::vector<std::int64_t>{1000, 3000});
  CHECK(notes == std::vector<std::string>{
                     "left out: topk, 2000000 elements, by gradcast-cpu: the device's memory did "
                     "not hold it"});
}
