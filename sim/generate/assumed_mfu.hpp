// Utilisation of a GPU's arithmetic (MFU) that others report. Traces of today's models are derived
// from it.
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

}  // namespace gradcast
