// `traces/measured-two-gpus.csv` and `traces/cost-two-gpus-pytorch.csv`.
#include "sim/generate/two_gpus.hpp"

#include <cmath>
#include <string>

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/generate/torch_compressors.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {
namespace {

// Operators of two types move as many bytes of each operand and of the result as the widest has:
// each lane then loads and stores one number, and a byte takes it as long as a word. The timers say
// so: a product of a number with int8 takes as long as one with int32.
constexpr TorchOperator kToInt8{"to(int8)", 4 + 4};
constexpr TorchOperator kToInt32{"to(int32)", 4 + 4};
constexpr TorchOperator kMinusInt{"x - int32", 4 + 4 + 4};
constexpr TorchOperator kPlusFloat{"int32 + mask", 4 + 4 + 4};
constexpr TorchOperator kBernoulli{"bernoulli", 4 + 4};
constexpr TorchOperator kSignTimes{"int8 x int32", 4 + 4 + 4};
constexpr TorchOperator kNumberTimes{"number x levels", 4 + 4};

constexpr std::array<std::int64_t, 8> kElements = {1'024,     16'384,     262'144,    1'048'576,
                                                   4'194'304, 14'728'266, 23'520'842, 67'108'864};
constexpr std::array kWorkers = {1, 16, 256};

Seconds six_digits(Seconds time) { return Seconds{rounded_to(6, time.count())}; }

std::vector<std::string> cost_provenance(BytesPerSecond bandwidth) {
  return {"QSGD with a shared norm as " + std::string(kTwoGpuSource) +
              " runs it in PyTorch (compressors.py,",
          "  QSGDMaxNormCompressor), on a GPU that it does not name. Nothing here was timed by "
          "this project: samples",
          "  are 0, the p95 columns repeat the others. Made by generate_data.",
          "encode, decode (derived): its operators one by one, each max(bytes moved / " +
              number_to_text(rounded_to(4, bandwidth.value / 1e9)) + " GB/s, launches x 1.83 us).",
          "  The bandwidth is the one number that was fitted: to the timers of vgg-16-cifar, "
          "encode and decode of four",
          "  settings. So forecasts of resnet-50-cifar were left out of it, and those of "
          "vgg-16-cifar were not.",
          "  Operators of two types move as many bytes of each number as the widest type has: "
          "decoding int8 takes as",
          "  long there as decoding int32 (0.000674 and 0.000673 s of resnet-50-cifar).",
          "The norm is not in encode: the source times it apart, with the wait for the other GPU.",
          "parameter: levels, 2^bits - 1. Up to 63 they travel as int8, 255 as int32. What is "
          "decoded is one sum."};
}

CostRow cost_row(const TimedQsgd& timed, std::int64_t elements, int workers,
                 const PublishedGpu& device) {
  CostRow row;
  row.compressor = "qsgd";
  row.implementation = "torch";
  row.parameter = timed.levels();
  row.elements = elements;
  row.density = 1;
  row.workers = workers;
  row.distribution = "normal";
  row.selected = static_cast<double>(elements);
  row.encode = row.encode_p95 =
      six_digits(time_of(calls_of(two_gpu_encode(timed.bits), elements), device));
  row.decode = row.decode_p95 = six_digits(time_of(calls_of(two_gpu_decode(), elements), device));
  row.evidence = "derived";
  return row;
}

std::vector<std::string> measured_provenance() {
  return {
      "Two GPUs of one machine, not named, PyTorch with NCCL, CIFAR-10, 128 images a GPU: timers "
      "of rank 0 in",
      "  " + std::string(kTwoGpuSource) + " (MIT), seconds of each phase. Medians of the runs of a",
      "  setting: of vgg-16-cifar 5 dense and 3 with 6 bits, of resnet-50-cifar 3 dense, of all "
      "others one run.",
      "  Left out: five dense runs whose all-reduce took 2.5 to 17 times the fastest (0.041 to "
      "0.046 s, 0.462 s);",
      "  runs with two scales and with quantised Rand-k, which are no compressors of this project; "
      "and PowerSGD,",
      "  whose timers (per tensor, 0.1 ms to make P orthonormal) are of Python's launches, which "
      "no cost table has.",
      "qsgd: QSGDMaxNormReducer; the norm is the largest magnitude of both GPUs (one more "
      "all-reduce), and levels,",
      "  2^bits - 1 of them, are all-reduced as int8, with 8 bits as int32.",
      "compute_seconds: forward, backward and step of the dense runs: an input, not a forecast.",
      "measured_encode_seconds: reduce.compress; measured_decode_seconds: reduce.decompress;",
      "  measured_communication_seconds: reduce.reduce.vector, of dense runs reduce.allreduce. Not "
      "in them: packing",
      "  all gradients into one vector and back (9 to 11 ms of resnet-50-cifar), the norm (1 ms, "
      "with its wait).",
      "cluster: the link is that of vgg-16-cifar's dense all-reduce; costs: the bandwidth of the "
      "GPU is that of its",
      "  timers. So its rows are outside, and those of resnet-50-cifar are forecast left out.",
      "Made by generate_data."};
}

std::string measured_row(const TwoGpuModel& model, const TimedQsgd* qsgd) {
  const bool fitted_to = model.model == kTwoGpuVgg.model;
  const auto text = [](Seconds time) { return number_to_text(time.count()); };
  return csv_line({"two-gpus",
                   std::string(model.model),
                   "128",
                   number_to_text(rounded_to(6, model.compute().count())),
                   "two-gpus",
                   "1",
                   "2",
                   qsgd != nullptr ? "qsgd" : "dense",
                   "1",
                   qsgd != nullptr ? std::to_string(qsgd->levels()) : "",
                   "merged",
                   "no",
                   text(qsgd != nullptr ? qsgd->iteration : model.dense_iteration),
                   std::string(model.trace),
                   qsgd != nullptr ? "cost-two-gpus-pytorch" : "",
                   "ring-all-reduce",
                   qsgd != nullptr ? std::to_string(qsgd->wire_bytes()) : "",
                   fitted_to ? "the link's and the GPU's bandwidth were fitted to its timers" : "",
                   qsgd != nullptr ? text(qsgd->encode) : "",
                   qsgd != nullptr ? text(qsgd->decode) : "",
                   text(qsgd != nullptr ? qsgd->all_reduce : model.dense_all_reduce)});
}

}  // namespace

Passes two_gpu_encode(int bits) {
  using namespace torch_operators;
  Passes passes{kSign,     kToInt8, kAbs,       kDivide,    kTimes,   kToInt32,
                kMinusInt, kClamp,  kBernoulli, kPlusFloat, kToInt32, kSignTimes};
  if (bits < 8) passes.push_back(kToInt8);  // it is int32 already
  return passes;
}

Passes two_gpu_decode() { return {kNumberTimes}; }

PublishedGpu two_gpu_device(BytesPerSecond bandwidth) {
  return {"one of two-gpus", 0, bandwidth, kV100.launch, Seconds{0}};
}

BytesPerSecond bandwidth_of(const TwoGpuModel& model) {
  double logarithms = 0;
  int count = 0;
  const auto add = [&](const Passes& passes, Seconds time) {
    double bytes = 0;
    for (const TorchOperator& each : passes) bytes += each.bytes_per_element;
    logarithms += std::log(bytes * static_cast<double>(model.elements) / time.count());
    ++count;
  };
  for (const TimedQsgd& timed : model.qsgd) {
    add(two_gpu_encode(timed.bits), timed.encode);
    add(two_gpu_decode(), timed.decode);
  }
  return {std::exp(logarithms / count)};
}

GeneratedFile two_gpus_cost_file() {
  const BytesPerSecond bandwidth = bandwidth_of(kTwoGpuVgg);
  const PublishedGpu device = two_gpu_device(bandwidth);
  CostTable table{"cost-two-gpus-pytorch", {}};
  for (const TimedQsgd& timed : kTwoGpuVgg.qsgd)
    for (const std::int64_t elements : kElements)
      for (const int workers : kWorkers)
        table.rows.push_back(cost_row(timed, elements, workers, device));
  return {"traces/" + table.name + ".csv", cost_table_csv(table, cost_provenance(bandwidth))};
}

GeneratedFile two_gpus_file() {
  std::string text =
      csv_comments(measured_provenance()) + csv_line({"source",
                                                      "model",
                                                      "batch",
                                                      "compute_seconds",
                                                      "cluster",
                                                      "nodes",
                                                      "gpus_per_node",
                                                      "compressor",
                                                      "density",
                                                      "parameter",
                                                      "fusion",
                                                      "overlap",
                                                      "iteration_seconds",
                                                      "trace",
                                                      "costs",
                                                      "collective",
                                                      "wire_bytes_per_element",
                                                      "outside",
                                                      "measured_encode_seconds",
                                                      "measured_decode_seconds",
                                                      "measured_communication_seconds"});
  for (const TwoGpuModel& model : {kTwoGpuVgg, kTwoGpuResnet}) {
    text += measured_row(model, nullptr);
    for (const TimedQsgd& timed : model.qsgd) text += measured_row(model, &timed);
  }
  return {"traces/measured-two-gpus.csv", text};
}

}  // namespace gradcast
