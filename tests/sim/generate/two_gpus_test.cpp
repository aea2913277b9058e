// One number, the bandwidth of an unnamed GPU, against the timers of the model that it was not
// fitted to.
#include "sim/generate/two_gpus.hpp"

#include <catch2/catch.hpp>

#include "sim/base/statistics.hpp"
#include "sim/generate/networks.hpp"
#include "sim/generate/torch_compressors.hpp"

using namespace gradcast;

namespace {

struct Errors {
  double encode;
  double decode;
};

/// Means of the absolute errors in percent, of the model's four settings.
Errors errors_of(const TwoGpuModel& judged, const TwoGpuModel& fitted_to) {
  const PublishedGpu device = two_gpu_device(bandwidth_of(fitted_to));
  std::vector<double> encode;
  std::vector<double> decode;
  for (const TimedQsgd& timed : judged.qsgd) {
    const auto error = [&](const Passes& passes, Seconds measured) {
      const auto calls = calls_of(passes, judged.elements);
      return 100 * (time_of(calls, device) / measured - 1);
    };
    encode.push_back(error(two_gpu_encode(timed.bits), timed.encode));
    decode.push_back(error(two_gpu_decode(), timed.decode));
  }
  return {summarize_errors(encode).mean_absolute, summarize_errors(decode).mean_absolute};
}

double bytes_of(const Passes& passes) {
  double bytes = 0;
  for (const TorchOperator& each : passes) bytes += each.bytes_per_element;
  return bytes;
}

}  // namespace

// Eight operators of one number in and one out, 8 bytes; three of two numbers, 12; and conversions
// to int8, 5, of which the last is none where the levels stay int32.
TEST_CASE("QSGD's operators move 110 bytes an element, and 8 to decode", "[generate]") {
  CHECK(bytes_of(two_gpu_encode(4)) == 8 * 8 + 3 * 12 + 5 + 5);
  CHECK(bytes_of(two_gpu_encode(8)) == 8 * 8 + 3 * 12 + 5);
  CHECK(bytes_of(two_gpu_decode()) == 8);
}

// 110 x 14,728,266 bytes in 0.00518 s are 313 GB/s, and 8 x 14,728,266 in 0.000445 s are 265.
TEST_CASE("one bandwidth serves encode and decode of the model that it was not fitted to",
          "[generate]") {
  CHECK(bandwidth_of(kTwoGpuVgg).value / 1e9 == Approx(289.8).margin(0.05));
  CHECK(bandwidth_of(kTwoGpuResnet).value / 1e9 == Approx(297.4).margin(0.05));
  const Errors resnet = errors_of(kTwoGpuResnet, kTwoGpuVgg);
  CHECK(resnet.encode == Approx(9.1).margin(0.05));
  CHECK(resnet.decode == Approx(3.25).margin(0.05));
  const Errors vgg = errors_of(kTwoGpuVgg, kTwoGpuResnet);
  CHECK(vgg.encode == Approx(5.4).margin(0.05));
  CHECK(vgg.decode == Approx(9.47).margin(0.05));
}

TEST_CASE("the models of two GPUs are those of the project", "[generate]") {
  for (const TwoGpuModel& model : {kTwoGpuVgg, kTwoGpuResnet}) {
    const std::string name(model.model);
    CHECK(model_of(name, network_named(name).architecture).elements() == model.elements);
  }
}
