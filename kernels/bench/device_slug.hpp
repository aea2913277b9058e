// Devices in file names. Read by C++ and CUDA: C++17.
#pragma once
#include <string>

namespace gradcast {

/// "NVIDIA H200" is "h200", "Intel(R) Xeon(R) CPU @ 2.20GHz" is "intel-xeon".
/// traces/recording/device.py has the same rule.
std::string device_slug(std::string name);

}  // namespace gradcast
