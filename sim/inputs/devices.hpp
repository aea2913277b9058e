// Devices: memory bandwidth, launches and multiprocessors, by which costs are carried over from one
// to another, and peaks of arithmetic, by which times are derived where none were measured.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/number_type.hpp"

namespace gradcast {

struct Device {
  std::string name;  // "a100-80gb"
  BytesPerSecond memory_bandwidth{};
  Seconds launch{0};
  std::string source;
  // Dense peaks, without sparsity; none where no figure is known or the device lacks the type.
  std::optional<FlopsPerSecond> fp32{}, tf32{}, fp16{}, bf16{};

  Bytes memory{};                   // 0 where no figure is known
  int sms = 0;                      // streaming multiprocessors; 0 where no figure is known
  std::vector<std::string> also{};  // other names: "h100-80gb-hbm3"

  std::optional<FlopsPerSecond> peak(NumberType type) const;
};

/// One file, `traces/devices.csv`.
inline constexpr DataKind kDevices{"devices file", "traces", "devices"};

/// Throws DataError.
std::vector<Device> load_devices(const TextFile& file);

/// The device of that name. Throws ValueError with what is known.
const Device& device_named(const std::vector<Device>& devices, const std::string& name);

/// The device that another name stands for, a device's own name or a file's: "Tesla V100-PCIE-32GB"
/// and "v100-pytorch-1.1" are v100, "NVIDIA H100 80GB HBM3" is h100-sxm. nullptr for none.
const Device* device_meant(const std::vector<Device>& devices, const std::string& text);

}  // namespace gradcast
