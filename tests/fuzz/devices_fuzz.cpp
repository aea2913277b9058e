// room: inputs
// seeds: traces/devices.csv
// words: sim/inputs/devices.cpp

#include "sim/inputs/devices.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const std::vector<Device> devices = load_devices(text_file(bytes, "devices.csv"));
  for (const Device& device : devices) {
    require(device_named(devices, device.name).name == device.name, "a device is found by name");
    device_meant(devices, device.source);
  }
}

const Harness harness("devices", read);

}  // namespace
}  // namespace gradcast::fuzz
