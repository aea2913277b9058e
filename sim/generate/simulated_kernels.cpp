#include "sim/generate/simulated_kernels.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/floor_bytes.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::array kSimulatedColumns = {
    "compressor",   "elements", "density",      "kernel",   "blocks",    "cycles",  "dram_read",
    "dram_written", "l2",       "instructions", "selected", "parameter", "columns", "workers"};
constexpr std::size_t kColumnsOfAll = 11;
constexpr std::int64_t kStreamed = 4'194'304;  // far more than the cache holds

std::vector<std::string> kernels_of(const Compressor& compressor) {
  if (compressor.low_rank != nullptr)
    return {"prepare_thin", "apply_factor", "project", "project_back", "add_parts", "restore"};
  if (compressor.packing != nullptr)
    return {"measure", "add_moments", "pack", "pack_blocks", "unpack"};
  return {"prepare", "stream", "finish"};
}

bool decodes(std::string_view kernel) { return kernel == "restore" || kernel == "unpack"; }

/// The numbers that sparsifiers do not have.
void read_others(const CsvReader& rows, SimulatedKernel& kernel) {
  if (!rows.text("parameter").empty()) kernel.parameter = rows.number("parameter", 0, 1e6);
  if (!rows.text("columns").empty()) {
    kernel.columns = rows.integer("columns", 1, kernel.elements);
    if (kernel.elements % kernel.columns != 0)
      throw rows.failure("columns", "the elements are no whole number of rows");
  }
  if (!rows.text("workers").empty())
    kernel.workers = static_cast<int>(rows.integer("workers", 1, 1 << 20));
  if (decodes(kernel.kernel) != (kernel.workers > 0))
    throw rows.failure("workers", "a decode has a number of workers, and only a decode");
}

}  // namespace

std::vector<SimulatedKernel> load_simulated_kernels(const TextFile& file) {
  std::vector<SimulatedKernel> kernels;
  CsvReader rows(file, kSimulatedColumns, kColumnsOfAll);
  while (rows.next()) {
    SimulatedKernel kernel;
    kernel.compressor = rows.word("compressor");
    const Compressor* compressor = find_compressor(kernel.compressor);
    if (compressor == nullptr)
      throw rows.failure("compressor", "there is no compressor '" + kernel.compressor + "'");
    kernel.elements = rows.integer("elements", 1, INT32_MAX);
    kernel.density = rows.number("density", 0, 1);
    kernel.kernel = rows.word("kernel");
    kernel.cycles = rows.integer("cycles", 1, INT64_MAX);
    kernel.selected = rows.number("selected", 0, static_cast<double>(kernel.elements));
    for (const char* each : {"dram_read", "dram_written", "l2", "instructions"})
      rows.number(each, 0, 1e6);
    rows.integer("blocks", 1, INT32_MAX);
    const std::vector<std::string> known = kernels_of(*compressor);
    if (std::ranges::find(known, kernel.kernel) == known.end())
      throw rows.failure("kernel", "'" + kernel.kernel + "' is no kernel of " + kernel.compressor +
                                       " (" + join(known) + ")");
    read_others(rows, kernel);
    kernels.push_back(kernel);
  }
  return kernels;
}

std::vector<SimulatedCall> simulated_calls(const std::vector<SimulatedKernel>& kernels) {
  std::vector<SimulatedCall> calls;
  for (const SimulatedKernel& kernel : kernels) {
    if (kernel.selected == 0) continue;
    const auto same = [&](const SimulatedCall& call) {
      return call.compressor == kernel.compressor && call.elements == kernel.elements &&
             call.density == kernel.density && call.parameter == kernel.parameter &&
             call.columns == kernel.columns && call.workers == kernel.workers;
    };
    auto found = std::ranges::find_if(calls, same);
    if (found == calls.end()) {
      calls.push_back({.compressor = kernel.compressor,
                       .elements = kernel.elements,
                       .density = kernel.density,
                       .selected = kernel.selected,
                       .parameter = kernel.parameter,
                       .columns = kernel.columns,
                       .workers = kernel.workers});
      found = calls.end() - 1;
    }
    found->time += Seconds{static_cast<double>(kernel.cycles) / SimulatedV100::kHertz};
    ++found->launches;
  }
  return calls;
}

double streamed_share(const std::vector<SimulatedKernel>& kernels, const TextFile& file) {
  double share = 0;
  for (const SimulatedKernel& kernel : kernels) {
    if (kernel.kernel != "stream" || kernel.elements < kStreamed) continue;
    const double seconds = static_cast<double>(kernel.cycles) / SimulatedV100::kHertz;
    share = std::max(share, kEncodeBytes * static_cast<double>(kernel.elements) /
                                (seconds * SimulatedV100::kBytesPerSecond));
  }
  if (share == 0)
    throw DataError(file.path.string(), 0,
                    "has no stream of " + std::to_string(kStreamed) + " elements or more");
  return share;
}

int pack_launches(const Packing& packing, std::int64_t elements) {
  constexpr std::int64_t kAddedByPack = std::int64_t{256} * 1024;
  if (!measures_first(packing)) return 1;
  return 2 + (elements > kAddedByPack ? 1 : 0) + (elements > 256 * kAddedByPack ? 1 : 0);
}

ThinChunks thin_chunks(std::int64_t rows, std::int64_t rank) {
  constexpr std::int64_t kOfOneBlock = 4;
  constexpr std::int64_t kMostBlocks = 128;
  const std::int64_t width = (rank + 3) / 4 * 4;
  const std::int64_t chunks = (rows * width + 2047) / 2048;
  if (rank > 32 || chunks <= kOfOneBlock) return {width, chunks, false};
  return {width, (chunks + kMostBlocks - 1) / kMostBlocks, true};
}

int low_rank_launches(const LowRankSettings& settings) {
  const MatrixShape& shape = settings.shape;
  if (!low_rank_numbers(shape, settings.rank, settings.mode).compressed()) return 2;
  const std::int64_t rank = rank_of(shape, settings.rank);
  const int applied = (thin_chunks(shape.columns, rank).apart ? 1 : 0) +
                      (thin_chunks(shape.rows, rank).apart ? 1 : 0);
  // Sums that several blocks make are added up by one more launch.
  const bool large = shape.rows * shape.columns >= 1 << 20 || shape.columns >= 2048;
  const int added = (shape.columns > (large ? 2048 : 512) ? 1 : 0) + (shape.rows > 128 ? 1 : 0);
  return 4 + applied + added;
}

}  // namespace gradcast
