// `traces/iteration-<model>-a100.csv` and `-h100.csv`: totals from the utilisation (MFU) that
// others report, shares of layers from a roofline. Nobody measured them.
#include <cmath>
#include <stdexcept>

#include "sim/base/text.hpp"
#include "sim/generate/assumed_mfu.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/generate/networks.hpp"
#include "sim/generate/published_gpu.hpp"
#include "sim/import/roofline.hpp"
#include "sim/inputs/devices.hpp"
#include "sim/inputs/iteration_trace.hpp"

namespace gradcast {
namespace {

/// An optimizer whose step runs as one kernel.
struct Update {
  std::string_view name;
  Optimizer optimizer;
  std::string_view why;

  int bytes() const { return update_bytes(optimizer, true); }  // a parameter
};

constexpr Update kAdamW{"AdamW", Optimizer::Adam,
                        "reads parameter, gradient and two moments, writes all but the "
                        "gradient, in fp32; in bf16 with a parameter in fp32 beside it as much"};
constexpr Update kSgd{"SGD with momentum", Optimizer::Momentum,
                      "reads parameter, gradient and momentum, writes all but the gradient, in "
                      "fp32"};

bool is_transformer(const Network& network) {
  for (const Operator& each : network.architecture.operators())
    if (each.kind == OperatorKind::Attention) return true;
  return false;
}

/// The inputs of a derived trace: one model on one device.
struct Derived {
  const Network& network;
  const AssumedMfu& assumed;
  const Device& device;
  const Update& update;
  Model model;

  double peak() const { return device.bf16.value().value; }  // fp16's is the same
  double bandwidth() const { return kStreamingShare * device.memory_bandwidth.value; }
  double flops() const { return 3 * model.forward_flops() * assumed.batch; }
  Seconds total() const { return Seconds{flops() / (peak() * assumed.percent / 100)}; }
};

IterationTrace trace_of(const Derived& derived) {
  const std::vector<Operator>& operators = derived.network.architecture.operators();
  constexpr double kBytes = 2;  // per value: activations and weights, as products read them
  const std::vector<ComputeTime> times = roofline_times(
      operators, derived.assumed.batch, {derived.peak(), {derived.bandwidth()}, kBytes});
  Seconds raw{0};
  for (const ComputeTime& time : times) raw += time.forward + time.backward;
  IterationTrace trace;
  trace.device = derived.device.name;
  trace.batch = derived.assumed.batch;
  trace.activation_type = NumberType::Bf16;
  trace.optimizer = derived.update.optimizer;
  trace.fused = true;
  trace.update = rounded_to_nanosecond(
      Seconds{derived.update.bytes() * static_cast<double>(derived.model.elements()) /
              derived.bandwidth()});
  const double factor = derived.total() / raw;
  for (const TensorTime& time : tensor_times(operators, times))
    trace.tensors.push_back({time.tensor, rounded_to_nanosecond(time.forward * factor),
                             rounded_to_nanosecond(time.backward * factor)});
  return trace;
}

std::string digits(double value, int count) {
  const double unit = std::pow(10, count);
  return number_to_text(std::round(value * unit) / unit);
}

std::vector<std::string> provenance(const Derived& derived) {
  const std::string peak = digits(derived.peak() / 1e12, 1) + " TFLOP/s";
  const std::string bandwidth = digits(derived.bandwidth() / 1e9, 0) + " GB/s";
  std::vector<std::string> lines{
      "evidence: derived from operations and an assumed share of the peak; nothing was measured",
      "  forward and backward = 3 x forward_flops x batch / (mfu x " + peak + " of " +
          derived.device.name +
          " in bf16 and fp16, traces/devices.csv) = " + digits(derived.total().count(), 4) + " s",
      "mfu: " + number_to_text(derived.assumed.percent) + "%"};
  std::string text = "  " + std::string(derived.assumed.source);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  lines.emplace_back(
      "  A published MFU is of whole iterations: what they lose to communication is in these times "
      "too.");
  lines.push_back("shares: a roofline (derived): each operator at " + peak + " or " + bandwidth +
                  " of 2-byte values, whichever is slower");
  lines.push_back("The update is derived: " + std::string(derived.update.name) +
                  " of the whole model in one kernel, " + std::to_string(derived.update.bytes()) +
                  " bytes a parameter at " + bandwidth + ":");
  lines.push_back("  it " + std::string(derived.update.why));
  lines.emplace_back("Made by generate_data.");
  return lines;
}

}  // namespace

std::vector<GeneratedFile> derived_trace_files(const std::filesystem::path& data_root) {
  const std::vector<Device> devices =
      load_devices(read_text_file(data_root / "traces" / "devices.csv"));
  std::vector<GeneratedFile> files;
  for (const AssumedMfu& assumed : assumed_mfus()) {
    const Network& network = network_named(assumed.model);
    const Derived derived{network, assumed, device_named(devices, std::string(assumed.device)),
                          is_transformer(network) ? kAdamW : kSgd,
                          model_of(network.name, network.architecture)};
    const std::string_view device = assumed.device.substr(0, assumed.device.find('-'));
    files.push_back({"traces/iteration-" + network.name + "-" + std::string(device) + ".csv",
                     iteration_trace_csv(trace_of(derived), provenance(derived))});
  }
  return files;
}

}  // namespace gradcast
