#include <catch2/catch.hpp>

#include "sim/base/csv.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/inputs/model.hpp"

using namespace gradcast;

// fc1 of FNN-3, batch 128: a launch of 1.83 us is longer than its product in fp32 forward, which
// reads 128 x 784 + 128 x 200 + 157,000 values, 1.13 MB at 765 GB/s: 1.48 us; 2 x 156,800 x 128
// operations at 14 TFLOP/s take 2.87 us, and so count. Its ReLU is a launch.
TEST_CASE("a small network's trace has no kernel shorter than its launch", "[generate]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const TextFile file = files.read(kIterationTraces, "iteration-fnn-3-v100");
  const IterationTrace trace = load_iteration_trace(file);
  require_same_tensors(load_model(files.read(kModels, "fnn-3")), trace);
  constexpr double kLaunch = 1.83e-6;
  CHECK(trace.tensors[0].forward.count() ==
        Approx(2 * 156'800 * 128 / 14e12 + kLaunch).margin(1e-9));
  // fc3: its product forward; backward gradients of weights, bias and input.
  CHECK(trace.tensors[4].forward.count() == Approx(kLaunch).margin(1e-9));
  CHECK(trace.tensors[5].backward.count() == Approx(3 * kLaunch).margin(1e-9));
  // Four operators for each of six tensors. Three of those on fc1's weights move 12 bytes an
  // element, which takes longer than a launch: 156,800 x 36 bytes at 765 GB/s, and 21 launches.
  CHECK(trace.update.count() == Approx(21 * kLaunch + 156'800 * 36 / 765e9).margin(1e-9));
  CHECK_THAT(comment_value(file, "evidence"), Catch::StartsWith("derived"));
}
