// The bench that times compressors on the CPU.
#include <catch2/catch.hpp>

#include "kernels/bench/bench.hpp"
#include "tests/sim/calibration/toy_point.hpp"

using namespace gradcast;
using toy::bench_point;

TEST_CASE("the CPU's bench tells what it selected, all tensors of a call together") {
  const auto bench = make_cpu_bench();
  BenchLimits quick;
  quick.seconds = 0.001;
  CHECK(bench->implementations("topk", Mode::Only) == std::vector<std::string>{"gradcast-cpu"});
  CHECK(bench->implementations("dense", Mode::Only).empty());
  CHECK(bench->memory_needed(bench_point("topk", {1'000'000})) > 24'000'000);
  const BenchResult topk = bench->measure(bench_point("topk", {5000, 300}), quick);
  CHECK(topk.selected == 53);
  CHECK(topk.recall == 1);
  CHECK(topk.encode.samples >= 3);
  CHECK(topk.encode.median_seconds > 0);
  CHECK(topk.encode.p95_seconds >= topk.encode.median_seconds);
  CHECK(topk.decode.size() == 2);
  const BenchResult randk = bench->measure(bench_point("randk", {20'000}), quick);
  CHECK(randk.selected == 200);
  CHECK(randk.recall < 0.1);  // 1 % of them, by chance
  BenchPoint zeros = bench_point("topk", {1000});
  zeros.input = Input::zero;
  CHECK(bench->measure(zeros, quick).recall == 1);  // of equals any will do
  CHECK(bench->ceiling(100'000, quick).median_seconds > 0);
  quick.interrupted = [] { return true; };
  CHECK_THROWS_AS(bench->measure(zeros, quick), BenchInterrupted);
}
