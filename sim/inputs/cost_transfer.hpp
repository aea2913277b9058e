// Turns the costs of one device into those of another, by a roofline of memory bandwidth and
// launches. The result is a guess for a device that was not timed. Times that memory cannot explain
// stay as they are (traces/README.md says how far off that was).
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
///
/// A kernel that takes over 500 times as long to encode as to read its elements once, in each of
/// its lines, is the work of one thread block, as torch.topk of PyTorch up to 1.1 is. It takes as
/// long on the other device, 2.1 times more or less.
CostTable scaled_to(const CostTable& table, const Device& from, const Device& to);

/// True for such a kernel of one thread block.
bool stays_as_it_is(const CostTable& table, const Device& from, const std::string& compressor,
                    const std::string& implementation);

/// The table's device in its own words, else in those of its file's name.
std::string device_text(const CostTable& table);

/// The device on which a table was found: `named`, else the one in its `# device:` line, else the
/// one in the file's name after "cost-". Throws ValueError where that is none of the devices.
const Device& device_of(const CostTable& table, const std::string& named,
                        const std::vector<Device>& devices);

/// The device to which costs are scaled where a CPU compresses. traces/devices.csv has GPUs alone.
inline constexpr std::string_view kCpu = "cpu";

/// True for the text of a trace's or table's `# device:` line that means a CPU.
bool is_cpu(std::string_view device);

/// True if a GPU's kernels were timed or derived: the table names a known GPU, or has rows of the
/// project's CUDA kernels.
bool is_of_gpu(const CostTable& table, const std::vector<Device>& devices);

/// Time of a V100's kernel on a CPU, as a factor, and its 90 % interval. The low end, 10, is
/// memory bandwidth: a V100 has 900 GB/s, a server with all its cores 90 or more. The high end,
/// 2500, is one core, which arithmetic binds: `gradcast calibrate --device cpu` and probes timed
/// topk, int8, onebit and qsgd of 4 to 6 million elements on one core of an EPYC, and they took 40
/// to 2500 times as long as cost-v100-derived says; fp16 and PowerSGD of PyTorch took 30 to 150
/// times. The value is the geometric mean of both ends.
inline constexpr double kCpuOverGpu = 160;
inline constexpr CostFactors kCpuOverGpuFactors{1.0 / 16, 16};

/// A guess of the costs on a CPU from those of a GPU: the time above a line's floor grows by
/// kCpuOverGpu. The floor stays: a GPU's launch takes about what a call takes on the host. CUDA
/// kernels become those of the CPU. A table that is of no GPU stays as it is.
CostTable guessed_for_cpu(CostTable table, const std::vector<Device>& devices);

/// Does both steps above, with the project's devices; kCpu makes a guess for a CPU. Throws
/// ValueError for an unknown device.
CostTable transferred(const CostTable& table, const std::string& named, const std::string& to,
                      DataFiles& files);

/// Every time of the table, so many times as long.
CostTable times_as_long(CostTable table, double factor);

}  // namespace gradcast
