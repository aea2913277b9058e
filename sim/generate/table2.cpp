// `traces/measured-shi2019-table2.csv`, from the table as printed.
#include "sim/generate/table2.hpp"

#include <cmath>

#include "sim/base/csv.hpp"
#include "sim/generate/generated_file.hpp"

namespace gradcast {
namespace {

std::vector<std::string> provenance() {
  return {
      R"(Table 2 of "Understanding Top-k Sparsification in Distributed Deep Learning": seconds an iteration on)",
      R"(4 nodes x 4 Tesla V100 (PCIe, 32 GB), 10GbE, batch 128 a GPU, images of 224x224, k = 0.001 d, fp32;)",
      R"(CUDA 10.1, cuDNN 7.5.0, NCCL 2.3.7, PyTorch 1.1.0, OpenMPI 4.0.1, Horovod 0.16.4.)",
      R"(compute_seconds: not printed in the paper. It is the mean over the row's four algorithms of iteration)",
      R"(  time x scaling efficiency, both of Table 2 (each is within 0.001 s of it): an input, not a forecast.)",
      R"(fusion, overlap, wire_messages, mode: from the authors' code, hclhkbu/GaussianK-SGD@3da1fb3. Its default)",
      R"(  threshold merges all gradients into one buffer, so nothing overlaps with backward; values and indices)",
      R"(  travel in an all-gather each; what the code does where it differs from the paper's text is mode "code".)",
      R"(stack: "paper" is the versions above with that code.)",
      "Made by generate_data.",
  };
}

std::string row_of(const Table2Row& row, std::size_t column) {
  const std::string compressor(kTable2Compressors[column]);
  const bool dense = compressor == "dense";
  // Top-k is the same in the paper and in the code.
  const bool two_modes = compressor == "dgc" || compressor == "gaussian";
  return csv_line({"shi2019-table2", std::string(row.model), std::to_string(kTable2Batch),
                   number_to_text(row.single_gpu_iteration().count()), "10gbe-4x4", "4", "4",
                   compressor, dense ? "1" : "0.001", "merged", "no",
                   number_to_text(row.iteration_seconds[column]), two_modes ? "code" : "",
                   dense ? "" : "2", "paper"});
}

}  // namespace

Seconds Table2Row::single_gpu_iteration() const {
  double sum = 0;
  for (std::size_t i = 0; i < iteration_seconds.size(); ++i)
    sum += iteration_seconds[i] * scaling_efficiency_percent[i] / 100;
  return Seconds{std::round(sum / static_cast<double>(iteration_seconds.size()) * 1e4) / 1e4};
}

GeneratedFile table2_file() {
  std::string text = csv_comments(provenance()) +
                     csv_line({"source", "model", "batch", "compute_seconds", "cluster", "nodes",
                               "gpus_per_node", "compressor", "density", "fusion", "overlap",
                               "iteration_seconds", "mode", "wire_messages", "stack"});
  for (const Table2Row& row : kTable2)
    for (std::size_t i = 0; i < kTable2Compressors.size(); ++i) text += row_of(row, i);
  return {"traces/measured-shi2019-table2.csv", text};
}

}  // namespace gradcast
