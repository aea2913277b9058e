// `traces/measured-gtopk-1gbe.csv`, from the script's figures.
#include "sim/generate/gtopk.hpp"

#include <cmath>

#include "sim/base/csv.hpp"
#include "sim/generate/generated_file.hpp"

namespace gradcast {
namespace {

/// Belongs to the dense rows of 16 and 32 workers. A test computes the figures from the rows.
constexpr std::string_view kOutside =
    "an MPI all-reduce that collapses on 1GbE: beyond compute VGG-16, AlexNet and ResNet-50 take "
    "20 to 22 ns a byte of gradient on 8 workers, 52 to 61 on 16 and 171 to 211 on 32, where a "
    "ring on a full link takes 16 to 17";

std::vector<std::string> provenance() {
  return {
      R"("A Distributed Synchronous SGD Algorithm with Global Top-k Sparsification for Low Bandwidth Networks",)",
      R"(ICDCS 2019: samples/s of each worker in realdata_speedup of)",
      R"(hclhkbu/gtopkssgd@6f57343, scripts/icdcs2019/communication.py. P102-100, one a node, 1 Gbit/s Ethernet,)",
      R"(PyTorch; OpenMPI and mpi4py, so that what is sent is staged through the CPU. k = 0.001 d, fp32.)",
      R"(iteration_seconds = batch / samples per second of a worker; compute_seconds = batch / samples per second)",
      R"(  of one worker alone: an input, not a forecast.)",
      R"(batch: the script labels all rows 32, a placeholder. The logs that its plot_breakdown names have 128 for)",
      R"(  VGG-16 and ResNet-20, 64 for AlexNet, and 256 for ResNet-50 in 16 micro-steps (ns16: accumulation). So)",
      R"(  gTop-k of AlexNet on 32 workers takes 64 / 15.777 = 4.057 s; the breakdown adds up to 4.004 s.)",
      R"(  lstm-ptb: 64 is ASSUMED. It has no breakdown, and its label 32 is a placeholder like the others':)",
      R"(  32 / 12.657 = 2.53 s for the dense run on 4 workers, but its 2 x 3/4 x 264 MB need at least 3.17 s at)",
      R"(  1 Gbit/s line rate, so the batch was at least 41; 64 is the least power of two that the wire allows.)",
      R"(  Elsewhere the same repository has 100 for it, of another paper's runs (scripts/ijcai2019/plot_loss.py),)",
      R"(  and 20 as a default (exp_configs/lstm.conf).)",
      R"(gTop-k is compressor topk with collective gtopk. wire_bytes_per_element: 16, an int64 index and an fp32)",
      R"(  value joined into an array of float64; of Top-k 8, a uint32 and an fp32 in an all-gather each.)",
      R"(fusion, overlap: allreducer.py merges all gradients, so that nothing is sent before the end of backward.)",
      R"(density: of the paper. The code that was published takes 0.004 in the first epoch (allreducer.py), and which)",
      R"(  epoch was timed is not said.)",
      R"(trace: those of a V100 lend their shares only.)",
      R"(stack: the authors call MPI from Python, without Horovod or NCCL.)",
      R"(measured_encode_seconds, measured_communication_seconds: compress and communicate of plot_breakdown, of)",
      R"(  gTop-k on 32 workers. What it counts as communicate is mostly the CPU's work on what is sent.)",
      R"(Made by generate_data.)",
  };
}

/// Rounds to the microsecond: throughputs have four to seven digits.
Seconds to_microseconds(double seconds) { return Seconds{std::round(seconds * 1e6) / 1e6}; }

/// nullptr where none is published.
const GtopkBreakdown* breakdown_of(const GtopkModel& model) {
  for (const GtopkBreakdown& each : kGtopkBreakdowns)
    if (each.model == model.model) return &each;
  return nullptr;
}

std::string row_of(const GtopkModel& model, std::size_t algorithm, std::size_t workers) {
  const auto count = [](int number) { return number > 0 ? std::to_string(number) : ""; };
  const GtopkAlgorithm& how = kGtopkAlgorithms[algorithm];
  const bool dense = how.compressor == "dense";
  const bool broken_down = how.collective == "gtopk" && kGtopkWorkers[workers] == 32;
  const GtopkBreakdown* breakdown = broken_down ? breakdown_of(model) : nullptr;
  const Seconds iteration = model.iteration_at(model.throughput[algorithm][workers]);
  return csv_line({"gtopk-icdcs2019",
                   std::string(model.model),
                   std::to_string(model.batch),
                   number_to_text(model.compute().count()),
                   "gtopk-1gbe",
                   std::to_string(kGtopkWorkers[workers]),
                   "1",
                   std::string(how.compressor),
                   dense ? "1" : "0.001",
                   "merged",
                   "no",
                   number_to_text(iteration.count()),
                   model.trace_name(),
                   dense ? "" : "cost-p102-100-pytorch",
                   std::string(how.collective),
                   count(how.wire_bytes_per_element),
                   count(how.wire_messages),
                   model.accumulation > 1 ? count(model.accumulation) : "",
                   dense && kGtopkWorkers[workers] >= 16 ? std::string(kOutside) : "",
                   breakdown == nullptr ? "" : number_to_text(breakdown->compress.count()),
                   breakdown == nullptr ? "" : number_to_text(breakdown->communicate.count()),
                   "mpi4py"});
}

}  // namespace

Seconds GtopkModel::iteration_at(double samples_per_second) const {
  return to_microseconds(batch / samples_per_second);
}

std::string GtopkModel::trace_name() const {
  return "iteration-" + std::string(model) + "-" + std::string(trace);
}

GeneratedFile gtopk_file() {
  std::string text = csv_comments(provenance()) + csv_line({"source",
                                                            "model",
                                                            "batch",
                                                            "compute_seconds",
                                                            "cluster",
                                                            "nodes",
                                                            "gpus_per_node",
                                                            "compressor",
                                                            "density",
                                                            "fusion",
                                                            "overlap",
                                                            "iteration_seconds",
                                                            "trace",
                                                            "costs",
                                                            "collective",
                                                            "wire_bytes_per_element",
                                                            "wire_messages",
                                                            "accumulation",
                                                            "outside",
                                                            "measured_encode_seconds",
                                                            "measured_communication_seconds",
                                                            "stack"});
  for (const GtopkModel& model : kGtopkModels)
    for (std::size_t algorithm = 0; algorithm < kGtopkAlgorithms.size(); ++algorithm)
      for (std::size_t workers = 0; workers < kGtopkWorkers.size(); ++workers)
        text += row_of(model, algorithm, workers);
  return {"traces/measured-gtopk-1gbe.csv", text};
}

}  // namespace gradcast
