// Everything that decides an iteration's time, in one value.
#pragma once
#include <string>

#include "kernels/compressor.hpp"
#include "sim/cluster.hpp"
#include "sim/collective.hpp"
#include "sim/compressor_costs.hpp"
#include "sim/cost_table.hpp"
#include "sim/fusion.hpp"
#include "sim/iteration_trace.hpp"
#include "sim/model.hpp"

namespace gradcast {

struct Scenario {
  Model model;
  IterationTrace trace;  // of the batch that is run
  CostTable costs;
  Cluster cluster;
  const Compressor* compressor = nullptr;
  const Collective* collective = nullptr;
  double density = 0.001;      // of sparse compressors: k = density x elements
  std::string mode;            // of the compressor; "" leaves the choice to the cost table
  std::string implementation;  // of the compressor; "" leaves the choice to the cost table
  SelectionScope selection = SelectionScope::Merged;
  Fusion fusion;
  bool overlap = false;            // communication with backward
  int wire_bytes_per_element = 8;  // sparse: fp32 value and int32 index
  int wire_messages = 1;           // sparse: 2 sends values and indices in a collective each

  bool sparse() const { return compressor->aggregation == Aggregation::AllGather; }
};

/// The same run without compression: what a speedup is measured against.
Scenario dense_twin(Scenario scenario);

}  // namespace gradcast
