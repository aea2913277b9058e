#include "sim/generate/simulated_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/compressor.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"

namespace gradcast {
namespace {

constexpr std::array kSimulatedColumns = {"compressor", "elements",     "density",   "kernel",
                                          "blocks",     "cycles",       "dram_read", "dram_written",
                                          "l2",         "instructions", "selected"};
constexpr std::int64_t kStreamed = 4'194'304;  // far more than the cache holds

}  // namespace

std::vector<SimulatedKernel> load_simulated_kernels(const TextFile& file) {
  std::vector<SimulatedKernel> kernels;
  CsvReader rows(file, kSimulatedColumns);
  while (rows.next()) {
    SimulatedKernel kernel;
    kernel.compressor = rows.word("compressor");
    if (find_compressor(kernel.compressor) == nullptr)
      throw rows.failure("compressor", "there is no compressor '" + kernel.compressor + "'");
    kernel.elements = rows.integer("elements", 1, INT32_MAX);
    kernel.density = rows.number("density", 0, 1);
    kernel.kernel = rows.word("kernel");
    kernel.cycles = rows.integer("cycles", 1, INT64_MAX);
    kernel.selected = rows.number("selected", 0, static_cast<double>(kernel.elements));
    for (const char* each : {"dram_read", "dram_written", "l2", "instructions"})
      rows.number(each, 0, 1e6);
    rows.integer("blocks", 1, INT32_MAX);
    if (kernel.kernel != "prepare" && kernel.kernel != "stream" && kernel.kernel != "finish")
      throw rows.failure("kernel",
                         "'" + kernel.kernel + "' is not 'prepare', 'stream' or 'finish'");
    kernels.push_back(kernel);
  }
  return kernels;
}

std::vector<SimulatedEncode> simulated_encodes(const std::vector<SimulatedKernel>& kernels) {
  std::vector<SimulatedEncode> encodes;
  for (const SimulatedKernel& kernel : kernels) {
    if (kernel.selected == 0) continue;
    const auto same = [&](const SimulatedEncode& encode) {
      return encode.compressor == kernel.compressor && encode.elements == kernel.elements &&
             encode.density == kernel.density;
    };
    auto found = std::ranges::find_if(encodes, same);
    if (found == encodes.end()) {
      encodes.push_back(
          {kernel.compressor, kernel.elements, kernel.density, kernel.selected, Seconds{0}});
      found = encodes.end() - 1;
    }
    found->time += Seconds{static_cast<double>(kernel.cycles) / SimulatedV100::kHertz};
  }
  return encodes;
}

EncodeLines encode_lines(const std::vector<SimulatedKernel>& kernels) {
  EncodeLines lines;
  for (const SimulatedEncode& encode : simulated_encodes(kernels))
    lines[{encode.compressor, encode.density}].push_back(encode);
  for (auto& [key, line] : lines) std::ranges::sort(line, {}, &SimulatedEncode::elements);
  return lines;
}

std::vector<SimulatedEncode> large_tensors(std::vector<SimulatedEncode> line) {
  std::erase_if(line, [](const SimulatedEncode& e) { return e.elements <= kWholeTensor; });
  return line;
}

Seconds EncodeLaw::at(double elements) const {
  return fixed + Seconds{kEncodeBytes * elements / (share * SimulatedV100::kBytesPerSecond)};
}

EncodeLaw fit_encode_law(const std::vector<SimulatedEncode>& points, double most_share) {
  // Weighted by 1 / time^2: sums of a straight line's normal equations.
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const SimulatedEncode& point : points) {
    const double y = point.time.count();
    const double x = static_cast<double>(point.elements);
    const double weight = 1 / (y * y);
    w += weight;
    wx += weight * x;
    wy += weight * y;
    wxx += weight * x * x;
    wxy += weight * x * y;
  }
  const double least = kEncodeBytes / (most_share * SimulatedV100::kBytesPerSecond);
  const double fitted = points.size() > 1 ? (w * wxy - wx * wy) / (w * wxx - wx * wx) : least;
  const double slope = std::max(fitted, least);
  EncodeLaw law;
  law.fixed = Seconds{(wy - slope * wx) / w};
  law.share = kEncodeBytes / (slope * SimulatedV100::kBytesPerSecond);
  for (const SimulatedEncode& point : points) {
    const double at = law.at(static_cast<double>(point.elements)).count();
    law.worst_error = std::max(law.worst_error, std::abs(at / point.time.count() - 1));
  }
  return law;
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

}  // namespace gradcast
