// The measurement of encoders, on the emulator and with a clock that the test sets.
#include <catch2/catch.hpp>

#include "kernels/bench/device_bench.hpp"
#include "kernels/compressor.hpp"

using namespace gradcast;

namespace {

/// Every sample takes 2 us, but each third is throttled and takes 5.
class FakeTimer final : public GpuTimer {
 public:
  void evict() override { ++evictions; }
  void begin() override { ++samples_; }
  void end() override {}
  double seconds() override { return samples_ % 3 == 0 ? 5e-6 : 2e-6; }
  bool throttled() override { return samples_ % 3 == 0; }
  void fill(float* to, std::int64_t elements, Input input, std::uint32_t seed,
            std::int64_t of_elements) override {
    for (std::int64_t i = 0; i < elements; ++i) to[i] = input_element(input, seed, of_elements, i);
  }
  void add(const float* gradient, float* residual, std::int64_t elements) override {
    for (std::int64_t i = 0; i < elements; ++i) residual[i] += gradient[i];
  }
  BenchDevice device() const override { return {"emulator", "emulator", "", "", "", 1 << 30}; }

  int evictions = 0;

 private:
  int samples_ = 0;
};

std::unique_ptr<Bench> emulated_bench() {
  DeviceBenchParts parts;
  parts.implementation = "gradcast-emulated";
  parts.queue = on_emulator::make_queue(0);
  parts.timer = std::make_unique<FakeTimer>();
  parts.make_encoder = on_emulator::make_encoder;
  parts.make_decoder = on_emulator::make_decoder;
  return make_device_bench(std::move(parts));
}

BenchLimits few_samples() {
  BenchLimits limits;
  limits.seconds = 1e6;
  limits.least_samples = limits.most_samples = 4;
  return limits;
}

BenchPoint point_of(const char* compressor, Mode mode, std::vector<std::int64_t> tensors) {
  BenchPoint point;
  point.compressor = compressor;
  point.mode = mode;
  point.implementation = "gradcast-emulated";
  for (const std::int64_t elements : tensors) point.wanted.push_back(elements / 1000);
  point.tensors = std::move(tensors);
  point.workers = {1, 4};
  return point;
}

}  // namespace

TEST_CASE("a measured point tells its times, and leaves out throttled samples",
          "[emulated][bench]") {
  const auto bench = emulated_bench();
  const BenchResult result = bench->measure(point_of("topk", Mode::Only, {20'000}), few_samples());
  CHECK(result.encode.median_seconds == 2e-6);
  CHECK(result.encode.p95_seconds == 2e-6);
  CHECK(result.encode.samples == 4);
  CHECK(result.encode.discarded >= 1);
  CHECK(result.decode.size() == 2);
}

// 20 of 20,000 and 1 of 1000: exact Top-k finds all of them.
TEST_CASE("a measured point tells how many were selected, and how many of the largest",
          "[emulated][bench]") {
  const auto bench = emulated_bench();
  const BenchResult exact =
      bench->measure(point_of("topk", Mode::Only, {20'000, 1000}), few_samples());
  CHECK(exact.selected == 21);
  CHECK(exact.recall == 1);
  CHECK(exact.path == "fast");
  const BenchResult random =
      bench->measure(point_of("randk", Mode::Only, {20'000, 1000}), few_samples());
  CHECK(random.selected == 21);
  CHECK(random.recall < 0.2);  // one in a thousand, by chance
}

TEST_CASE("a threshold compressor's count is its own", "[emulated][bench]") {
  const auto bench = emulated_bench();
  const BenchResult result =
      bench->measure(point_of("gaussian", Mode::Code, {100'000}), few_samples());
  CHECK(result.selected > 66);  // within Algorithm 1's bounds of 100
  CHECK(result.selected < 134);
  CHECK(result.recall > 0.6);
}

TEST_CASE("the device's own implementation is offered for every compressor but dense",
          "[emulated][bench]") {
  const auto bench = emulated_bench();
  for (const Compressor* compressor : all_compressors())
    CHECK(bench->implementations(std::string(compressor->name), Mode::Only).size() ==
          (compressor->rule == Rule::Everything ? 0 : 1));
}

TEST_CASE("the ceiling is measured", "[emulated][bench]") {
  CHECK(emulated_bench()->ceiling(10'000, few_samples()).median_seconds == 2e-6);
}
