// One GPU's training as others report it: the utilisation of its arithmetic (MFU), or seconds of a
// step. Traces of today's models are derived from it.
#pragma once
#include <string_view>
#include <vector>

namespace gradcast {

/// Model FLOPs utilisation: 3 x forward FLOPs over what the device could do in that time.
struct AssumedMfu {
  std::string_view model;
  std::string_view device;  // as in traces/devices.csv
  int batch;                // samples of an iteration on one GPU
  double percent;
  std::string_view source;  // lines of at most 100 characters, with "\n" between
};

const std::vector<AssumedMfu>& assumed_mfus();

/// Seconds of a step of one GPU in mixed precision, the optimizer's included, in both layouts of
/// images in memory.
struct TimedSteps {
  std::string_view model;
  std::string_view device;
  int timed;  // samples of a step
  double channels_last;
  double channels_first;
  int batch;  // of the trace, by proportion
};

const std::vector<TimedSteps>& timed_steps();

}  // namespace gradcast
