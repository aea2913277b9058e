// `traces/cost-v100-simulated.csv`: the costs of this project's compressors on a simulated V100.
// Sizes that ran are `simulated`; larger ones follow a law that was fitted to these, and are
// `derived`.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "kernels/compressor.hpp"
#include "kernels/floor_bytes.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/generate/simulated_laws.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kSource = "traces/simulated-v100.csv";
constexpr std::int64_t kDerivedElements[] = {4'194'304,  16'777'216,  25'557'032,
                                             61'100'840, 138'357'544, 400'000'000};
/// Elements from which on decoding packed codes is bound by bandwidth; below, by latency.
constexpr std::int64_t kWhereThroughputBegins = 2'097'152;
constexpr int kSimulatedWorkers[] = {1, 16, 256};

constexpr std::string_view kSimulatedProvenance =
    R"(SIMULATED, NOT MEASURED: no GPU has run these kernels. The PTX of the project's compressors ran cycle by cycle
on GPGPU-Sim's V100 (80 multiprocessors at 1,132 MHz, 870.4 GB/s): traces/simulated-v100.csv. Made by generate_data.
simulated: all kernels of one tensor, each with the simulator's 5,000 cycles (4.4 us) of launch; inputs normal, mode code
  where there are two. A sparsifier's call is cold (the threshold is sampled; `threshold` has a given one). PTX is not SASS:
  upper bounds.
derived: sizes that did not run follow fixed + bytes / (share x 870.4 GB/s), fitted to those that did by relative least
  squares; no share is above that of the stream alone at 4,194,304 elements. The bytes are those of cost-v100-floor.
  sparsifiers: 12 bytes an element; their launches are in the fixed part.
  casts, quantisers and powersgd: fitted to tensors of 1 MB and more, which the laws are for; to smaller ones if no such ran.
  Each launch is 4.4 us besides, and each further chunk of 2048 numbers that a block of powersgd makes orthonormal is what
  prepare_thin took for it. powersgd has one square matrix, its rank as the parameter.
decode of sparsifiers did not run: all of it is derived, as in cost-v100-floor (4 bytes an element, 8 a selected one and
  worker, 1 launch), but at 870.4 GB/s and the simulator's launch. Others' decode: 4.4 us, a fixed part, the sum, and each
  worker's payload: the latency of a read, or its bytes if they take longer. `evidence` is that of encode.)";

Seconds decoded(double elements, double selected, int workers) {
  return SimulatedV100::kLaunch +
         Seconds{decode_bytes(elements, selected, workers) / SimulatedV100::kBytesPerSecond};
}

/// Rounds to a nanosecond: more digits would say more than is known.
Seconds to_nanoseconds(Seconds time) { return Seconds{std::round(time.count() * 1e9) / 1e9}; }

/// `decode`: the time for a number of workers.
template <class Decode>
void add_rows(CostTable& table, const SimulatedCall& encode, const char* evidence, Decode decode) {
  const Compressor& compressor = *find_compressor(encode.compressor);
  for (const int workers : kSimulatedWorkers) {
    CostRow row;
    row.compressor = encode.compressor;
    row.mode = compressor.two_modes ? "code" : "";
    row.implementation = kCudaImplementation;
    row.elements = encode.elements;
    row.density = encode.density;
    row.workers = workers;
    row.distribution = "normal";
    row.selected = encode.selected;
    row.parameter = encode.parameter;
    row.encode = row.encode_p95 = to_nanoseconds(encode.time);
    row.decode = row.decode_p95 = to_nanoseconds(decode(workers));
    row.evidence = evidence;
    table.rows.push_back(row);
  }
}

void add_sparse_rows(CostTable& table, const SimulatedCall& encode, const char* evidence) {
  add_rows(table, encode, evidence, [&](int workers) {
    return decoded(static_cast<double>(encode.elements), encode.selected, workers);
  });
}

/// Rows of a compressor that sends something of every element: sizes that ran, and larger ones.
void add_whole_rows(CostTable& table, const WholeTimes& times,
                    const std::vector<SimulatedCall>& calls, const Compressor& compressor,
                    double parameter) {
  const auto add = [&](std::int64_t elements) {
    const bool ran = times.encode_ran(compressor, parameter, elements);
    add_rows(table,
             {.compressor = std::string(compressor.name),
              .elements = elements,
              .density = 1,
              .selected = static_cast<double>(elements),
              .time = times.encode(compressor, parameter, elements),
              .parameter = parameter},
             ran ? "simulated" : "derived",
             [&](int workers) { return times.decode(compressor, parameter, elements, workers); });
  };
  std::int64_t last = 0;
  for (const SimulatedCall& call : calls) {
    if (call.compressor != compressor.name || call.parameter != parameter || !call.encodes() ||
        !times.encode_ran(compressor, parameter, call.elements) || call.elements == last)
      continue;
    last = call.elements;
    add(last);
  }
  add(kWhereThroughputBegins);
  for (const std::int64_t elements : kDerivedElements)
    if (elements > last) add(elements);
}

/// A law in words. With two points or fewer a line goes through all, so that no error shows.
std::string told(const std::vector<SimulatedCall>& points, const BytesLaw& law) {
  const SimulatedCall& like = points.front();
  const std::string error =
      points.size() > 2
          ? "off by " + number_to_text(std::round(law.worst_error * 1000) / 10) + " % at most"
          : "from " + std::to_string(points.size()) + " size" + (points.size() > 1 ? "s" : "") +
                ", so how far it is off is not known";
  return "  " + like.compressor + ", density " + number_to_text(like.density) + ": " +
         number_to_text(std::round(law.fixed.count() * 1e7) / 10) + " us + 12 bytes at " +
         number_to_text(std::round(law.share * 1000) / 10) + " % of the bandwidth; " + error;
}

}  // namespace

std::vector<GeneratedFile> simulated_cost_files(const std::filesystem::path& data_root) {
  const TextFile file = read_text_file(data_root / kSource);
  const std::vector<SimulatedKernel> kernels = load_simulated_kernels(file);
  const double most_share = streamed_share(kernels, file);
  CostTable table{"cost-v100-simulated", {}};
  std::vector<std::string> provenance = split_words(kSimulatedProvenance, '\n');
  provenance.push_back("The laws, and how far they are off at the sizes that ran:");
  const std::vector<SimulatedCall> calls = simulated_calls(kernels);
  for (const auto& [key, line] : sparse_lines(calls)) {
    for (const SimulatedCall& encode : line) add_sparse_rows(table, encode, "simulated");
    const std::vector<SimulatedCall> large = large_tensors(line);
    if (large.empty())
      throw DataError(file.path.string(), 0, "has no large tensor of " + key.first);
    const BytesLaw law = fit_sparse_law(large, most_share);
    provenance.push_back(told(large, law));
    const SimulatedCall& last = large.back();
    for (const std::int64_t elements : kDerivedElements) {
      if (elements <= last.elements) continue;
      const auto all = static_cast<double>(elements);
      add_sparse_rows(
          table,
          {.compressor = key.first,
           .elements = elements,
           .density = key.second,
           .selected = std::round(last.selected * all / static_cast<double>(last.elements)),
           .time = law.at(kEncodeBytes * all)},
          "derived");
    }
  }
  const WholeTimes whole(kernels, most_share, file);
  for (const Compressor* compressor : all_compressors()) {
    if (compressor->packing != nullptr)
      add_whole_rows(table, whole, calls, *compressor, compressor->parameter.usual);
    if (compressor->low_rank != nullptr)
      for (const double rank : kSimulatedRanks)
        add_whole_rows(table, whole, calls, *compressor, rank);
  }
  std::ranges::copy(whole.words(), std::back_inserter(provenance));
  return {{"traces/" + table.name + ".csv", cost_table_csv(table, provenance)}};
}

}  // namespace gradcast
