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

// Nine operators of one number in and one out, 8 bytes; three of two numbers, 12; and the last
// conversion, 8, which is none where the levels are int32 already.
TEST_CASE("QSGD's operators move 116 bytes an element, and 8 to decode", "[generate]") {
  CHECK(bytes_of(two_gpu_encode(4)) == 9 * 8 + 3 * 12 + 8);
  CHECK(bytes_of(two_gpu_encode(8)) == 9 * 8 + 3 * 12);
  CHECK(bytes_of(two_gpu_decode()) == 8);
}

// 116 x 14,728,266 bytes in 0.00518 s are 330 GB/s, and 8 x 14,728,266 in 0.000445 s are 265.
TEST_CASE("one bandwidth serves encode and decode of the model that it was not fitted to",
          "[generate]") {
  CHECK(bandwidth_of(kTwoGpuVgg).value / 1e9 == Approx(296.7).epsilon(1e-3));
  CHECK(bandwidth_of(kTwoGpuResnet).value / 1e9 == Approx(306.2).epsilon(1e-2));
  const Errors resnet = errors_of(kTwoGpuResnet, kTwoGpuVgg);
  CHECK(resnet.encode == Approx(11.7).margin(0.05));
  CHECK(resnet.decode == Approx(5.75).margin(0.05));
  const Errors vgg = errors_of(kTwoGpuVgg, kTwoGpuResnet);
  CHECK(vgg.encode == Approx(7.9).margin(0.05));
  CHECK(vgg.decode == Approx(12.0).margin(0.05));
}

TEST_CASE("the models of two GPUs are those of the project", "[generate]") {
  for (const TwoGpuModel& model : {kTwoGpuVgg, kTwoGpuResnet}) {
    const std::string name(model.model);
    CHECK(model_of(name, network_named(name).architecture).elements() == model.elements);
  }
}
