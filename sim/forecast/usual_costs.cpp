#include "sim/forecast/usual_costs.hpp"

#include "sim/base/error.hpp"
#include "sim/inputs/devices.hpp"
#include "sim/inputs/iteration_trace.hpp"

namespace gradcast {
namespace {

/// "" where there is no such trace: the forecast says why, and which of its files is wrong first.
std::string device_of_trace(const Request& request, DataFiles& files) {
  try {
    return files.parsed(read_trace(request, files), load_iteration_trace)->device;
  } catch (const ValueError&) {
    return "";
  } catch (const DataError&) {
    return "";
  }
}

/// nullptr where the trace's GPU is not known, or is the one of the paper's costs.
const Device* other_device(const Request& request, const std::vector<Device>& devices,
                           DataFiles& files) {
  const Device* device = device_meant(devices, device_of_trace(request, files));
  return device != nullptr && device->name != "v100" ? device : nullptr;
}

bool asks_for_papers(const Request& request) {
  const std::string& made = request.implementation;
  return request.mode == "paper" || (!made.empty() && !made.starts_with("gradcast"));
}

}  // namespace

Request with_usual_costs(Request request, DataFiles& files) {
  if (!request.costs.empty()) return request;
  request.costs = kPaperCosts;
  if (request.payload || !files.has(kCostTables, kDerivedCosts)) return request;
  DataFiles others = files.beside();  // an answer that does not use them need not name them
  const auto devices = others.parsed(others.read(kDevices, "devices"), load_devices);
  const Device* device = other_device(request, *devices, others);
  if (device == nullptr) return request;
  if (request.costs_device.empty()) request.costs_device = device->name;
  if (!asks_for_papers(request)) request.costs = kDerivedCosts;
  return request;
}

std::string scaled_costs_words(const std::string& costs, const std::string& device) {
  if (device.empty()) return "";
  if (costs == kDerivedCosts)
    return "derived for " + device + " from the simulated V100: not measured";
  return "scaled to " + device + " from " + costs + ": not measured there";
}

}  // namespace gradcast
