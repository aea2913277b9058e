// `traces/iteration-<model>-<device>.csv`: totals as published, shares from measured profiles or
// from a roofline.
#include <algorithm>
#include <cmath>
#include <ranges>
#include <stdexcept>

#include "sim/generate/generated_file.hpp"
#include "sim/generate/gtopk.hpp"
#include "sim/generate/networks.hpp"
#include "sim/generate/profile.hpp"
#include "sim/generate/published_gpu.hpp"
#include "sim/generate/table2.hpp"
#include "sim/generate/torch_operators.hpp"
#include "sim/inputs/iteration_trace.hpp"

namespace gradcast {
namespace {

/// The time of an iteration on one GPU alone, and its source.
struct Total {
  std::string model;
  std::string file;  // in traces/
  const PublishedGpu& device;
  int batch;  // per GPU
  Seconds iteration;
  std::vector<std::string> source;  // comment lines; the figure comes before the first
};

struct MgWfbpTotal {
  std::string_view model;
  int batch;
  Seconds iteration;
};

/// "computation" in fp32 of the plotting scripts of MG-WFBP's TPDS paper (arXiv 1912.09268).
constexpr MgWfbpTotal kMgWfbp[] = {
    {"resnet-152", 128, Seconds{0.883118444}},
    {"densenet-161", 64, Seconds{0.47765481}},
    {"densenet-201", 64, Seconds{0.360877356}},
};

/// "no ddp" of PyTorch's own benchmark of DDP, on one V100 of a DGX-1, which is an SXM2.
struct DdpReadmeTotal {
  std::string_view model;
  Seconds iteration;
};

constexpr int kDdpReadmeBatch = 32;
constexpr DdpReadmeTotal kDdpReadme[] = {
    {"resnext-50-32x4d", Seconds{0.145}},
    {"resnext-101-32x8d", Seconds{0.415}},
};

/// The source of a model's shares.
struct Shares {
  std::string_view model;
  std::string_view profile;  // a file in traces/
};

/// No profile is published for the other models. Their shares come from a roofline.
constexpr Shares kShares[] = {
    {"alexnet", "profile-alexnet-pipedream.csv"},
    {"vgg-16", "profile-vgg-16-pipedream.csv"},
    {"resnet-50", "profile-resnet-50-pipedream.csv"},
};

std::string v100_file(std::string_view model) {
  return "iteration-" + std::string(model) + "-v100";
}

Total total_of(const Table2Row& row) {
  return {
      std::string(row.model),
      v100_file(row.model),
      kV100,
      kTable2Batch,
      row.single_gpu_iteration(),
      {"one GPU alone in Table 2 of",
       R"(  "Understanding Top-k Sparsification in Distributed Deep Learning": the mean over its)",
       "  four algorithms of iteration time x scaling efficiency (derived)"}};
}

Total total_of(const MgWfbpTotal& row) {
  return {std::string(row.model),
          v100_file(row.model),
          kV100,
          row.batch,
          row.iteration,
          {"one GPU alone in the plotting scripts of MG-WFBP's TPDS paper",
           R"(  (arXiv 1912.09268): "computation" in fp32, taken to have the update in it)"}};
}

Total total_of(const DdpReadmeTotal& row) {
  return {
      std::string(row.model),
      v100_file(row.model),
      kV100Sxm2,
      kDdpReadmeBatch,
      row.iteration,
      {"one GPU alone without DDP, median: pytorch/pytorch@bf69c14,",
       "  benchmarks/distributed/ddp/README.md (PyTorch 1.4.0a0, fp32), which has the update in "
       "it"}};
}

Total total_of(const GtopkModel& row) {
  return {
      std::string(row.model),
      row.trace_name(),
      kP102,
      row.batch,
      row.compute(),
      {std::to_string(row.batch) + " samples at " + number_to_text(row.alone) +
           " samples/s of one GPU alone in",
       "  " + std::string(kGtopkScript),
       "  (measured-gtopk-1gbe.csv says where the batch comes from), taken to have the update in "
       "it",
       "The device's 10.8 TFLOP/s and 440 GB/s, of which 85 %, are a GP102's of 3,200 cores at "
       "1.683 GHz",
       "  and 320 bits at 11 Gbit/s, as card databases list it; a launch is taken to be a "
       "V100's."}};
}

std::vector<Total> totals() {
  std::vector<Total> all;
  for (const Table2Row& row : kTable2) all.push_back(total_of(row));
  for (const MgWfbpTotal& row : kMgWfbp) all.push_back(total_of(row));
  for (const DdpReadmeTotal& row : kDdpReadme) all.push_back(total_of(row));
  for (const GtopkModel& row : kGtopkModels)
    if (row.trace != "v100") all.push_back(total_of(row));
  return all;
}

/// "" if no profile is published.
std::string_view profile_of(const Total& total) {
  const auto* shares = std::ranges::find(kShares, total.model, &Shares::model);
  return shares == std::end(kShares) ? "" : shares->profile;
}

/// `times`: one for each operator with parameters.
IterationTrace trace_of(const Network& network, const Total& total,
                        const std::vector<ComputeTime>& times) {
  const Model model = model_of(network.name, network.architecture);
  IterationTrace trace;
  trace.device = total.device.name;
  trace.batch = total.batch;
  trace.update = torch_update_time(model, total.device);
  trace.optimizer = Optimizer::Momentum;
  ComputeTime raw;
  for (const ComputeTime& time : times) {
    raw.forward += time.forward;
    raw.backward += time.backward;
  }
  const double factor = (total.iteration - trace.update) / (raw.forward + raw.backward);
  for (const TensorTime& time : tensor_times(network.architecture.operators(), times))
    trace.tensors.push_back({time.tensor, rounded_to_nanosecond(time.forward * factor),
                             rounded_to_nanosecond(time.backward * factor)});
  return trace;
}

/// A rate for people, to two digits behind the point.
std::string rate_text(double rate) { return number_to_text(std::round(100 * rate) / 100); }

std::vector<std::string> provenance(const Total& total, std::string_view profile) {
  const std::string bandwidth = rate_text(total.device.bandwidth.value / 1e9) + " GB/s";
  std::vector<std::string> lines = total.source;
  lines[0] = "total: " + number_to_text(total.iteration.count()) + " s, " + lines[0];
  lines.push_back(profile.empty() ? "shares: a roofline (derived): each operator at " +
                                        rate_text(total.device.flops_per_second / 1e12) +
                                        " TFLOP/s or " + bandwidth + ", whichever is slower"
                                  : "shares: measured by others, " + std::string(profile) +
                                        ", where the first convolution may be cold");
  lines.insert(lines.end(),
               {"The update is derived: SGD with momentum and weight decay as four PyTorch 1.1 "
                "operators a",
                "  tensor, each max(bytes moved / " + bandwidth + ", " +
                    rate_text(total.device.launch.count() * 1e6) + " us a launch)",
                "Nothing here was timed by this project. Made by generate_data."});
  return lines;
}

}  // namespace

std::vector<GeneratedFile> iteration_trace_files(const std::filesystem::path& data_root) {
  std::vector<GeneratedFile> files;
  for (const Total& total : totals()) {
    const Network& network = network_named(total.model);
    const std::string_view profile = profile_of(total);
    const std::vector<ComputeTime> times =
        profile.empty()
            ? roofline_times(network.architecture.operators(), total.batch, peaks_of(total.device))
            : match_profile(network.architecture, read_text_file(data_root / "traces" / profile));
    files.push_back(
        {"traces/" + total.file + ".csv",
         iteration_trace_csv(trace_of(network, total, times), provenance(total, profile))});
  }
  return files;
}

}  // namespace gradcast
