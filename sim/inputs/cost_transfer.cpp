#include "sim/inputs/cost_transfer.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

using TimeMember = Seconds CostRow::*;

constexpr TimeMember kTimes[] = {&CostRow::encode, &CostRow::encode_p95, &CostRow::decode,
                                 &CostRow::decode_p95};

/// Rows of several tensors belong to the same line: they take as many launches as rows of one
/// tensor.
auto line_of(const CostRow& row) {
  return std::tie(row.compressor, row.mode, row.implementation, row.parameter, row.density,
                  row.workers, row.distribution);
}
using LineKey = std::tuple<std::string, std::string, std::string, double, double, int, std::string>;

std::map<LineKey, Seconds> floors_of(const CostTable& table, TimeMember time) {
  std::map<LineKey, Seconds> least;
  std::map<LineKey, std::set<std::int64_t>> sizes;
  for (const CostRow& row : table.rows) {
    const auto [found, first] = least.try_emplace(line_of(row), row.*time);
    if (!first) found->second = std::min(found->second, row.*time);
    sizes[line_of(row)].insert(row.elements);
  }
  for (auto& [line, floor] : least)
    if (sizes[line].size() == 1) floor = Seconds{0};
  return least;
}

using Kernel = std::pair<std::string, std::string>;  // a compressor, and whose

/// The kernels that take so much longer to encode than it takes to read the elements once, in each
/// of their lines, that neither memory nor the number of multiprocessors binds them: one thread
/// block does the work. torch.topk up to 1.1 takes 2800 times as long on a V100; that of PyTorch
/// 2.6 takes 36 times on an H20. Kernels that select among samples first lie between.
std::set<Kernel> kernels_of_one_block(const CostTable& table, const Device& from) {
  constexpr double kMostByMemory = 500;
  constexpr double kLeastLaunches = 100;  // less may be launches
  std::map<LineKey, const CostRow*> largest;
  for (const CostRow& row : table.rows) {
    const CostRow*& its = largest[line_of(row)];
    if (its == nullptr || row.elements > its->elements) its = &row;
  }
  const std::map<LineKey, Seconds> floors = floors_of(table, &CostRow::encode);
  std::map<Kernel, bool> of_one_block;
  for (const auto& [line, row] : largest) {
    const Seconds above = row->encode - floors.at(line);
    if (above < kLeastLaunches * from.launch) continue;
    const Bytes read{4 * row->elements};
    bool& all =
        of_one_block.try_emplace({row->compressor, row->implementation}, true).first->second;
    all = all && above > kMostByMemory * (read / from.memory_bandwidth);
  }
  std::set<Kernel> kernels;
  for (const auto& [kernel, all] : of_one_block)
    if (all) kernels.insert(kernel);
  return kernels;
}

/// One block's time differs from GPU to GPU by its clock and its code: torch.topk took a V100 1.9
/// to 2.1 times as long as a P102-100 (traces/README.md).
constexpr double kDoubtOfOneBlock = 2.1;

/// Times of kernels that memory does not bound go by multiprocessors. If the numbers of those are
/// not known, the times are taken to get no shorter at all.
double at_most(const Device& from, const Device& to) {
  const double streaming = from.memory_bandwidth.value / to.memory_bandwidth.value;
  const bool known = from.sms > 0 && to.sms > 0;
  return std::max(streaming, known ? static_cast<double>(from.sms) / to.sms : 1.0);
}

}  // namespace

std::string device_text(const CostTable& table) {
  if (!table.device.empty()) return table.device;
  std::string says = std::filesystem::path(table.name).stem().string();
  constexpr std::string_view kPrefix = "cost-";
  if (says.starts_with(kPrefix)) says.erase(0, kPrefix.size());
  return says;
}

CostTable scaled_to(const CostTable& table, const Device& from, const Device& to) {
  const double launches = to.launch / from.launch;
  const double streaming = from.memory_bandwidth.value / to.memory_bandwidth.value;
  const double doubt = at_most(from, to) / streaming;
  CostTable scaled = table;
  scaled.device = to.name + ", scaled from " + from.name;
  const std::set<Kernel> of_one_block =
      from.name == to.name ? std::set<Kernel>{} : kernels_of_one_block(table, from);
  const auto is_one_block = [&](const CostRow& row) {
    return of_one_block.contains({row.compressor, row.implementation});
  };
  for (const TimeMember time : kTimes) {
    const std::map<LineKey, Seconds> floors = floors_of(table, time);
    const bool encodes = time == &CostRow::encode || time == &CostRow::encode_p95;
    for (CostRow& row : scaled.rows) {
      const Seconds floor = floors.at(line_of(row));
      const bool stays = encodes && is_one_block(row);
      row.*time = launches * floor + (stays ? 1 : streaming) * (row.*time - floor);
    }
  }
  for (CostRow& row : scaled.rows) {
    row.evidence = "derived";
    const bool one_block = is_one_block(row);
    const double above = std::log(one_block ? kDoubtOfOneBlock : doubt);
    row.factors.high = std::exp(std::hypot(std::log(row.factors.high), above));
    if (one_block)
      row.factors.low =
          std::exp(-std::hypot(std::log(row.factors.low), std::log(kDoubtOfOneBlock)));
  }
  return scaled;
}

bool stays_as_it_is(const CostTable& table, const Device& from, const std::string& compressor,
                    const std::string& implementation) {
  return kernels_of_one_block(table, from).contains({compressor, implementation});
}

CostTable times_as_long(CostTable table, double factor) {
  for (CostRow& row : table.rows)
    for (const TimeMember time : kTimes) row.*time *= factor;
  return table;
}

const Device& device_of(const CostTable& table, const std::string& named,
                        const std::vector<Device>& devices) {
  if (!named.empty()) return device_named(devices, named);
  const std::string says = device_text(table);
  if (const Device* meant = device_meant(devices, says)) return *meant;
  throw ValueError("costs are scaled from a known device to a known one, and '" + says + "' of " +
                   table.name + " is none of traces/devices.csv: --costs-of says which it is");
}

bool is_cpu(std::string_view device) {
  // Recordings name it as /proc/cpuinfo does: "Intel(R) Xeon(R) Processor".
  const std::string name = in_lower_case(device);
  const auto holds = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  if (name.starts_with(kCpu)) return true;
  if (holds("gpu") || holds("nvidia") || holds("instinct")) return false;  // beside its host's CPU
  constexpr std::string_view kCpus[] = {"cpu",      "xeon",         "epyc",     "ryzen",
                                        "core(tm)", "threadripper", "neoverse", "graviton"};
  return std::any_of(std::begin(kCpus), std::end(kCpus), holds);
}

bool is_of_gpu(const CostTable& table, const std::vector<Device>& devices) {
  const std::string says = device_text(table);
  if (is_cpu(says)) return false;
  return device_meant(devices, says) != nullptr ||
         std::any_of(table.rows.begin(), table.rows.end(),
                     [](const CostRow& row) { return row.implementation == kCudaImplementation; });
}

CostTable guessed_for_cpu(CostTable table, const std::vector<Device>& devices) {
  if (!is_of_gpu(table, devices)) return table;
  for (const TimeMember time : kTimes) {
    const std::map<LineKey, Seconds> floors = floors_of(table, time);
    for (CostRow& row : table.rows) {
      const Seconds floor = floors.at(line_of(row));
      row.*time = floor + kCpuOverGpu * (row.*time - floor);
    }
  }
  for (CostRow& row : table.rows) {
    if (row.implementation == kCudaImplementation) row.implementation = kCpuImplementation;
    row.evidence = "derived";
    row.factors.low =
        std::exp(-std::hypot(std::log(row.factors.low), std::log(kCpuOverGpuFactors.low)));
    row.factors.high =
        std::exp(std::hypot(std::log(row.factors.high), std::log(kCpuOverGpuFactors.high)));
  }
  table.device = "CPU, guessed from " + (table.device.empty() ? "a GPU" : table.device);
  table.guessed_for_cpu = true;
  return table;
}

CostTable transferred(const CostTable& table, const std::string& named, const std::string& to,
                      DataFiles& files) {
  const std::vector<Device> devices = load_devices(files.read(kDevices, "devices"));
  if (to == kCpu) return guessed_for_cpu(table, devices);
  return scaled_to(table, device_of(table, named, devices), device_named(devices, to));
}

}  // namespace gradcast
