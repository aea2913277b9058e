// Table 2 of "Understanding Top-k Sparsification in Distributed Deep Learning", as printed.
#pragma once
#include <array>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradcast {

/// Columns of Table 2: dense, Top-k, DGC, Gaussian-k.
inline constexpr std::array<std::string_view, 4> kTable2Compressors = {"dense", "topk", "dgc",
                                                                       "gaussian"};

/// Per GPU.
inline constexpr int kTable2Batch = 128;

/// A row of Table 2: 16 V100s over 10GbE.
struct Table2Row {
  std::string_view model;
  std::array<double, 4> iteration_seconds;
  std::array<double, 4> scaling_efficiency_percent;

  /// The iteration time of one GPU alone: iteration time x efficiency, the mean of the four, to 0.1
  /// ms.
  Seconds single_gpu_iteration() const;
};

inline constexpr Table2Row kTable2[] = {
    {"alexnet", {0.571, 0.891, 0.369, 0.245}, {14.1, 9.0, 21.8, 32.8}},
    {"vgg-16", {2.068, 3.010, 1.540, 1.311}, {54.2, 37.2, 72.8, 85.5}},
    {"resnet-50", {0.699, 0.810, 0.655, 0.586}, {65.8, 56.8, 70.2, 78.5}},
    {"inception-v4", {1.022, 1.268, 0.916, 0.787}, {67.5, 54.4, 75.3, 87.7}},
};

}  // namespace gradcast
