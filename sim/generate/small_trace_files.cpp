// `traces/iteration-<model>-v100.csv` of networks so small that a GPU mostly launches kernels.
// Nobody published their times: they are derived from a roofline and from launches.
#include <algorithm>
#include <cmath>

#include "sim/base/units.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/generate/networks.hpp"
#include "sim/generate/published_gpu.hpp"
#include "sim/generate/torch_operators.hpp"
#include "sim/inputs/iteration_trace.hpp"

namespace gradcast {
namespace {

constexpr int kPaperBatch = 128;  // Table 1 of "Understanding Top-k Sparsification"

bool is_product(const Operator& each) {
  return each.kind == OperatorKind::Convolution || each.kind == OperatorKind::Linear;
}

/// Kernels of a backward: a gradient of each tensor, and one of the input where that is needed.
int backward_kernels(const Operator& each, bool first) {
  const int tensors = is_product(each) ? static_cast<int>(each.tensors.size()) : 0;
  return tensors + (first ? 0 : 1);
}

/// The times of every operator with parameters, each with those behind it that have none.
std::vector<ComputeTime> launched_times(const std::vector<Operator>& operators, int batch,
                                        const PublishedGpu& device) {
  std::vector<ComputeTime> times;
  for (const Operator& each : operators) {
    const bool first = times.empty();
    const ComputeTime least = roofline(each, batch, first, peaks_of(device));
    if (!each.tensors.empty() || first) times.emplace_back();
    times.back().forward += std::max(least.forward, device.launch);
    times.back().backward +=
        std::max(least.backward, backward_kernels(each, first) * device.launch);
  }
  return times;
}

IterationTrace trace_of(const Network& network, const PublishedGpu& device) {
  const std::vector<Operator>& operators = network.architecture.operators();
  IterationTrace trace;
  trace.device = device.name;
  trace.batch = kPaperBatch;
  trace.update = torch_update_time(model_of(network.name, network.architecture), device);
  trace.optimizer = Optimizer::Momentum;
  for (const TensorTime& time :
       tensor_times(operators, launched_times(operators, trace.batch, device)))
    trace.tensors.push_back(
        {time.tensor, rounded_to_nanosecond(time.forward), rounded_to_nanosecond(time.backward)});
  return trace;
}

std::vector<std::string> provenance(const PublishedGpu& device) {
  const std::string bandwidth = number_to_text(std::round(device.bandwidth.value / 1e9)) + " GB/s";
  const std::string launch = number_to_text(rounded_to(3, device.launch.count() * 1e6)) + " us";
  return {
      "evidence: derived from a roofline and launches; nothing was measured, and a real one is "
      "slower",
      "  Each operator at " + number_to_text(device.flops_per_second / 1e12) + " TFLOP/s or " +
          bandwidth + " in fp32, or " + launch + " a kernel where that is longer:",
      "  one kernel forward, and backward one for each gradient (input, weight, bias).",
      "  " + launch +
          " is what CSCS expects of a launch on its V100s (traces/devices.csv). Python,",
      "  which takes longer than that for each operator, and the loss are not in it: a lower "
      "bound.",
      "The update is derived: SGD with momentum and weight decay as four PyTorch 1.1 operators a",
      "  tensor, each max(bytes moved / " + bandwidth + ", " + launch + " a launch)",
      "Made by generate_data."};
}

}  // namespace

std::vector<GeneratedFile> small_trace_files() {
  std::vector<GeneratedFile> files;
  for (const std::string_view model : {"fnn-3", "lenet-5", "resnet-50-cifar"})
    files.push_back(
        {"traces/iteration-" + std::string(model) + "-v100.csv",
         iteration_trace_csv(trace_of(network_named(model), kV100), provenance(kV100))});
  return files;
}

}  // namespace gradcast
