// The costs of one device as another's: a roofline of memory bandwidth and launches. A guess where
// nothing was timed, and wrong for what memory does not bound (traces/README.md has by how much).
#pragma once
#include <string>

#include "sim/inputs/cost_table.hpp"
#include "sim/inputs/devices.hpp"

namespace gradcast {

/// A call's floor, the least time of its line (the sizes of one compressor, mode, implementation,
/// density, number of workers and input), is launches, and goes with what a launch takes. What is
/// above it is streaming, and goes with the inverse of the bandwidth. Of a line of one size nothing
/// tells the floor: all of it is taken as streaming. The rows become `derived`.
CostTable scaled_to(const CostTable& table, const Device& from, const Device& to);

/// The device that a table is of: `named`, else what its `# device:` says, else what the file's
/// name has after "cost-". Throws ValueError where that is none of the devices.
const Device& device_of(const CostTable& table, const std::string& named,
                        const std::vector<Device>& devices);

/// Both, with the project's devices. Throws ValueError for an unknown device.
CostTable transferred(const CostTable& table, const std::string& named, const std::string& to,
                      DataFiles& files);

}  // namespace gradcast
