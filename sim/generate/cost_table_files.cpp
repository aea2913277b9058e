// `traces/cost-v100-pytorch-1.1.csv`: costs of the authors' compressors on the paper's V100.
// `traces/cost-p102-100-pytorch.csv`: costs of their Top-k on the GPU of their gTop-k.
// `traces/cost-h20-pytorch-2.6.csv`: those that call torch.topk or randperm, by a PyTorch of today.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/generate/torch_compressors.hpp"
#include "sim/generate/torch_packers.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {
namespace {

// Powers of four, the models of Table 2 (AlexNet, VGG-16, ResNet-50, Inception-v4) and the end of
// Fig. 4's range. The smallest are below the biases of a network.
constexpr std::array<std::int64_t, 18> kElements = {
    16,         64,         256,        1'024,       4'096,       16'384,
    65'536,     262'144,    1'048'576,  4'194'304,   16'777'216,  25'557'032,
    42'679'816, 61'100'840, 67'108'864, 138'357'544, 268'435'456, 400'000'000};
constexpr std::array kDensities = {0.0001, 0.001, 0.004, 0.01, 0.1};
// Decoding is linear in the workers: two would do, the paper's 16 stands between them to be read.
constexpr std::array kWorkers = {1, 16, 256};

constexpr std::string_view kProvenance =
    R"(The compressors of "Understanding Top-k Sparsification in Distributed Deep Learning" as its authors
run them (hclhkbu/GaussianK-SGD@3da1fb3), in PyTorch 1.1 on a V100 PCIe. Nothing here was timed by
this project: samples are 0, the p95 columns repeat the others. Made by generate_data.
topk, encode: 4.99671953e-10 s x n log2 n, the authors' fit of torch.topk on V100, PyTorch up to 1.1 (a
  comment in utils.py of their MG-WFBP): published for k = 0.001 n, taken to hold for any k (derived);
  no less than two launches.
all else (derived; decode of topk too): the operators of compression.py and distributed_optimizer.py
  one by one, each max(bytes moved / 765 GB/s, launches x 1.83 us), a torch.topk among them by the fit.
  765 GB/s is 85 % of NVIDIA's 900 GB/s; CSCS expects 777.8 GB/s of copies and 1.83 us a launch on its
  V100s (reframe-hpc/reframe, memory_bandwidth.py@fc5ad89, kernel_latency.py@cea65e1). Waits of the
  host and what Python adds are not in it.
randk, dgc: randperm(n) sorts 64-bit keys and values, 10 passes of 7 bits, 416 bytes an element; the
  sort may take 1.7 times what its bytes do (sources and assumptions: sim/generate/torch_operators.hpp).
mode code, as the repository runs: dgc takes the k-th of a 1 % sample, so about 100 k candidates pass,
  and has no rows above density 0.01, where it raises an error; gaussian has a two-sided quantile and 3
  evaluations at most; trimmed (redsynctrim) sends all above its threshold.
mode paper: dgc with k scaled to the sample, gaussian with the quantile of one side and 4 evaluations,
  trimmed with a final Top-k.
trimmed: the largest of n magnitudes is taken as the normal quantile 1 - 1/(2n). selected jumps where
  another step of the threshold is needed: do not trust it between the sizes of this table.
rtopk: no code of its authors is known; torch.topk for 5 k, then k of those by randperm.
threshold: one look at the magnitudes, as GRACE has it; density is the share that passes.
casts, quantisers, powersgd: the operators that their definitions take (kernels/packing.hpp), one by one, as
  frameworks run them in Python; codes are bytes. parameter: levels, block, clip or rank. powersgd is of a
  square matrix, in one call: its two products read it once each (sim/generate/torch_packers.cpp).
selected: expected of independent normal elements, rounded. dense has no rows: it encodes nothing.)";

/// torch.topk on P102-100, as the authors of gTop-k timed it: "compress" in their breakdown.
struct TimedTopk {
  std::int64_t elements;
  Seconds encode;
};
constexpr TimedTopk kTimedTopk[] = {{269'722, Seconds{0.001618}},      // ResNet-20
                                    {14'728'266, Seconds{0.091353}},   // VGG-16 on CIFAR-10
                                    {25'557'032, Seconds{0.15405}},    // ResNet-50
                                    {61'100'840, Seconds{0.383776}}};  // AlexNet

// Powers of four, but for 16,777,216, where the fit is below what was timed of fewer elements; the
// timed ones; and past the largest network twice, so that LSTM-PTB is inside.
constexpr std::array<std::int64_t, 16> kP102Elements = {
    16,      64,        256,       1'024,      4'096,      16'384,     65'536,      262'144,
    269'722, 1'048'576, 4'194'304, 14'728'266, 25'557'032, 61'100'840, 134'217'728, 268'435'456};
constexpr double kP102Density = 0.001;

constexpr std::string_view kP102Provenance =
    R"(Top-k on P102-100, as the authors of "A Distributed Synchronous SGD Algorithm with Global Top-k
Sparsification for Low Bandwidth Networks" (ICDCS 2019) ran it in PyTorch, k = 0.001 n. Nothing here
was timed by this project: samples are 0, the p95 columns repeat the others. Made by generate_data.
encode, published: of 269722, 14728266, 25557032 and 61100840 elements, "compress" of the breakdown in
  hclhkbu/gtopkssgd@6f57343, scripts/icdcs2019/communication.py (ResNet-20, VGG-16, ResNet-50, AlexNet).
encode, derived: of all other sizes 2.18896957e-10 s x n log2 n, the authors' fit of torch.topk on
  P102-100 (a comment in utils.py of their MG-WFBP); no less than two launches.
The timed are 1.11 to 1.52 times the fit, and so the table steps up to each. Sizes between a timed one
  and where the fit overtakes it have no rows: times would fall there.
decode (derived): the operators of distributed_optimizer.py in hclhkbu/GaussianK-SGD@3da1fb3 one by one,
  each max(bytes moved / 374 GB/s, launches x 1.83 us). 374 GB/s is 85 % of 320 bits at 11 Gbit/s; the
  launch is a V100's. Waits of the host and what Python adds are not in it.)";

/// Up to four times the largest size that was timed.
constexpr std::array<std::int64_t, 9> kH20Elements = {1'024,       65'536,        1'048'576,
                                                      4'194'304,   25'557'032,    138'357'544,
                                                      400'000'000, 1'000'000'000, 4'000'000'000};

constexpr std::string_view kH20Provenance =
    R"(The compressors of "Understanding Top-k Sparsification in Distributed Deep Learning" that call
torch.topk or randperm, by PyTorch 2.6 on an H20. torch.topk: all multiprocessors select there since 1.12, and one block did
before (pytorch/pytorch#71081, #74267). Nothing here was timed by this project: samples are 0, the p95
columns repeat the others. Made by generate_data.
torch.topk: 0.100 ms + 34.6 ps an element, the line through what was published of 1 M and 100 M elements
  (pytorch/pytorch#164459, top 100; 1 G took 5 % longer), taken to hold for any k (derived). Below 1 M
  less is likely.
topk, encode: that, a sort of the selected, and residual, abs and the copy beside it. All other operators as in
  cost-v100-pytorch-1.1, each max(bytes moved / 3,400 GB/s, launches x 1.83 us): 85 % of NVIDIA's 4,000
  GB/s, and the V100's launch. randperm sorts fewer bits since 1.9, in passes of 8: 256 bytes an element
  of 50 M (sim/generate/torch_operators.cpp).
mode code and paper: as in cost-v100-pytorch-1.1.
low_factor, high_factor: 0.7 to 2.4 where torch.topk is called, as 80 M elements take an MI300X 2.4 times what
  34.6 ps each are at its bandwidth (ROCm/pytorch#1848: 5.05 ms); 0.7 to 1.7 of randk (the sort, as there).
selected: expected of independent normal elements, rounded.)";

/// Rounds, so that the file does not depend on the last bit of a library's result.
Seconds six_digits(Seconds time) { return Seconds{rounded_to(6, time.count())}; }

CostRow cost_row(const TorchCompressor& compressor, std::int64_t elements, double density,
                 int workers, const PublishedGpu& device) {
  const TorchEncoding encoding = compressor.encode(elements, density);
  CostRow row;
  row.compressor = compressor.name;
  row.mode = compressor.mode;
  row.implementation = "torch";
  row.elements = elements;
  row.density = density;
  row.workers = workers;
  row.distribution = "normal";
  row.selected = std::round(encoding.selected);
  row.encode = row.encode_p95 = six_digits(time_of(encoding.calls, device));
  row.decode = row.decode_p95 =
      six_digits(time_of(torch_decoding(elements, encoding.selected, workers), device));
  row.evidence = density == compressor.published_density ? "published" : "derived";
  return row;
}

CostRow packer_row(const TorchPacker& packer, std::int64_t elements, int workers) {
  CostRow row;
  row.compressor = packer.name;
  row.mode = packer.mode;
  row.implementation = "torch";
  row.parameter = packer.parameter;
  row.elements = elements;
  row.density = 1;
  row.workers = workers;
  row.distribution = "normal";
  row.selected = static_cast<double>(elements);
  row.encode = row.encode_p95 = six_digits(time_of(calls_of(packer.encode, elements)));
  row.decode = row.decode_p95 =
      six_digits(workers * time_of(calls_of(packer.decode_each, elements)) +
                 time_of(calls_of(packer.decode_all, elements)));
  row.evidence = "derived";
  return row;
}

GeneratedFile file_of(const CostTable& table, std::string_view provenance) {
  return {"traces/" + table.name + ".csv", cost_table_csv(table, split_words(provenance, '\n'))};
}

GeneratedFile v100_file() {
  CostTable table{"cost-v100-pytorch-1.1", {}};
  for (const TorchCompressor& compressor : torch_compressors())
    for (const double density : kDensities)
      for (const std::int64_t elements : kElements)
        for (const int workers : kWorkers)
          if (density <= compressor.max_density)
            table.rows.push_back(cost_row(compressor, elements, density, workers, kV100));
  for (const TorchPacker& packer : torch_packers())
    for (const std::int64_t elements : kElements)
      for (const int workers : kWorkers)
        table.rows.push_back(packer_row(packer, elements, workers));
  return file_of(table, kProvenance);
}

GeneratedFile p102_file() {
  CostTable table{"cost-p102-100-pytorch", {}};
  const TorchCompressor& topk = torch_compressors().front();
  for (const std::int64_t elements : kP102Elements)
    for (const int workers : kWorkers) {
      CostRow row = cost_row(topk, elements, kP102Density, workers, kP102);
      const auto* timed = std::ranges::find(kTimedTopk, elements, &TimedTopk::elements);
      if (timed != std::end(kTimedTopk)) row.encode = row.encode_p95 = timed->encode;
      row.evidence = timed != std::end(kTimedTopk) ? "published" : "derived";
      table.rows.push_back(std::move(row));
    }
  return file_of(table, kP102Provenance);
}

/// True where an operator of today differs from PyTorch 1.1's.
bool differs_today(const TorchCompressor& compressor) {
  const TorchEncoding encoding = compressor.encode(1'000'000, 0.001);
  return std::any_of(encoding.calls.begin(), encoding.calls.end(),
                     [](const OperatorCall& call) { return call.op.compares || call.op.permutes; });
}

GeneratedFile h20_file() {
  CostTable table{"cost-h20-pytorch-2.6", {}};
  for (const TorchCompressor& compressor : torch_compressors()) {
    if (!differs_today(compressor)) continue;
    for (const double density : kDensities)
      for (const std::int64_t elements : kH20Elements)
        for (const int workers : {1, 256}) {
          if (density > compressor.max_density) continue;
          CostRow row = cost_row(compressor, elements, density, workers, kH20);
          if (compressor.name == "topk") {
            const Seconds beside = time_of(beside_topk(elements, row.selected), kH20);
            row.encode = row.encode_p95 = six_digits(row.encode + beside);
          }
          row.evidence = "derived";
          row.factors = {0.7, compressor.name == "randk" ? 1.7 : 2.4};
          table.rows.push_back(std::move(row));
        }
  }
  return file_of(table, kH20Provenance);
}

}  // namespace

std::vector<GeneratedFile> cost_table_files() { return {v100_file(), p102_file(), h20_file()}; }

}  // namespace gradcast
