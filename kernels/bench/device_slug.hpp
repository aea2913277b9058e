// The names of devices in file names. Both C++ and CUDA read this file: C++17.
#pragma once
#include <string>

namespace gradcast {

/// "NVIDIA H200" is "h200", "Intel(R) Xeon(R) CPU @ 2.20GHz" is "intel-xeon".
/// traces/recording/device.py has the same rule.
std::string device_slug(std::string name);

}  // namespace gradcast
