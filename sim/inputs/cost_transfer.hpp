// Turns the costs of one device into those of another, by a roofline of memory bandwidth and
// launches. The result is a guess for a device that was not timed. It is wrong for kernels that
// memory does not bound (traces/README.md says by how much).
#pragma once
#include <string>

#include "sim/inputs/cost_table.hpp"
#include "sim/inputs/devices.hpp"

namespace gradcast {

/// The floor of a call is the least time of its line (the sizes of one compressor, mode,
/// implementation, density, number of workers and input). The floor is taken as launches, and
/// scales with the time of a launch. The time above it is taken as streaming, and scales with the
/// inverse of the bandwidth. A line of one size does not show its floor: all of its time is taken
/// as streaming. The rows become `derived`.
///
/// The upper end of their interval is that of kernels which memory does not bound, and which go by
/// the number of multiprocessors instead: `factors.high` grows by how much longer those take. Both
/// doubts are taken as independent, so that their logarithms add up as squares do.
CostTable scaled_to(const CostTable& table, const Device& from, const Device& to);

/// The device on which a table was found: `named`, else the one in its `# device:` line, else the
/// one in the file's name after "cost-". Throws ValueError where that is none of the devices.
const Device& device_of(const CostTable& table, const std::string& named,
                        const std::vector<Device>& devices);

/// Does both steps above, with the project's devices. Throws ValueError for an unknown device.
CostTable transferred(const CostTable& table, const std::string& named, const std::string& to,
                      DataFiles& files);

/// Every time of the table, so many times as long.
CostTable times_as_long(CostTable table, double factor);

}  // namespace gradcast
