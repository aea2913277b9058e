// A network of three layers on two ranks, with numbers that can be added in the head.
#pragma once
#include "sim/plan/scenario.hpp"

namespace gradcast::toy {

inline constexpr double kMilli = 1e-3;

/// Layers a, b, c of 1000, 2000 and 3000 elements; forward 1, 2, 3 ms; backward 2, 4, 6 ms; update
/// 1 ms. Two nodes of one GPU over 1 MB/s and no latency: 1000 bytes are 1 ms.
inline Scenario scenario(const char* compressor = "dense") {
  Scenario scenario;
  scenario.extrapolate = true;  // its costs are of one density and few sizes
  scenario.model = Model{"toy", {{"a", "a", 1000, 0}, {"b", "b", 2000, 0}, {"c", "c", 3000, 0}}};
  scenario.trace = IterationTrace{"toy-trace",
                                  "toy",
                                  1,
                                  Seconds{1 * kMilli},
                                  {{"a", Seconds{1 * kMilli}, Seconds{2 * kMilli}},
                                   {"b", Seconds{2 * kMilli}, Seconds{4 * kMilli}},
                                   {"c", Seconds{3 * kMilli}, Seconds{6 * kMilli}}}};
  scenario.cluster.name = "toy";
  scenario.cluster.nodes = 2;
  scenario.cluster.gpus_per_node = 1;
  scenario.cluster.nic = {BytesPerSecond{1e6}, Seconds{0}};
  scenario.cluster.intra = {BytesPerSecond{1e9}, Seconds{0}};
  scenario.compressor = find_compressor(compressor);
  scenario.collective = &default_collective(scenario.compressor->aggregation);
  scenario.density = 0.01;
  if (scenario.compressor->packing != nullptr) scenario.wire_bytes_per_element = 0;
  scenario.parameter = scenario.compressor->parameter.usual;
  const bool sparse = scenario.sparse();
  // Encode takes 1 us an element, decode 0.5 us, whatever the density or the workers.
  for (const std::int64_t elements : {100, 10'000})
    for (const int workers : {1, 16}) {
      CostRow row{.compressor = sparse ? "topk" : compressor,
                  .mode = scenario.compressor->two_modes && !sparse ? "code" : "",
                  .implementation = "toy",
                  .tensors = 1,
                  .elements = elements,
                  .density = sparse ? 0.01 : 1,
                  .workers = workers,
                  .distribution = "normal",
                  .selected = static_cast<double>(elements) / (sparse ? 100 : 1),
                  .encode = Seconds{1e-6 * static_cast<double>(elements)},
                  .encode_p95 = {},
                  .decode = Seconds{0.5e-6 * static_cast<double>(elements)},
                  .decode_p95 = {},
                  .samples = 0,
                  .evidence = "derived"};
      scenario.costs.change().rows.push_back(row);
    }
  scenario.costs.change().name = "toy-costs";
  return scenario;
}

}  // namespace gradcast::toy
