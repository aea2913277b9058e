// Results of running the kernels on a simulated GPU: `traces/simulated-v100.csv`. Derived costs
// also use the bytes that kernels move (kernels/floor_bytes.hpp).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/floor_bytes.hpp"
#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"

namespace gradcast {

/// A kernel of one encode, on the simulated device.
struct SimulatedKernel {
  std::string compressor;
  std::int64_t elements = 0;
  double density = 0;
  std::string kernel;       // "prepare", "stream", "finish"
  std::int64_t cycles = 0;  // with the simulator's delay of a launch
  double selected = 0;      // by the whole encode; 0 if it ended after `stream`
};

/// Throws DataError.
std::vector<SimulatedKernel> load_simulated_kernels(const TextFile& file);

/// One encode: its kernels' cycles together.
struct SimulatedEncode {
  std::string compressor;
  std::int64_t elements = 0;
  double density = 0;
  double selected = 0;
  Seconds time{0};
};

/// The model of a V100 on which the kernels ran: NVIDIA's figures, as GPGPU-Sim's configuration
/// SM7_QV100 has them.
struct SimulatedV100 {
  static constexpr double kHertz = 1132e6;
  static constexpr double kBytesPerSecond = 870.4e9;
  static constexpr Seconds kLaunch{5000 / kHertz};
};

/// The whole encodes among them.
std::vector<SimulatedEncode> simulated_encodes(const std::vector<SimulatedKernel>& kernels);

/// Those of each compressor and density, by rising size.
using EncodeLines = std::map<std::pair<std::string, double>, std::vector<SimulatedEncode>>;
EncodeLines encode_lines(const std::vector<SimulatedKernel>& kernels);

/// Those that three kernels encode, not one block: a law is of them.
std::vector<SimulatedEncode> large_tensors(std::vector<SimulatedEncode> line);

/// The time of an encode of tensors that one block does not handle whole: `fixed`, and the bytes of
/// each element (kEncodeBytes) at a share of the bandwidth.
struct EncodeLaw {
  Seconds fixed{0};
  double share = 0;        // share of the bandwidth
  double worst_error = 0;  // relative, at the points it was fitted to

  Seconds at(double elements) const;
};

/// Fits the law to encodes of one compressor and density by least squares of the relative error.
/// The share is at most `most_share`: memory does not limit tensors that fit into the cache.
EncodeLaw fit_encode_law(const std::vector<SimulatedEncode>& points, double most_share);

/// The share of the bandwidth that the stream reaches at 4 M elements and more, beyond which no
/// share is believed. Throws DataError where there is no such point.
double streamed_share(const std::vector<SimulatedKernel>& kernels, const TextFile& file);

/// A tensor of at most this many elements is encoded whole by one block, in one launch.
inline constexpr std::int64_t kWholeTensor = 8192;

/// Launches of one encode of a cast or quantiser. One that measures first launches `measure`,
/// `pack`, and between them a kernel that adds up moments, by 256.
inline int pack_launches(const Packing& packing, std::int64_t elements) {
  constexpr std::int64_t kAddedByPack = std::int64_t{256} * 1024;
  if (!measures_first(packing)) return 1;
  return 2 + (elements > kAddedByPack ? 1 : 0) + (elements > 256 * kAddedByPack ? 1 : 0);
}

/// Launches of PowerSGD: its first two calls encode, the last one decodes.
inline constexpr int kLowRankEncodeLaunches = 4;
inline constexpr int kLowRankDecodeLaunches = 1;

}  // namespace gradcast
