// A model of three tensors, and a point to time.
#pragma once
#include <string>
#include <utility>

#include "kernels/bench/bench.hpp"
#include "sim/calibration/points.hpp"

namespace gradcast::toy {

/// Layers of two tensors, 4 and 6 million elements, and one of 1000.
inline Model model() {
  return {"toy", {{"a", "a.w", 4'000'000, 0}, {"a", "a.b", 1000, 0}, {"b", "b.w", 6'000'000, 0}}};
}

inline BenchPoint bench_point(const char* compressor, TensorSet tensors) {
  BenchPoint point;
  point.compressor = compressor;
  point.implementation = "gradcast-cpu";
  for (const std::int64_t elements : tensors) point.wanted.push_back(elements / 100);
  point.tensors = std::move(tensors);
  point.workers = {1, 4};
  return point;
}

}  // namespace gradcast::toy
