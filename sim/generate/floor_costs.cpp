// `traces/cost-v100-floor.csv`: the costs that this project's compressors would have on a V100 if
// they took no longer than moving their bytes.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "kernels/compressor.hpp"
#include "kernels/floor_bytes.hpp"
#include "sim/base/text.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/generate/published_gpu.hpp"
#include "sim/generate/simulated_kernels.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kName = "cost-v100-floor";
constexpr std::string_view kPointsOf = "traces/cost-v100-pytorch-1.1.csv";

constexpr std::string_view kFloorProvenance =
    R"(NOT MEASURED: no GPU has run these kernels. What the project's compressors (kernels/README.md) would cost on
the paper's V100 PCIe if they took no longer than their bytes at 765 GB/s and their launches at 1.83 us
(figures of cost-v100-pytorch-1.1): a lower bound, for a what-if. Made by generate_data.
sparsifiers, encode: 12 bytes an element (gradient and residual read, residual written), whatever the
  compressor and the density; 3 launches, up to 8192 elements 1. What is written of the selected elements is
  left out. decode: 4 bytes an element (the sum, written once), 8 bytes a selected element and worker (index and
  value, read); 1 launch.
casts, quantisers, encode: gradient and residual read once, or twice where a scale is of the whole tensor; residual
  and payload written; no residual where the source has no error feedback. 1 launch; with such a scale 2, above
  2^18 elements 3, above 2^26 4. decode: every worker's payload read, the sum written; 1 launch. parameter: each
  one's usual.
powersgd: of one square matrix, as in cost-v100-pytorch-1.1, by its launches: 2 to 8, and 1 of decode. Encode are its first two calls:
  gradient and residual read, u written and read again, P and Q written and read. decode is the last one, whatever the
  workers: u read, residual and result written, P and Q read. A small matrix is not compressed: PyTorch's rule.
low_factor, high_factor: a floor is no estimate. The true time is thought to lie, at 90 %, between it and the upper end of
  cost-v100-derived, which was simulated: high is that end over the floor, of encode and decode together.
selected, and which points there are: those of cost-v100-pytorch-1.1, mode code where it has two modes.)";

/// Rounds to a tenth of a nanosecond: more digits would say more than is known.
Seconds rounded_floor(double seconds) {
  return Seconds{static_cast<double>(static_cast<std::int64_t>(seconds * 1e10 + 0.5)) / 1e10};
}

Seconds time_of_bytes(double bytes, int launches) {
  return rounded_floor(bytes / kV100.bandwidth.value + launches * kV100.launch.count());
}

CostRow floor_of(CostRow row) {
  const Compressor& compressor = *find_compressor(row.compressor);
  const auto elements = static_cast<double>(row.elements);
  row.implementation = kCudaImplementation;
  row.evidence = "derived";
  if (const Packing* packing = compressor.packing; packing != nullptr) {
    row.parameter = compressor.parameter.usual;
    row.encode = time_of_bytes(encode_floor_bytes(compressor, row.parameter, row.elements),
                               pack_launches(*packing, row.elements));
    row.decode =
        time_of_bytes(decode_floor_bytes(*packing, row.parameter, row.elements, row.workers), 1);
  } else if (compressor.low_rank != nullptr) {
    const LowRankSettings matrix{.shape = near_square(row.elements),
                                 .rank = static_cast<std::int64_t>(row.parameter),
                                 .mode = Mode::Code};
    row.encode = time_of_bytes(encode_floor_bytes(matrix), low_rank_launches(matrix));
    row.decode = time_of_bytes(decode_floor_bytes(matrix), 1);
  } else {
    row.encode = time_of_bytes(kEncodeBytes * elements, row.elements <= kWholeTensor ? 1 : 3);
    row.decode = time_of_bytes(decode_bytes(elements, row.selected, row.workers), 1);
  }
  row.encode_p95 = row.encode;
  row.decode_p95 = row.decode;
  return row;
}

/// The costs that were derived from a simulation, which the floors are held against.
class DerivedEnds {
 public:
  explicit DerivedEnds(const std::filesystem::path& data_root) {
    const GeneratedFile file = derived_cost_files(data_root).at(0);
    table_ = std::make_shared<const CostTable>(load_cost_table(TextFile{file.path, file.content}));
  }

  /// The upper end of what the row's call costs, over its floor.
  double over(const CostRow& row) {
    const auto [found, added] = costs_.try_emplace({row.compressor, row.parameter});
    if (added)
      found->second = std::make_unique<CompressorCosts>(
          table_, CostChoice{.compressor = row.compressor, .parameter = row.parameter});
    const CostEstimate derived = found->second->of(row.elements, row.density, row.workers);
    const double ratio = (derived.encode + derived.decode) / (row.encode + row.decode);
    return std::max(1.0, std::ceil(100 * ratio * derived.factors.high) / 100);
  }

 private:
  std::shared_ptr<const CostTable> table_;
  std::map<std::pair<std::string, double>, std::unique_ptr<CompressorCosts>> costs_;
};

CostTable published_points() {
  for (const GeneratedFile& file : cost_table_files())
    if (file.path == kPointsOf) return load_cost_table(TextFile{file.path, file.content});
  throw std::logic_error("no points to take: " + std::string(kPointsOf));
}

}  // namespace

std::vector<GeneratedFile> floor_cost_files(const std::filesystem::path& data_root) {
  CostTable table{std::string(kName), {}};
  DerivedEnds ends(data_root);
  for (const CostRow& row : published_points().rows) {
    if (row.mode == "paper") continue;
    table.rows.push_back(floor_of(row));
    table.rows.back().factors.high = ends.over(table.rows.back());
  }
  return {{"traces/" + table.name + ".csv",
           cost_table_csv(table, split_words(kFloorProvenance, '\n'))}};
}

}  // namespace gradcast
