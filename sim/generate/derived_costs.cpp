// `traces/cost-v100-derived.csv`: the costs of all of this project's compressors, up to 8 G
// elements and of 16-bit gradients too. Forecasts of GPUs that were never timed scale them to the
// GPU at hand (sim/forecast/usual_costs.hpp).
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/compressor.hpp"
#include "kernels/floor_bytes.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/generate/simulated_laws.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kSimulatedRun = "traces/simulated-v100.csv";

// Sizes that ran, and others. Between these, times are straight lines, which interpolation follows,
// but for decoding packed codes: where latency ends and throughput begins, sizes lie closer.
constexpr std::array<std::int64_t, 7> kSparseSizes = {
    4'096, 20'000, 262'144, 1'048'576, 4'194'304, 67'108'864, kMostCostElements};
constexpr std::array<std::int64_t, 9> kPackedSizes = {4'096,      20'000,      262'144,
                                                      1'048'576,  2'097'152,   4'194'304,
                                                      16'777'216, 134'217'728, kMostCostElements};
constexpr std::array<std::int64_t, 7> kMatrixSizes = {
    4'096, 16'384, 262'144, 1'048'576, 16'777'216, 134'217'728, kMostCostElements};
constexpr int kDerivedWorkers[] = {1, 4096};  // decoding is a straight line in these
constexpr NumberType kInputs[] = {NumberType::Fp32, NumberType::Bf16, NumberType::Fp16};

// Densities that ran (kSparse, kDense), and densities derived from them.
constexpr double kSparse = 0.001;
constexpr double kDense = 0.01;
constexpr double kSparser = 0.0001;
constexpr double kDenser = 0.1;
/// A selected element's value and index are written as a candidate, read, and written.
constexpr double kBytesOfSelected = 24;

constexpr double kHighOfRun = 1.5;
constexpr double kHighOfDenser = 2;
constexpr double kHighOfLowRank = 2;

constexpr std::string_view kDerivedProvenance =
    R"(NOT MEASURED: no GPU has run these kernels. What all of the project's compressors would cost on a V100, derived from
those that ran cycle by cycle on GPGPU-Sim's V100 (870.4 GB/s, traces/simulated-v100.csv). Forecasts of another GPU of
traces/devices.csv scale them to it, where no other cost table is named. Made by generate_data.
All encodes: sizes that ran as in cost-v100-simulated (evidence simulated); all others by its laws, which go on to 2^33
  elements in proportion to the bytes. Kernels take 2^31 - 1 elements a call: larger buckets need several, whose launches
  are left out.
sparsifiers: density 0.0001 costs what 0.001 does. 0.1 goes on in the line from 0.001 to 0.01, and moves at least 24 bytes
  more a selected element. Their decode did not run: the bytes of cost-v100-floor at the share of the bandwidth that a
  simulated stream reaches, and one launch.
casts, quantisers: the usual parameter. Payloads of large tensors are decoded as in one run of 1,048,576 elements and 2 or
  4 workers; if there was none, at the least share of the bandwidth of the others. powersgd: one square matrix in mode code,
  its rank as the parameter.
input_type: 16-bit gradients save 2 bytes an element each time that encode reads them. Residual and sum stay in fp32.
low_factor, high_factor: the true time is thought to lie, at 90 %, between these multiples of what is said. No measurement
  stands behind them. low: the bytes at the whole bandwidth, which nothing can beat; of casts, quantisers and powersgd with
  the simulator's launches. high, chosen: 1.5 where kernels ran (PTX is not SASS, memory is in order, and the laws are off
  by 14 % at most), 2 at density 0.1 and for powersgd, whose large matrices of rank 1, 2, 8 and 32 did not run. Scaling to
  another GPU adds to high what its multiprocessors say.)";

Seconds nanoseconds(Seconds time) { return Seconds{std::round(time.count() * 1e9) / 1e9}; }

double rounded_factor(double value) { return std::round(value * 1e4) / 1e4; }

class DerivedCosts {
 public:
  explicit DerivedCosts(const TextFile& file)
      : kernels_(load_simulated_kernels(file)),
        share_(streamed_share(kernels_, file)),
        lines_(sparse_lines(simulated_calls(kernels_))),
        whole_(kernels_, share_, file) {
    for (const auto& [key, line] : lines_) {
      const std::vector<SimulatedCall> large = large_tensors(line);
      if (large.empty())
        throw DataError(file.path.string(), 0, "has no large tensor of " + key.first);
      laws_[key] = fit_sparse_law(large, share_);
    }
  }

  CostTable table() {
    for (const Compressor* compressor : all_compressors()) {
      if (compressor->family == Family::Sparsifier) add_sparsifier(*compressor);
      if (compressor->packing != nullptr) add_packer(*compressor);
      if (compressor->low_rank != nullptr)
        for (const double rank : kSimulatedRanks) add_low_rank(*compressor, rank);
    }
    return std::move(table_);
  }

 private:
  Seconds streamed(double bytes) const {
    return Seconds{bytes / (share_ * SimulatedV100::kBytesPerSecond)};
  }
  static double saved(NumberType input) { return input == NumberType::Fp32 ? 0 : 2; }

  const SimulatedCall* ran(const Compressor& compressor, std::int64_t elements,
                           double density) const {
    const auto& line = lines_.at({std::string(compressor.name), density});
    const auto found = std::ranges::find(line, elements, &SimulatedCall::elements);
    return found == line.end() ? nullptr : &*found;
  }

  Seconds encode_of(const Compressor& compressor, std::int64_t elements, double density) const {
    const auto all = static_cast<double>(elements);
    if (density == kSparser) return encode_of(compressor, elements, kSparse);
    if (density == kDenser) {
      const Seconds dense = encode_of(compressor, elements, kDense);
      const Seconds step = dense - encode_of(compressor, elements, kSparse);
      const double steps = (kDenser - kDense) / (kDense - kSparse);
      return dense + std::max(steps * step, streamed(kBytesOfSelected * (kDenser - kDense) * all));
    }
    if (const SimulatedCall* it = ran(compressor, elements, density)) return it->time;
    return laws_.at({std::string(compressor.name), density}).at(kEncodeBytes * all);
  }

  /// The elements that an encode selects. If it did not run: the share of k that the largest tensor
  /// selected at the nearest density that ran.
  double selected_of(const Compressor& compressor, std::int64_t elements, double density) const {
    const double like = density >= kDense ? kDense : kSparse;
    if (like == density)
      if (const SimulatedCall* it = ran(compressor, elements, density)) return it->selected;
    const SimulatedCall& last = lines_.at({std::string(compressor.name), like}).back();
    const double share = last.selected / static_cast<double>(wanted_elements(last.elements, like));
    const auto wanted = static_cast<double>(wanted_elements(elements, density));
    return std::clamp(std::round(share * wanted), 1.0, static_cast<double>(elements));
  }

  /// `decode`: the time for a number of workers.
  template <class Decode>
  void add(CostRow row, Seconds encode, Decode decode, const CostFactors& factors) {
    row.implementation = kCudaImplementation;
    row.distribution = "normal";
    row.encode = row.encode_p95 = nanoseconds(encode);
    row.factors = {rounded_factor(factors.low), factors.high};
    for (const int workers : kDerivedWorkers) {
      row.workers = workers;
      row.decode = row.decode_p95 = nanoseconds(decode(workers));
      table_.rows.push_back(row);
    }
  }

  void add_sparsifier(const Compressor& compressor) {
    for (const NumberType input : kInputs)
      for (const double density : {kSparser, kSparse, kDense, kDenser}) {
        // As in the other tables: DGC's sample would be a tenth of the tensor.
        if (compressor.rule == Rule::Dgc && density == kDenser) continue;
        for (const std::int64_t elements : kSparseSizes) {
          const auto all = static_cast<double>(elements);
          CostRow row;
          row.compressor = compressor.name;
          row.mode = compressor.two_modes ? "code" : "";
          row.elements = elements;
          row.density = density;
          row.selected = selected_of(compressor, elements, density);
          const bool of_run = density == kSparse || density == kDense;
          const bool as_it_ran =
              of_run && input == NumberType::Fp32 && ran(compressor, elements, density) != nullptr;
          row.evidence = as_it_ran ? "simulated" : "derived";
          row.input_type = input;
          const auto decode = [&](int workers) {
            return SimulatedV100::kLaunch + streamed(decode_bytes(all, row.selected, workers));
          };
          add(row, encode_of(compressor, elements, density) - streamed(saved(input) * all), decode,
              {share_, density == kDenser ? kHighOfDenser : kHighOfRun});
        }
      }
  }

  /// Rows of what sends something of every element. `bytes` and `launches` are of the encode of a
  /// 32-bit gradient, which it reads so many times.
  void add_whole(const Compressor& compressor, double parameter, std::int64_t elements,
                 double bytes, int launches, double passes, double high) {
    const Seconds time = whole_.encode(compressor, parameter, elements);
    const double share = whole_.encode_law(compressor, parameter, elements).share;
    const bool ran = whole_.encode_ran(compressor, parameter, elements);
    for (const NumberType input : kInputs) {
      CostRow row;
      row.compressor = compressor.name;
      row.mode = compressor.two_modes ? "code" : "";
      row.elements = elements;
      row.density = 1;
      row.selected = static_cast<double>(elements);
      row.evidence = ran && input == NumberType::Fp32 ? "simulated" : "derived";
      row.input_type = input;
      row.parameter = parameter;
      const double less = passes * saved(input) * static_cast<double>(elements);
      const Seconds encode = time - Seconds{less / (share * SimulatedV100::kBytesPerSecond)};
      const Seconds least = launches * SimulatedV100::kLaunch +
                            Seconds{(bytes - less) / SimulatedV100::kBytesPerSecond};
      const auto decode = [&](int workers) {
        return whole_.decode(compressor, parameter, elements, workers);
      };
      add(row, encode, decode, {least / encode, high});
    }
  }

  void add_packer(const Compressor& compressor) {
    const double parameter = compressor.parameter.usual;
    const Packing& packing = *compressor.packing;
    for (const std::int64_t elements : kPackedSizes)
      add_whole(compressor, parameter, elements,
                encode_floor_bytes(compressor, parameter, elements),
                pack_launches(packing, elements), measures_first(packing) ? 2 : 1, kHighOfRun);
  }

  void add_low_rank(const Compressor& compressor, double rank) {
    for (const std::int64_t elements : kMatrixSizes) {
      const LowRankSettings matrix{.shape = near_square(elements),
                                   .rank = static_cast<std::int64_t>(rank),
                                   .mode = Mode::Code};
      add_whole(compressor, rank, elements, encode_floor_bytes(matrix), low_rank_launches(matrix),
                1, kHighOfLowRank);
    }
  }

  std::vector<SimulatedKernel> kernels_;
  double share_;
  SparseLines lines_;
  WholeTimes whole_;
  std::map<std::pair<std::string, double>, BytesLaw> laws_;
  CostTable table_{"cost-v100-derived", {}};
};

}  // namespace

std::vector<GeneratedFile> derived_cost_files(const std::filesystem::path& data_root) {
  const CostTable table = DerivedCosts(read_text_file(data_root / kSimulatedRun)).table();
  return {{"traces/" + table.name + ".csv",
           cost_table_csv(table, split_words(kDerivedProvenance, '\n'))}};
}

}  // namespace gradcast
