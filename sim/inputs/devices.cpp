#include "sim/inputs/devices.hpp"

#include <array>
#include <set>

#include "kernels/bench/device_slug.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::array kDeviceColumns = {"device", "memory_bandwidth", "launch", "source"};

}  // namespace

std::vector<Device> load_devices(const TextFile& file) {
  std::vector<Device> devices;
  std::set<std::string> seen;
  CsvReader rows(file, kDeviceColumns);
  while (rows.next()) {
    Device device;
    device.name = rows.word("device");
    if (!seen.insert(device.name).second)
      throw rows.failure("device", "'" + device.name + "' stands twice");
    device.memory_bandwidth = rows.value("memory_bandwidth", parse_rate);
    device.launch = rows.value("launch", parse_time);
    if (device.launch <= Seconds{0}) throw rows.failure("launch", "takes more than 0 s");
    device.source = rows.word("source");
    devices.push_back(std::move(device));
  }
  if (devices.empty()) throw rows.failure("the file has no device");
  return devices;
}

const Device& device_named(const std::vector<Device>& devices, const std::string& name) {
  std::vector<std::string> known;
  for (const Device& device : devices) {
    if (device.name == name) return device;
    known.push_back(device.name);
  }
  throw ValueError("unknown device '" + name + "'" + did_you_mean(name, known) +
                   " (known: " + join(known) + ")");
}

const Device* device_meant(const std::vector<Device>& devices, const std::string& text) {
  const std::string slug = device_slug(text);
  const Device* meant = nullptr;  // the longest that fits: "a100-80gb-pcie" before "a100-80gb"
  for (const Device& device : devices)
    if ((slug == device.name || slug.starts_with(device.name + "-")) &&
        (meant == nullptr || device.name.size() > meant->name.size()))
      meant = &device;
  return meant;
}

}  // namespace gradcast
