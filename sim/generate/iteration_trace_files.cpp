// `traces/iteration-<model>-v100.csv`: totals from the paper's Table 2, shares from measured
// profiles or from a roofline.
#include <cmath>
#include <stdexcept>

#include "sim/generate/generated_file.hpp"
#include "sim/generate/networks.hpp"
#include "sim/generate/profile.hpp"
#include "sim/generate/roofline.hpp"
#include "sim/generate/table2.hpp"
#include "sim/generate/torch_operators.hpp"
#include "sim/iteration_trace.hpp"

namespace gradcast {
namespace {

constexpr int kBatch = 128;

/// Where a model's shares come from.
struct Shares {
  std::string_view model;
  std::string_view profile;  // a file in traces/; "" where nobody published one
};

constexpr Shares kShares[] = {
    {"alexnet", "profile-alexnet-pipedream.csv"},
    {"vgg-16", "profile-vgg-16-pipedream.csv"},
    {"resnet-50", "profile-resnet-50-pipedream.csv"},
    {"inception-v4", ""},
};

template <class Table>
const auto& row_of(const Table& table, const std::string& model) {
  for (const auto& row : table)
    if (row.model == model) return row;
  throw std::logic_error("a table lacks model '" + model + "'");
}

/// To the nanosecond, so that files stay readable.
Seconds rounded(Seconds time) { return Seconds{std::round(time.count() * 1e9) / 1e9}; }

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
  return rounded(sum);
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
  const double factor = (row_of(kTable2, network.name).single_gpu_iteration() - trace.update) /
                        (raw.forward + raw.backward);
  std::size_t layer = 0;
  for (const Operator& each : network.architecture.operators()) {
    if (each.tensors.empty()) continue;
    for (std::size_t i = 0; i < each.tensors.size(); ++i) {
      // A layer's gradients are there when all of its backward is done, and backward comes to the
      // last tensor first: that one carries the backward time, the first the forward.
      const bool first = i == 0;
      const bool last = i + 1 == each.tensors.size();
      trace.tensors.push_back({each.tensors[i].tensor,
                               first ? rounded(times[layer].forward * factor) : Seconds{0},
                               last ? rounded(times[layer].backward * factor) : Seconds{0}});
    }
    ++layer;
  }
  return trace;
}

std::vector<std::string> provenance(const std::string& model, std::string_view profile) {
  const std::string total = number_to_text(row_of(kTable2, model).single_gpu_iteration().count());
  const std::string shares =
      profile.empty()
          ? "a roofline (derived): each operator at 14 TFLOP/s or 765 GB/s, whichever is slower"
          : "measured by others, " + std::string(profile) +
                ", where the first convolution may be cold";
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
    const std::string_view profile = row_of(kShares, network.name).profile;
    const std::vector<ComputeTime> times =
        profile.empty()
            ? roofline_times(network.architecture)
            : match_profile(network.architecture, read_text_file(data_root / "traces" / profile));
    files.push_back(
        {"traces/iteration-" + network.name + "-v100.csv",
         iteration_trace_csv(trace_of(network, times), provenance(network.name, profile))});
  }
  return files;
}

}  // namespace gradcast
