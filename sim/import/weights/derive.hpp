// Times that nobody measured: of a network's operators on a device of traces/devices.csv, by a
// roofline at a share of its peak.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/import/weights/network.hpp"
#include "sim/inputs/devices.hpp"

namespace gradcast {

/// The share of the peak that a training run is assumed to reach where --mfu says none: that of
/// large transformers on A100s and H100s as published by those who trained them (38 to 43 % of
/// Llama 3's on H100s, arXiv 2407.21783, table 4).
inline constexpr double kUsualMfu = 0.40;

/// --device, --tokens or --batch, --mfu, --dtype.
struct DeriveChoice {
  std::optional<Device> device;
  std::optional<int> tokens;
  std::optional<int> batch;
  std::optional<double> mfu;
  std::optional<NumberType> type;
  WeightsChoice weights;
};

/// The model, and with a device the derived trace. `stored`: the type of numbers that the file's
/// weights have, as safetensors calls it; without --dtype it says which peak counts. Throws
/// UsageError for what only the person knows, with the flag that says it.
Imported imported_from(const WeightsNetwork& network, const std::string& name,
                       const std::string& stored, const DeriveChoice& choice);

/// The type that most elements have: "BF16".
std::string stored_type(const std::vector<Weight>& weights);

}  // namespace gradcast
