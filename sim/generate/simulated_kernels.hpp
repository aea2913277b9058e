// Results of running the kernels on a simulated GPU: `traces/simulated-v100.csv`.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/compressor.hpp"
#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"

namespace gradcast {

/// A kernel of one encode or decode, on the simulated device.
struct SimulatedKernel {
  std::string compressor;
  std::int64_t elements = 0;
  double density = 0;  // 1 where something of every element is sent
  std::string kernel;
  std::int64_t cycles = 0;   // with the simulator's delay of a launch
  double selected = 0;       // by the whole encode; 0 if it ended after `stream`
  double parameter = 0;      // the compressor's number; 0 for sparsifiers
  std::int64_t columns = 0;  // of a matrix; 0 for vectors
  int workers = 0;           // whose payloads a decode adds up; 0 for an encode
};

/// Throws DataError.
std::vector<SimulatedKernel> load_simulated_kernels(const TextFile& file);

/// One encode or decode: its kernels' cycles together. PowerSGD's first two calls are its encode,
/// the third is its decode.
struct SimulatedCall {
  std::string compressor;
  std::int64_t elements = 0;
  double density = 0;
  double selected = 0;
  Seconds time{0};
  double parameter = 0;
  std::int64_t columns = 0;
  int workers = 0;
  int launches = 0;

  bool encodes() const { return workers == 0; }
};

/// The model of a V100 on which the kernels ran: NVIDIA's figures, as GPGPU-Sim's configuration
/// SM7_QV100 has them.
struct SimulatedV100 {
  static constexpr double kHertz = 1132e6;
  static constexpr double kBytesPerSecond = 870.4e9;
  static constexpr Seconds kLaunch{5000 / kHertz};
};

/// The whole calls among them.
std::vector<SimulatedCall> simulated_calls(const std::vector<SimulatedKernel>& kernels);

/// The share of the bandwidth that the stream reaches at 4 M elements and more, beyond which no
/// share is believed. Throws DataError where there is no such point.
double streamed_share(const std::vector<SimulatedKernel>& kernels, const TextFile& file);

/// A tensor of at most this many elements is encoded whole by one block, in one launch.
inline constexpr std::int64_t kWholeTensor = 8192;

/// Launches of one encode of a cast or quantiser. One that measures first launches `measure`,
/// `pack`, and between them a kernel that adds up moments, by 256.
int pack_launches(const Packing& packing, std::int64_t elements);

/// Launches of PowerSGD's first two calls on one matrix, as kernels/device/plan_low_rank.hpp plans
/// them.
int low_rank_launches(const LowRankSettings& settings);

/// A thin matrix is made orthonormal in chunks of 2048 numbers. A row has room for whole quads.
struct ThinChunks {
  std::int64_t width = 0;       // of a row
  std::int64_t one_by_one = 0;  // chunks that one block takes after one another
  bool apart = false;           // several blocks; one more launch applies the factor
};
ThinChunks thin_chunks(std::int64_t rows, std::int64_t rank);

}  // namespace gradcast
