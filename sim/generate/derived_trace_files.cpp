// `traces/iteration-<model>-a100.csv` and `-h100.csv`: totals from the utilisation (MFU) that
// others report. `-rtx-3090.csv`: totals that lie between two that others measured. Shares of
// layers from a roofline.
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

/// The inputs of a derived trace: one model on one device, and how long its iteration takes.
struct Derived {
  const Network& network;
  const Device& device;
  int batch;
  Model model;
  const Update& update;

  double peak() const { return device.bf16.value().value; }  // fp16's is the same
  double bandwidth() const { return kStreamingShare * device.memory_bandwidth.value; }
  double flops() const { return 3 * model.forward_flops() * batch; }
  Seconds update_time() const {
    return rounded_to_nanosecond(
        Seconds{update.bytes() * static_cast<double>(model.elements()) / bandwidth()});
  }
};

Derived derived_of(std::string_view model, const Device& device, int batch) {
  const Network& network = network_named(model);
  return {network, device, batch, model_of(network.name, network.architecture),
          is_transformer(network) ? kAdamW : kSgd};
}

/// `total`: of forward and backward.
IterationTrace trace_of(const Derived& derived, Seconds total) {
  const std::vector<Operator>& operators = derived.network.architecture.operators();
  constexpr double kBytes = 2;  // per value: activations and weights, as products read them
  const std::vector<ComputeTime> times =
      roofline_times(operators, derived.batch, {derived.peak(), {derived.bandwidth()}, kBytes});
  Seconds raw{0};
  for (const ComputeTime& time : times) raw += time.forward + time.backward;
  IterationTrace trace;
  trace.device = derived.device.name;
  trace.batch = derived.batch;
  trace.activation_type = NumberType::Bf16;
  trace.optimizer = derived.update.optimizer;
  trace.fused = true;
  trace.update = derived.update_time();
  const double factor = total / raw;
  for (const TensorTime& time : tensor_times(operators, times))
    trace.tensors.push_back({time.tensor, rounded_to_nanosecond(time.forward * factor),
                             rounded_to_nanosecond(time.backward * factor)});
  return trace;
}

std::string digits(double value, int count) {
  const double unit = std::pow(10, count);
  return number_to_text(std::round(value * unit) / unit);
}

std::string peak_text(const Derived& derived) {
  return digits(derived.peak() / 1e12, 1) + " TFLOP/s";
}

/// Lines on what is the same for all of them.
void add_shares_and_update(std::vector<std::string>& lines, const Derived& derived) {
  const std::string bandwidth = digits(derived.bandwidth() / 1e9, 0) + " GB/s";
  lines.push_back("shares: a roofline (derived): each operator at " + peak_text(derived) + " or " +
                  bandwidth + " of 2-byte values, whichever is slower");
  lines.push_back("The update is derived: " + std::string(derived.update.name) +
                  " of the whole model in one kernel, " + std::to_string(derived.update.bytes()) +
                  " bytes a parameter at " + bandwidth + ":");
  lines.push_back("  it " + std::string(derived.update.why));
  lines.emplace_back("Made by generate_data.");
}

std::vector<std::string> provenance(const Derived& derived, const AssumedMfu& assumed,
                                    Seconds total) {
  std::vector<std::string> lines{
      "evidence: derived from operations and an assumed share of the peak; nothing was measured",
      "  forward and backward = 3 x forward_flops x batch / (mfu x " + peak_text(derived) + " of " +
          derived.device.name +
          " in bf16 and fp16, traces/devices.csv) = " + digits(total.count(), 4) + " s",
      "mfu: " + number_to_text(assumed.percent) + "%"};
  std::string text = "  " + std::string(assumed.source);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  lines.emplace_back(
      "  A published MFU is of whole iterations: what they lose to communication is in these times "
      "too.");
  add_shares_and_update(lines, derived);
  return lines;
}

std::vector<std::string> provenance(const Derived& derived, const TimedSteps& timed,
                                    Seconds total) {
  const std::string batch = std::to_string(derived.batch);
  std::vector<std::string> lines{
      "evidence: derived from two times that others measured in mixed precision, one with channels "
      "last and one with channels first: their geometric mean",
      "  of " + std::to_string(timed.timed) + " images " + digits(1e3 * timed.channels_last, 3) +
          " and " + digits(1e3 * timed.channels_first, 3) +
          " ms a step, the optimizer's included: huggingface/pytorch-image-models@5e7d47c,",
      "  results/benchmark-train-amp-nhwc-pt112-cu113-rtx3090.csv, and -nchw- beside it",
      "  in proportion, of " + batch + " images forward and backward take " +
          digits(total.count(), 4) + " s"};
  add_shares_and_update(lines, derived);
  return lines;
}

GeneratedFile file_of(const Derived& derived, const std::string& device, Seconds total,
                      const std::vector<std::string>& lines) {
  return {"traces/iteration-" + derived.network.name + "-" + device + ".csv",
          iteration_trace_csv(trace_of(derived, total), lines)};
}

}  // namespace

std::vector<GeneratedFile> derived_trace_files(const std::filesystem::path& data_root) {
  const std::vector<Device> devices =
      load_devices(read_text_file(data_root / "traces" / "devices.csv"));
  std::vector<GeneratedFile> files;
  for (const AssumedMfu& assumed : assumed_mfus()) {
    const Derived derived = derived_of(
        assumed.model, device_named(devices, std::string(assumed.device)), assumed.batch);
    const Seconds total{derived.flops() / (derived.peak() * assumed.percent / 100)};
    files.push_back(file_of(derived,
                            std::string(assumed.device.substr(0, assumed.device.find('-'))), total,
                            provenance(derived, assumed, total)));
  }
  for (const TimedSteps& timed : timed_steps()) {
    const Derived derived =
        derived_of(timed.model, device_named(devices, std::string(timed.device)), timed.batch);
    const double step = std::sqrt(timed.channels_last * timed.channels_first);
    const Seconds total = Seconds{step * timed.batch / timed.timed} - derived.update_time();
    files.push_back(
        file_of(derived, std::string(timed.device), total, provenance(derived, timed, total)));
  }
  return files;
}

}  // namespace gradcast
