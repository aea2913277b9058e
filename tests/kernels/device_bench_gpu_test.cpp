// The measurement of every compressor that has kernels, on the GPU at hand.
#include <catch2/catch.hpp>

#include "kernels/bench/bench.hpp"
#include "kernels/compressor.hpp"

using namespace gradcast;

TEST_CASE("every compressor that has kernels is timed on the GPU", "[gpu]") {
  const auto bench = make_gpu_bench(0);
  REQUIRE(bench);
  BenchLimits quick;
  quick.seconds = 0.01;
  for (const Compressor* compressor : all_compressors()) {
    const std::string name(compressor->name);
    INFO(name);
    BenchPoint point;
    point.compressor = name;
    point.mode = compressor->two_modes ? Mode::Code : Mode::Only;
    point.parameter = compressor->parameter.usual;
    point.tensors = {300'000, 1000};
    point.shapes = {{600, 500}, {1000, 1}};
    point.wanted = {300, 1};
    point.workers = {1, 4};
    for (const std::string& implementation : bench->implementations(name, point.mode)) {
      INFO(implementation);
      point.implementation = implementation;
      const BenchResult result = bench->measure(point, quick);
      CHECK(result.encode.median_seconds > 0);
      CHECK(result.selected > 0);
      REQUIRE(result.decode.size() == 2);
      CHECK(result.decode[0].median_seconds > 0);
      CHECK(result.decode[1].median_seconds > 0);
    }
    if (compressor->family != Family::Dense)
      CHECK_FALSE(bench->implementations(name, point.mode).empty());
  }
}
