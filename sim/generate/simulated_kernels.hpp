// What a simulated GPU said of the kernels: `traces/simulated-v100.csv`. What costs are derived from
// besides: the bytes that kernels move are in kernels/floor_bytes.hpp.
#pragma once
#include <cstdint>
#include <string>
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
  double selected = 0;      // of the encode; 0 where it ended after `stream`
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
};

/// The whole encodes among them.
std::vector<SimulatedEncode> simulated_encodes(const std::vector<SimulatedKernel>& kernels);

/// The time of an encode of tensors that one block does not handle whole: `fixed`, and the bytes of
/// each element (kEncodeBytes) at a share of the bandwidth.
struct EncodeLaw {
  Seconds fixed{0};
  double share = 0;        // of the bandwidth
  double worst_error = 0;  // relative, at the points it was fitted to

  Seconds at(double elements) const;
};

/// Fits the law to encodes of one compressor and density by least squares of the relative error.
/// The share is at most `most_share`: what fits into the cache is not limited by memory.
EncodeLaw fit_encode_law(const std::vector<SimulatedEncode>& points, double most_share);

/// The share of the bandwidth that the stream reaches at 4 M elements and more, beyond which no
/// share is believed. Throws DataError where there is no such point.
double streamed_share(const std::vector<SimulatedKernel>& kernels, const TextFile& file);

/// A tensor of at most this many elements is encoded whole by one block, in one launch.
inline constexpr std::int64_t kWholeTensor = 8192;

}  // namespace gradcast
