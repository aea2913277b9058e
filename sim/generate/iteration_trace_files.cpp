// `traces/iteration-<model>-v100.csv`: totals from the paper's Table 2, shares from measured
// profiles or from a roofline.
#include <array>
#include <cmath>
#include <stdexcept>

#include "sim/generate/generated_file.hpp"
#include "sim/generate/networks.hpp"
#include "sim/generate/profile.hpp"
#include "sim/generate/roofline.hpp"
#include "sim/generate/torch_operators.hpp"
#include "sim/iteration_trace.hpp"

namespace gradcast {
namespace {

constexpr int kBatch = 128;

/// A model of Table 2, with dense, Top-k, DGC and Gaussian-k on 16 GPUs, and where its shares are
/// from.
struct PublishedRuns {
  std::string_view model;
  std::string_view profile;  // a file in traces/; "" where nobody measured one
  std::array<double, 4> iteration_seconds;
  std::array<double, 4> scaling_efficiency_percent;
};

constexpr PublishedRuns kTable2[] = {
    {"alexnet",
     "profile-alexnet-pipedream.csv",
     {0.571, 0.891, 0.369, 0.245},
     {14.1, 9.0, 21.8, 32.8}},
    {"vgg-16",
     "profile-vgg-16-pipedream.csv",
     {2.068, 3.010, 1.540, 1.311},
     {54.2, 37.2, 72.8, 85.5}},
    {"resnet-50",
     "profile-resnet-50-pipedream.csv",
     {0.699, 0.810, 0.655, 0.586},
     {65.8, 56.8, 70.2, 78.5}},
    {"inception-v4", "", {1.022, 1.268, 0.916, 0.787}, {67.5, 54.4, 75.3, 87.7}},
};

/// To so many parts of a second: 1e9 for nanoseconds.
Seconds rounded(Seconds time, double parts) {
  return Seconds{std::round(time.count() * parts) / parts};
}

const PublishedRuns& published(const std::string& model) {
  for (const PublishedRuns& runs : kTable2)
    if (runs.model == model) return runs;
  throw std::logic_error("Table 2 has no model '" + model + "'");
}

/// One GPU alone: iteration time x efficiency, the mean of the four.
Seconds single_gpu_iteration(const PublishedRuns& runs) {
  double sum = 0;
  for (std::size_t i = 0; i < runs.iteration_seconds.size(); ++i)
    sum += runs.iteration_seconds[i] * runs.scaling_efficiency_percent[i] / 100;
  return rounded(Seconds{sum / static_cast<double>(runs.iteration_seconds.size())}, 1e4);
}

/// SGD with momentum and weight decay as PyTorch 1.1 launches it, tensor by tensor.
Seconds update_time(const Model& model) {
  constexpr TorchOperator kSteps[] = {{"gradient += decay x parameter", 12},
                                      {"momentum *= factor", 8},
                                      {"momentum += gradient", 12},
                                      {"parameter -= rate x momentum", 12}};
  Seconds sum{0};
  for (const GradientTensor& tensor : model.tensors)
    for (const TorchOperator& step : kSteps)
      sum += time_of({step, static_cast<double>(tensor.elements)});
  return rounded(sum, 1e9);
}

/// Of every operator with parameters, with the others folded into the one before them.
std::vector<ComputeTime> roofline_times(const Architecture& architecture) {
  std::vector<ComputeTime> times;
  for (const Operator& each : architecture.operators()) {
    const ComputeTime time = roofline(each, kBatch, times.empty());
    if (!each.tensors.empty()) times.emplace_back();
    times.back().forward += time.forward;
    times.back().backward += time.backward;
  }
  return times;
}

/// `times`: one for each operator with parameters.
IterationTrace trace_of(const Network& network, const std::vector<ComputeTime>& times) {
  const Model model = model_of(network.name, network.architecture);
  IterationTrace trace;
  trace.device = "V100-PCIE-32GB";
  trace.batch = kBatch;
  trace.update = update_time(model);
  ComputeTime raw;
  for (const ComputeTime& time : times) {
    raw.forward += time.forward;
    raw.backward += time.backward;
  }
  const double factor =
      (single_gpu_iteration(published(network.name)) - trace.update) / (raw.forward + raw.backward);
  std::size_t layer = 0;
  for (const Operator& each : network.architecture.operators()) {
    if (each.tensors.empty()) continue;
    for (std::size_t i = 0; i < each.tensors.size(); ++i) {
      // A layer's further tensors carry nothing: the layer's time is told once.
      const ComputeTime time = i == 0 ? times[layer] : ComputeTime{};
      trace.tensors.push_back({each.tensors[i].tensor, rounded(time.forward * factor, 1e9),
                               rounded(time.backward * factor, 1e9)});
    }
    ++layer;
  }
  return trace;
}

std::vector<std::string> provenance(const PublishedRuns& runs) {
  const std::string total = number_to_text(single_gpu_iteration(runs).count());
  const std::string shares =
      runs.profile.empty()
          ? "a roofline (derived): each operator at 14 TFLOP/s or 765 GB/s, whichever is slower"
          : "measured by others, " + std::string(runs.profile);
  return {
      "total: " + total + " s, one GPU alone in Table 2 of",
      R"(  "Understanding Top-k Sparsification in Distributed Deep Learning": the mean over its)",
      "  four algorithms of iteration time x scaling efficiency (derived)",
      "shares: " + shares,
      "The update is derived: SGD with momentum and weight decay as four PyTorch 1.1 operators a",
      "  tensor, each max(bytes moved / 765 GB/s, 1.83 us a launch)",
      "Nothing here was timed by this project. Made by generate_data.",
  };
}

}  // namespace

std::vector<GeneratedFile> iteration_trace_files(const std::filesystem::path& data_root) {
  std::vector<GeneratedFile> files;
  for (const Network& network : paper_networks()) {
    const PublishedRuns& runs = published(network.name);
    const std::vector<ComputeTime> times =
        runs.profile.empty() ? roofline_times(network.architecture)
                             : match_profile(network.architecture,
                                             read_text_file(data_root / "traces" / runs.profile));
    files.push_back({"traces/iteration-" + network.name + "-v100.csv",
                     iteration_trace_csv(trace_of(network, times), provenance(runs))});
  }
  return files;
}

}  // namespace gradcast
