// Published figures of the GPUs whose times are derived here, and their rooflines.
#pragma once
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/import/roofline.hpp"

namespace gradcast {

struct PublishedGpu {
  std::string_view name;  // as traces call it
  double flops_per_second = 0;
  BytesPerSecond bandwidth;    // reached by streaming kernels
  Seconds launch{0};           // an asynchronous one
  Seconds topk_comparison{0};  // torch.topk takes this x n log2 n, for k = 0.001 n
  Seconds topk_begin{0};       // or, where all multiprocessors select, this and
  Seconds topk_element{0};     // this for each element
};

/// The share of the data sheet's bandwidth that streaming kernels are assumed to reach.
inline constexpr double kStreamingShare = 0.85;

/// NVIDIA's data sheet of the V100 PCIe: 14 TFLOP/s in single precision, 900 GB/s. CSCS expects
/// 777.8 GB/s of copies on its V100s (reframe-hpc/reframe@fc5ad89, gpu/memory_bandwidth.py) and
/// 1.83 us a launch (reframe-hpc/reframe@cea65e1, gpu/kernel_latency.py); the time that Python
/// adds, and the host's waits for a result, are not included. torch.topk: the authors' fit on V100
/// in PyTorch up to 1.1 (a comment in utils.py of their MG-WFBP).
inline constexpr PublishedGpu kV100{
    "V100-PCIE-32GB", 14e12, {kStreamingShare * 900e9}, Seconds{1.83e-6}, Seconds{4.99671953e-10}};

/// The same data sheet's SXM2: 15.7 TFLOP/s. It has the memory of the PCIe card.
inline constexpr PublishedGpu kV100Sxm2{"V100-SXM2", 15.7e12, kV100.bandwidth, kV100.launch,
                                        kV100.topk_comparison};

/// A GP102 of 3,200 cores, sold for mining; card databases such as TechPowerUp's list 1.683 GHz at
/// the most, so 3,200 x 2 x 1.683 GHz = 10.8 TFLOP/s, and 320 bits of GDDR5X at 11 Gbit/s, so 440
/// GB/s. A launch is assumed to take as long as on a V100, because no figure is published.
/// torch.topk: the fit for P102-100 in the same comment.
inline constexpr PublishedGpu kP102{
    "P102-100", 10.8e12, {kStreamingShare * 440e9}, kV100.launch, Seconds{2.18896957e-10}};

/// NVIDIA's H20: 44 TFLOP/s, 4,000 GB/s. A launch is taken over from the V100. torch.topk of
/// PyTorch 2.6 takes 0.135 ms for 1 M elements and 3.56 ms for 100 M (pytorch/pytorch#164459, top
/// 100); by the line through both 1 G take 34.7 ms, and 36.6 were measured there.
inline constexpr PublishedGpu kH20{"H20",
                                   44e12,
                                   {kStreamingShare * 4000e9},
                                   kV100.launch,
                                   {},
                                   Seconds{1.004e-4},
                                   Seconds{3.46e-11}};

/// The roofline in fp32.
inline RooflinePeaks peaks_of(const PublishedGpu& device) {
  return {device.flops_per_second, device.bandwidth};
}

}  // namespace gradcast
