// Devices, as far as costs are carried over from one to another: memory bandwidth and launches.
#pragma once
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {

struct Device {
  std::string name;  // "a100-80gb"
  BytesPerSecond memory_bandwidth{};
  Seconds launch{0};
  std::string source;
};

/// One file, `traces/devices.csv`.
inline constexpr DataKind kDevices{"devices file", "traces", "devices"};

/// Throws DataError.
std::vector<Device> load_devices(const TextFile& file);

/// By its name. Throws ValueError with what is known.
const Device& device_named(const std::vector<Device>& devices, const std::string& name);

/// The device that another name stands for, a device's own name or a file's: "Tesla V100-PCIE-32GB"
/// and "v100-pytorch-1.1" are v100. nullptr for none.
const Device* device_meant(const std::vector<Device>& devices, const std::string& text);

}  // namespace gradcast
