// One rank's file, looked through.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/import/kineto/collectives.hpp"
#include "sim/import/kineto/event_reader.hpp"
#include "sim/import/kineto/gradients.hpp"
#include "sim/import/kineto/window_times.hpp"
#include "sim/inputs/sharding.hpp"

namespace gradcast::kineto {

/// The division of a fully sharded run's parameters.
struct Shards {
  int group = 0;                             // ranks that share a copy
  int copies = 1;                            // of the model
  bool gathered_again = false;               // before backward: forward drops what it gathered
  int parameter_bytes = 0;                   // of a gathered element; 0: not said
  int sum_bytes = 0;                         // of a scattered one
  std::int64_t gathered = 0, scattered = 0;  // elements of a step, with padding; 0: not said
};

/// One rank's file, as far as it is kept after it was looked through.
struct Rank {
  std::string file;
  Head head;
  std::string device;
  std::int64_t events = 0;
  std::size_t gpu_operations = 0;
  std::size_t linked = 0;
  Nanoseconds launch_latency = 0;
  Steps steps;
  std::string optimizer_class;               // "AdamW"; "": not said, or several
  std::optional<Optimizer> optimizer;        // where it is modelled, and known
  bool fused_update = false;                 // its step is one kernel
  bool sends_each = false;                   // gradient by itself, as compiled backwards do
  std::optional<Shards> shards;              // of a fully sharded run
  std::vector<WindowTimes> times;            // of the used steps
  std::vector<StepGradients> gradients;      // likewise
  std::vector<StepCollectives> collectives;  // likewise
};

/// Throws DataError, MissingError.
Rank read_rank(const std::filesystem::path& path, const ReadEvents& read);

/// Seconds, over the used steps.
double median_of(const Rank& rank, Nanoseconds WindowTimes::*member);

/// The dtype of the gradients' all-reduces; 4 where the trace does not say.
int element_bytes_of(const Rank& rank);

}  // namespace gradcast::kineto
