// Timers of QSGD with a shared norm on two GPUs of one machine, and what its operators cost there:
// vineeths96/Gradient-Compression@e5b61b1. The GPU is not named, so its bandwidth is fitted, as one
// number, to the timers of one model; the other model's are forecast with it.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/generate/torch_packers.hpp"

namespace gradcast {

/// Medians of the runs of one setting, rank 0. `bits` are the source's quantization level.
struct TimedQsgd {
  int bits;
  int runs;
  Seconds iteration, encode, decode, all_reduce;

  int levels() const { return (1 << bits) - 1; }
  /// Sums of two workers' levels and signs fit a byte below 8 bits; the source sends int32 above.
  int wire_bytes() const { return bits < 8 ? 1 : 4; }
};

/// The dense runs, and those with QSGD.
struct TwoGpuModel {
  std::string_view model;
  std::string_view trace;  // lends its shares only
  std::int64_t elements;
  int dense_runs;
  Seconds dense_iteration, forward, backward, step, dense_all_reduce;
  std::array<TimedQsgd, 4> qsgd;

  Seconds compute() const { return forward + backward + step; }
};

inline constexpr TwoGpuModel kTwoGpuVgg{
    "vgg-16-cifar",
    "iteration-vgg-16-cifar-p102-100",
    14'728'266,
    5,
    Seconds{0.060320},
    Seconds{0.011406},
    Seconds{0.019935},
    Seconds{0.006151},
    Seconds{0.016618},
    {{{2, 1, Seconds{0.056025}, Seconds{0.005180}, Seconds{0.000445}, Seconds{0.004137}},
      {4, 1, Seconds{0.056547}, Seconds{0.005167}, Seconds{0.000440}, Seconds{0.004162}},
      {6, 3, Seconds{0.058157}, Seconds{0.005141}, Seconds{0.000443}, Seconds{0.004171}},
      {8, 1, Seconds{0.067774}, Seconds{0.004950}, Seconds{0.000431}, Seconds{0.015769}}}}};

inline constexpr TwoGpuModel kTwoGpuResnet{
    "resnet-50-cifar",
    "iteration-resnet-50-cifar-v100",
    23'520'842,
    3,
    Seconds{0.265537},
    Seconds{0.066565},
    Seconds{0.144301},
    Seconds{0.015756},
    Seconds{0.026443},
    {{{2, 1, Seconds{0.259800}, Seconds{0.008163}, Seconds{0.000663}, Seconds{0.006570}},
      {4, 1, Seconds{0.261414}, Seconds{0.008126}, Seconds{0.000674}, Seconds{0.006567}},
      {6, 1, Seconds{0.263955}, Seconds{0.008170}, Seconds{0.000682}, Seconds{0.006591}},
      {8, 1, Seconds{0.282789}, Seconds{0.007891}, Seconds{0.000673}, Seconds{0.024768}}}}};

/// The operators of the source's QSGDMaxNormCompressor, without the norm, which it times apart.
Passes two_gpu_encode(int bits);
Passes two_gpu_decode();

/// The bandwidth with which the operators take as long as the timers of a model say: encode and
/// decode of all settings, their geometric mean.
BytesPerSecond bandwidth_of(const TwoGpuModel& model);

/// The unnamed GPU with that bandwidth.
PublishedGpu two_gpu_device(BytesPerSecond bandwidth);

}  // namespace gradcast
