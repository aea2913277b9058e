// `traces/measured-two-gpus.csv` and `traces/cost-two-gpus-of-<model>.csv`, from two_gpus.hpp's
// figures.
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

// Arithmetic of two types takes as long as if each operand and the result had the widest of them:
// its kernel converts as it goes, number by number. The timers say so: a product of a number with
// int8 takes as long as one with int32. A conversion is a copy, and takes its bytes.
constexpr TorchOperator kToInt8{"to(int8)", 4 + 1};
constexpr TorchOperator kToInt32{"to(int32)", 4 + 4};
constexpr TorchOperator kMinusInt{"x - int32", 4 + 4 + 4};
constexpr TorchOperator kPlusFloat{"int32 + mask", 4 + 4 + 4};
constexpr TorchOperator kBernoulli{"bernoulli", 4 + 4};
constexpr TorchOperator kSignTimes{"int8 x int32", 4 + 4 + 4};
constexpr TorchOperator kOverLevels{"norm / levels", 0};
constexpr TorchOperator kNumberTimes{"number x levels", 4 + 4};

constexpr std::array<std::int64_t, 8> kElements = {1'024,     16'384,     262'144,    1'048'576,
                                                   4'194'304, 14'728'266, 23'520'842, 67'108'864};
constexpr std::array kTimedWorkers = {1, 16, 256};

Seconds six_digits(Seconds time) { return Seconds{rounded_to(6, time.count())}; }

constexpr std::string_view kCostProvenance =
    R"(QSGD with a shared norm as vineeths96/Gradient-Compression@e5b61b1 runs it in PyTorch (compressors.py,
  QSGDMaxNormCompressor), on a GPU that it does not name. Nothing here was timed by this project: samples
  are 0, the p95 columns repeat the others. Made by generate_data.
encode, decode (derived): its operators one by one, each max(bytes moved / bandwidth, launches x 1.83 us).
  The bandwidth is the one number that was fitted: to the timers of encode and decode of one model's four
  settings, the last line says of which. So forecasts of the other model were left out of it.
  Arithmetic of two types counts the widest of them for each number: decoding int8 takes as long there as
  decoding int32 (0.000674 and 0.000673 s of resnet-50-cifar). 1.83 us are a V100's launch.
The norm is not in encode: the source times it apart, with the wait for the other GPU.
parameter: levels, 2^bits - 1. Up to 63 they travel as int8, 255 as int32. The source all-reduces, so what it
  decodes is one sum (workers 1); of more workers each is decoded, and added to the others.)";

std::vector<std::string> cost_provenance(const TwoGpuModel& fitted_to) {
  std::vector<std::string> lines = split_words(kCostProvenance, '\n');
  lines.push_back(
      "bandwidth: " + number_to_text(rounded_to(4, bandwidth_of(fitted_to).value / 1e9)) +
      " GB/s, fitted to " + std::string(fitted_to.model) + ".");
  return lines;
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
  const OperatorCall add{torch_operators::kAdd, static_cast<double>(elements)};
  row.decode = row.decode_p95 =
      six_digits(workers * time_of(calls_of(two_gpu_decode(), elements), device) +
                 (workers - 1) * time_of(add, device));
  row.evidence = "derived";
  return row;
}

constexpr std::string_view kMeasuredProvenance =
    R"(Two GPUs of one machine, not named, PyTorch with NCCL, CIFAR-10, 128 images a GPU: timers of rank 0 in
  vineeths96/Gradient-Compression@e5b61b1 (MIT), seconds of each phase. Medians of the runs of a setting: of
  vgg-16-cifar 5 dense and 3 with 6 bits, of resnet-50-cifar 3 dense, of all others one run.
  Left out: five dense runs whose all-reduce took 2.4 to 18 times the fastest (0.041 to 0.046 s, 0.462 s);
  runs with two scales and with quantised Rand-k, which are no compressors of this project; and PowerSGD,
  whose timers (0.1 ms to make a tensor's P orthonormal) are mostly of launches by Python, which no cost table has.
qsgd: QSGDMaxNormReducer; the norm is the largest magnitude of both GPUs (one more all-reduce), and levels,
  2^bits - 1 of them, are all-reduced as int8, with 8 bits as int32.
compute_seconds: forward, backward and step of the dense runs: an input, not a forecast. 10 to 12 ms of each
  iteration of resnet-50-cifar are in no timer but the whole's and that of evaluation; they are in no column.
measured_encode_seconds: reduce.compress; measured_decode_seconds: reduce.decompress;
  measured_communication_seconds: reduce.reduce.vector, of dense runs reduce.allreduce. Not in them: packing
  all gradients into one vector and back (9 to 11 ms of resnet-50-cifar with qsgd), the norm (1 ms, with its wait).
cluster, costs: the link's bandwidth is that of the other model's dense all-reduce, and the GPU's that of the
  other model's timers. So every row is forecast left out of what was fitted.
Made by generate_data.)";

std::string measured_row(const TwoGpuModel& model, const TwoGpuModel& other,
                         const TimedQsgd* qsgd) {
  const auto text = [](Seconds time) { return number_to_text(time.count()); };
  return csv_line({"two-gpus",
                   std::string(model.model),
                   "128",
                   number_to_text(rounded_to(6, model.compute().count())),
                   "two-gpus-of-" + std::string(other.model),
                   "1",
                   "2",
                   qsgd != nullptr ? "qsgd" : "dense",
                   "1",
                   qsgd != nullptr ? std::to_string(qsgd->levels()) : "",
                   "merged",
                   "no",
                   text(qsgd != nullptr ? qsgd->iteration : model.dense_iteration),
                   std::string(model.trace),
                   qsgd != nullptr ? "cost-two-gpus-of-" + std::string(other.model) : "",
                   "ring-all-reduce",
                   qsgd != nullptr ? std::to_string(qsgd->wire_bytes()) : "",
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

Passes two_gpu_decode() { return {kOverLevels, kNumberTimes}; }

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

std::vector<GeneratedFile> two_gpus_cost_files() {
  std::vector<GeneratedFile> files;
  for (const TwoGpuModel& fitted_to : {kTwoGpuVgg, kTwoGpuResnet}) {
    const PublishedGpu device = two_gpu_device(bandwidth_of(fitted_to));
    CostTable table{"cost-two-gpus-of-" + std::string(fitted_to.model), {}};
    for (const TimedQsgd& timed : fitted_to.qsgd)
      for (const std::int64_t elements : kElements)
        for (const int workers : kTimedWorkers)
          table.rows.push_back(cost_row(timed, elements, workers, device));
    files.push_back(
        {"traces/" + table.name + ".csv", cost_table_csv(table, cost_provenance(fitted_to))});
  }
  return files;
}

GeneratedFile two_gpus_file() {
  std::string text = csv_comments(split_words(kMeasuredProvenance, '\n')) +
                     csv_line({"source",
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
                               "measured_encode_seconds",
                               "measured_decode_seconds",
                               "measured_communication_seconds"});
  const auto append = [&](const TwoGpuModel& model, const TwoGpuModel& other) {
    text += measured_row(model, other, nullptr);
    for (const TimedQsgd& timed : model.qsgd) text += measured_row(model, other, &timed);
  };
  append(kTwoGpuVgg, kTwoGpuResnet);
  append(kTwoGpuResnet, kTwoGpuVgg);
  return {"traces/measured-two-gpus.csv", text};
}

}  // namespace gradcast
