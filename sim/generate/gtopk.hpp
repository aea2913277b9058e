// The measurements of the authors of gTop-k on up to 32 P102-100 over 1 Gbit/s Ethernet, from their
// plotting script.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradcast {

inline constexpr std::string_view kGtopkScript =
    "hclhkbu/gtopkssgd@6f57343, scripts/icdcs2019/communication.py";

inline constexpr std::array kGtopkWorkers = {4, 8, 16, 32};

struct GtopkAlgorithm {
  std::string_view compressor;
  std::string_view collective;
  int wire_bytes_per_element;  // 0: nothing is sparse
  int wire_messages;
};

/// gTop-k's pairs are an int64 index and an fp32 value, joined into an array of float64.
inline constexpr std::array<GtopkAlgorithm, 3> kGtopkAlgorithms = {
    {{"dense", "ring-all-reduce", 0, 0},
     {"topk", "ring-all-gather", 8, 2},
     {"topk", "gtopk", 16, 1}}};

struct GtopkModel {
  std::string_view model;
  std::string_view trace;  // "p102-100": one made of this very row; "v100": shares of another GPU
  int batch;               // per GPU, over the whole iteration
  int accumulation;        // micro-steps
  double alone;            // samples/s of one worker
  /// Samples/s of each worker, by algorithm, with 4, 8, 16 and 32 workers.
  std::array<std::array<double, kGtopkWorkers.size()>, kGtopkAlgorithms.size()> throughput;

  /// An iteration of one worker alone, to the microsecond.
  Seconds compute() const { return iteration_at(alone); }
  Seconds iteration_at(double samples_per_second) const;
  /// "iteration-resnet-20-p102-100"
  std::string trace_name() const;
};

/// plot_breakdown of the same script: the parts of a gTop-k iteration on 32 workers.
struct GtopkBreakdown {
  std::string_view model;
  Seconds compress;
  Seconds communicate;
};

inline constexpr std::array<GtopkBreakdown, 4> kGtopkBreakdowns = {
    {{"vgg-16-cifar", Seconds{0.091353}, Seconds{0.811753}},
     {"resnet-20", Seconds{0.001618}, Seconds{0.024686}},
     {"alexnet", Seconds{0.383776}, Seconds{3.36298}},
     {"resnet-50", Seconds{0.15405}, Seconds{1.424253}}}};

inline constexpr std::array<GtopkModel, 5> kGtopkModels = {{
    {"vgg-16-cifar",
     "p102-100",
     128,
     1,
     1317.333,
     {{{104.200, 92.560, 39.480, 12.600},
       {110.576, 109.900, 97.865, 63.002},
       {131.060, 130.551, 126.434, 123.200}}}},
    {"resnet-20",
     "p102-100",
     128,
     1,
     920.632,
     {{{821.700, 705.200, 520.400, 287.900},
       {908.837, 752.985, 737.594, 696.029},
       {916.260, 868.730, 808.500, 789.300}}}},
    {"alexnet",
     "v100",
     64,
     1,
     173.469,
     {{{14.010, 12.118, 4.936, 1.234},
       {14.238, 13.865, 13.352, 9.236},
       {16.536, 16.446, 16.359, 15.777}}}},
    {"resnet-50",
     "v100",
     256,
     16,
     52.873,
     {{{39.002, 36.989, 23.176, 10.721},
       {37.729, 35.703, 34.495, 30.583},
       {39.795, 39.713, 39.060, 39.119}}}},
    {"lstm-ptb",
     "p102-100",
     64,
     1,
     392.0,
     {{{12.657, 8.7, 4.1, 2.1}, {19.9, 18.6, 14.8, 5.4}, {17.8, 17.6, 15.1, 10.8}}}},
}};

}  // namespace gradcast
