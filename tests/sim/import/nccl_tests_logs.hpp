// Logs of nccl-tests, from their parts.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

#include "sim/import/network/network_facts.hpp"

namespace gradcast {

inline NetworkFacts facts_of(const std::string& text, const char* name = "run.log") {
  return read_nccl_tests({name, text});
}

inline const std::string kBegin =
    "# nThread 1 nGpus 1 minBytes 1000000 maxBytes 2000000 step: 2(factor) warmup iters: 5\n"
    "#\n# Using devices\n";

inline std::string ranks(int nodes, int gpus, const std::string& device = "NVIDIA A100-SXM4-40GB") {
  std::string text;
  for (int node = 0; node < nodes; ++node)
    for (int gpu = 0; gpu < gpus; ++gpu)
      text += "#  Rank " + std::to_string(node * gpus + gpu) + " Group  0 Pid  17 on node" +
              std::to_string(node) + " device  " + std::to_string(gpu) + " [0x07] " + device + "\n";
  return text;
}

inline const std::string kHeader =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  algbw   busbw #wrong\n";

// 1,000,000 bytes in 100 us are 10 GB/s. Of 4 ranks an all-reduce's bus has 2 x 3/4 of that.
inline const std::string kMegabyte =
    "     1000000        250000     float     sum      -1    100.0   10.00   15.00      0     90.0 "
    "  11.11   16.67      0\n";
inline const std::string kTwo =
    "     2000000        500000     float     sum      -1    180.0   11.11   16.67      0    180.0 "
    "  11.11   16.67      0\n";

/// A row whose bus has `factor` of the algorithm's bandwidth.
inline std::string nccl_row(std::int64_t bytes, double microseconds, double factor,
                            const char* root = "-1", const char* operation = "sum") {
  const double rate = static_cast<double>(bytes) / microseconds / 1e3;
  char text[200];
  std::snprintf(text, sizeof text,
                "  %lld  %lld  float  %s  %s  %.1f  %.2f  %.2f  0  %.1f  %.2f  %.2f  0",
                static_cast<long long>(bytes), static_cast<long long>(bytes / 4), operation, root,
                microseconds, rate, rate * factor, microseconds, rate, rate * factor);
  return text;
}

}  // namespace gradcast
