#include "sim/inputs/devices.hpp"

#include <array>
#include <set>

#include "kernels/bench/device_slug.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::array kDeviceColumns = {
    "device", "memory_bandwidth", "launch", "source", "fp32", "tf32", "fp16", "bf16", "sms",
    "also", "memory"};
constexpr std::size_t kRequiredDeviceColumns = 4;  // what else is known may be missing
constexpr std::int64_t kMostSms = 10'000;

std::optional<FlopsPerSecond> peak_in(const CsvReader& rows, NumberType type) {
  if (rows.text(to_text(type)).empty()) return std::nullopt;
  return rows.value(to_text(type), parse_flop_rate);
}

}  // namespace

std::optional<FlopsPerSecond> Device::peak(NumberType type) const {
  switch (type) {
    case NumberType::Tf32:
      return tf32;
    case NumberType::Fp16:
      return fp16;
    case NumberType::Bf16:
      return bf16;
    case NumberType::Fp32:
      break;
  }
  return fp32;
}

std::vector<Device> load_devices(const TextFile& file) {
  std::vector<Device> devices;
  std::set<std::string> seen;
  CsvReader rows(file, kDeviceColumns, kRequiredDeviceColumns);
  while (rows.next()) {
    Device device;
    device.name = rows.word("device");
    if (!seen.insert(device.name).second)
      throw rows.failure("device", "'" + device.name + "' stands twice");
    device.memory_bandwidth = rows.value("memory_bandwidth", parse_rate);
    device.launch = rows.value("launch", parse_time);
    if (device.launch <= Seconds{0}) throw rows.failure("launch", "takes more than 0 s");
    device.source = rows.word("source");
    device.fp32 = peak_in(rows, NumberType::Fp32);
    device.tf32 = peak_in(rows, NumberType::Tf32);
    device.fp16 = peak_in(rows, NumberType::Fp16);
    device.bf16 = peak_in(rows, NumberType::Bf16);
    if (!rows.text("sms").empty()) device.sms = static_cast<int>(rows.integer("sms", 1, kMostSms));
    if (!rows.text("memory").empty()) device.memory = rows.value("memory", parse_bytes);
    for (const std::string& name : split_words(rows.text("also"), ' '))
      if (!name.empty()) device.also.push_back(name);
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
  const Device* meant = nullptr;
  std::size_t longest = 0;  // of the names that fit: "a100-80gb-pcie" before "a100-80gb"
  const auto consider = [&](const Device& device, const std::string& name) {
    if ((slug == name || slug.starts_with(name + "-")) && name.size() > longest) {
      meant = &device;
      longest = name.size();
    }
  };
  for (const Device& device : devices) {
    consider(device, device.name);
    for (const std::string& name : device.also) consider(device, name);
  }
  return meant;
}

}  // namespace gradcast
