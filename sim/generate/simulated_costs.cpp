// `traces/cost-v100-simulated.csv`: the costs of this project's compressors on a simulated V100.
// Sizes that ran are `simulated`; larger ones follow a law that was fitted to these, and are
// `derived`.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/compressor.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/generate/simulated_kernels.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kSource = "traces/simulated-v100.csv";
constexpr std::int64_t kDerivedElements[] = {4'194'304,  16'777'216,  25'557'032,
                                             61'100'840, 138'357'544, 400'000'000};
constexpr int kSimulatedWorkers[] = {1, 16, 256};

constexpr std::string_view kSimulatedProvenance =
    R"(SIMULATED, NOT MEASURED: no GPU has run these kernels. The PTX of the project's compressors ran cycle by cycle
on GPGPU-Sim's V100 (80 multiprocessors at 1,132 MHz, 870.4 GB/s): traces/simulated-v100.csv. Made by generate_data.
encode, simulated: prepare + stream + finish of one tensor, each with the simulator's 5,000 cycles (4.4 us) of launch;
  a cold call (the threshold is sampled; `threshold` has a given one), inputs normal, mode code where there are two.
  PTX is not SASS: upper bounds.
encode, derived: sizes that did not run follow fixed + 12 bytes x elements / (share x 870.4 GB/s), fitted to those that
  did by relative least squares; no share is above that of the stream alone at 4,194,304 elements.
decode did not run: all of it is derived, as in cost-v100-floor (4 bytes an element, 8 a selected one and worker, 1
  launch), but at 870.4 GB/s and the simulator's launch. `evidence` is that of encode.)";

Seconds decoded(double elements, double selected, int workers) {
  return SimulatedV100::kLaunch +
         Seconds{decode_bytes(elements, selected, workers) / SimulatedV100::kBytesPerSecond};
}

/// To a nanosecond: more digits would say more than is known.
Seconds to_nanoseconds(Seconds time) { return Seconds{std::round(time.count() * 1e9) / 1e9}; }

void add_rows(CostTable& table, const SimulatedEncode& encode, const char* evidence) {
  const Compressor& compressor = *find_compressor(encode.compressor);
  for (const int workers : kSimulatedWorkers) {
    CostRow row;
    row.compressor = encode.compressor;
    row.mode = compressor.two_modes ? "code" : "";
    row.implementation = "gradcast-cuda";
    row.elements = encode.elements;
    row.density = encode.density;
    row.workers = workers;
    row.distribution = "normal";
    row.selected = encode.selected;
    row.encode = row.encode_p95 = to_nanoseconds(encode.time);
    row.decode = row.decode_p95 =
        to_nanoseconds(decoded(static_cast<double>(encode.elements), encode.selected, workers));
    row.evidence = evidence;
    table.rows.push_back(row);
  }
}

/// With two points or fewer a line goes through all of them, so that no error shows.
std::string told(const std::vector<SimulatedEncode>& points, const EncodeLaw& law) {
  const SimulatedEncode& like = points.front();
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
  for (const auto& [key, line] : encode_lines(kernels)) {
    for (const SimulatedEncode& encode : line) add_rows(table, encode, "simulated");
    const std::vector<SimulatedEncode> large = large_tensors(line);
    if (large.empty())
      throw DataError(file.path.string(), 0, "has no large tensor of " + key.first);
    const EncodeLaw law = fit_encode_law(large, most_share);
    provenance.push_back(told(large, law));
    const SimulatedEncode& last = large.back();
    for (const std::int64_t elements : kDerivedElements) {
      if (elements <= last.elements) continue;
      const double scale = static_cast<double>(elements) / static_cast<double>(last.elements);
      add_rows(table,
               {key.first, elements, key.second, std::round(last.selected * scale),
                law.at(static_cast<double>(elements))},
               "derived");
    }
  }
  return {{"traces/" + table.name + ".csv", cost_table_csv(table, provenance)}};
}

}  // namespace gradcast
