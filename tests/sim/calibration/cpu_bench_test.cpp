// The bench that times compressors on the CPU.
#include <catch2/catch.hpp>

#include "kernels/bench/bench.hpp"
#include "kernels/bench/worker_payloads.hpp"
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
  CHECK(bench->measure(zeros, quick).recall == 1);  // any of equal elements will do
  CHECK(bench->ceiling(100'000, quick).median_seconds > 0);
  quick.interrupted = [] { return true; };
  CHECK_THROWS_AS(bench->measure(zeros, quick), BenchInterrupted);
}

TEST_CASE("the CPU's bench times every compressor that encodes, with as many decodes as asked") {
  const auto bench = make_cpu_bench();
  BenchLimits quick;
  quick.seconds = 0.001;
  for (const Compressor* compressor : all_compressors()) {
    const std::string name(compressor->name);
    INFO(name);
    const auto offered = bench->implementations(name, Mode::Only);
    REQUIRE(offered.empty() == (compressor->family == Family::Dense));
    if (offered.empty()) continue;
    BenchPoint point = bench_point(name.c_str(), {5000, 300});
    point.mode = compressor->two_modes ? Mode::Code : Mode::Only;
    point.parameter = compressor->parameter.usual;
    point.shapes = {{50, 100}, {300, 1}};
    CHECK(bench->memory_needed(point) > 4 * 4 * 5300);
    const BenchResult result = bench->measure(point, quick);
    CHECK(result.encode.median_seconds > 0);
    REQUIRE(result.decode.size() == 2);
    CHECK(result.decode[0].median_seconds > 0);
    CHECK(result.decode[1].median_seconds > 0);
    if (compressor->family != Family::Sparsifier) CHECK(result.selected == 5300);
  }
}

// A cost row of a density is of a threshold that just so many pass.
TEST_CASE("a fixed threshold is timed where what is wanted passes") {
  BenchPoint point = bench_point("threshold", {5000, 300});
  point.wanted = {70, 3};
  BenchLimits quick;
  quick.seconds = 0.001;
  const BenchResult result = make_cpu_bench()->measure(point, quick);
  CHECK(result.selected == 73);
  CHECK(result.recall == 1);
}

TEST_CASE("payloads of many workers are copies, as many as fit") {
  const Packing& fp16 = *find_compressor("fp16")->packing;
  BenchPoint point = bench_point("fp16", {1001, 2});
  CHECK(payload_words(fp16, point) == 502);
  CHECK(distinct_payloads(fp16, point, 4) == 4);
  CHECK(payload_bytes(fp16, point) == 4 * 502 * 4);
  point.tensors = {std::int64_t{300} << 20};  // 600 MiB of codes
  CHECK(distinct_payloads(fp16, point, 4) == 1);
  point.workers.clear();
  CHECK(payload_bytes(fp16, point) == 0);
}
