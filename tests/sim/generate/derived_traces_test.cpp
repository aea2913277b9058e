#include <catch2/catch.hpp>

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"
#include "sim/generate/assumed_mfu.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/devices.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/inputs/model.hpp"

using namespace gradcast;

namespace {

const std::filesystem::path kRoot = GRADCAST_SOURCE_DIR;

std::string trace_name(const std::string& model, const std::string& device) {
  return "iteration-" + model + "-" + device.substr(0, device.find('-'));
}

}  // namespace

// Llama 3 8B on an A100: 3 x 158.1 TFLOP of 8192 tokens / 2.61 s = 181.6 TFLOP/s, of 312 58.2 %.
TEST_CASE("a derived trace's forward and backward are what its MFU says", "[generate]") {
  DataFiles files(kRoot);
  const std::vector<Device> devices = load_devices(files.read(kDevices, "devices"));
  for (const AssumedMfu& assumed : assumed_mfus()) {
    const std::string model_name(assumed.model);
    const std::string device_name(assumed.device);
    const std::string name = trace_name(model_name, device_name);
    CAPTURE(name);
    const TextFile file = files.read(kIterationTraces, name);
    const IterationTrace trace = load_iteration_trace(file);
    const Model model = load_model(files.read(kModels, model_name));
    const Device* device = device_meant(devices, trace.device);
    REQUIRE(device != nullptr);
    CHECK(device->name == device_name);
    CHECK(device->bf16.value().value == device->fp16.value().value);
    const double flops = 3 * model.forward_flops() * trace.batch;
    const Seconds time = trace.forward() + trace.backward();
    CHECK(flops / (device->bf16.value().value * time.count()) ==
          Approx(parse_percent(comment_value(file, "mfu"))).epsilon(1e-5));
    CHECK_THAT(comment_value(file, "evidence"), Catch::StartsWith("derived"));
  }
}

// 28 bytes of 124,439,808 parameters at 85 % of 2039 GB/s: 2.01 ms. ResNet-101: 20 bytes of
// 44,549,160 at 85 % of 936 GB/s: 1.12 ms.
TEST_CASE("a derived update is AdamW's traffic, or that of SGD with momentum", "[generate]") {
  DataFiles files(kRoot);
  const auto update = [&](const char* name) {
    return load_iteration_trace(files.read(kIterationTraces, name)).update.count();
  };
  CHECK(update("iteration-gpt2-small-a100") ==
        Approx(28 * 124'439'808.0 / (0.85 * 2039e9)).epsilon(1e-5));
  CHECK(update("iteration-resnet-101-rtx-3090") ==
        Approx(20 * 44'549'160.0 / (0.85 * 936e9)).epsilon(1e-5));
}

// ResNet-101's steps of 256 images took 340.740 ms with channels last and 448.321 ms with channels
// first. Their geometric mean is 390.85 ms, and half of it 195.43 ms: of 128 images.
TEST_CASE("a trace of an RTX 3090 lies between the two layouts that were timed", "[generate]") {
  DataFiles files(kRoot);
  const IterationTrace trace =
      load_iteration_trace(files.read(kIterationTraces, "iteration-resnet-101-rtx-3090"));
  CHECK(trace.batch == 128);
  CHECK(trace.iteration_alone(1).count() == Approx(0.19543).epsilon(1e-4));
}

// The last normalisation is first in backward, with the product of the head that shares the table:
// 3 x 1024 x 50257 x 768 of 3 x 145.8 G multiply-accumulates are 27 % of all arithmetic.
TEST_CASE("a tied head's time stands on the last normalisation", "[generate]") {
  DataFiles files(kRoot);
  const IterationTrace trace =
      load_iteration_trace(files.read(kIterationTraces, "iteration-gpt2-small-a100"));
  REQUIRE(trace.tensors.back().tensor == "transformer.ln_f.bias");
  const double share = trace.tensors.back().backward / trace.backward();
  CHECK(share > 0.2);
  CHECK(share < 0.3);
  CHECK(trace.tensors.front().backward < 0.01 * trace.backward());
}
