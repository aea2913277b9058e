#include "sim/forecast/usual_costs.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/compressor_file.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_transfer.hpp"
#include "sim/inputs/family_costs.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/network/nccl_rule.hpp"

namespace gradcast {
namespace {

/// The cluster's GPU, as the trace is scaled to it. nullptr where the cluster's file is not there:
/// the forecast says so first; and, for a trace of an unknown GPU, where that file names none.
const Device* gpu_of_cluster(const Request& request, const std::vector<Device>& devices,
                             DataFiles& files) {
  try {
    const Cluster cluster = cluster_of(request, files);
    return names_gpu(cluster) || request.others_trace ? &gpu_of(cluster, devices) : nullptr;
  } catch (const ValueError&) {
    return nullptr;
  } catch (const DataError&) {
    return nullptr;
  }
}

/// The GPU that compresses: the trace's, and by today's preset the cluster's where somebody named
/// it or where the trace is of another for want of one, or says nothing. nullptr where it is not
/// known.
const Device* compressing_gpu(const Request& request, const std::vector<Device>& devices,
                              DataFiles& files) {
  const Device* device = device_meant(devices, device_of_trace(request, files));
  if (request.today && (request.others_trace || device == nullptr || request.knows_own_gpu()))
    if (const Device* own = gpu_of_cluster(request, devices, files)) device = own;
  return device;
}

/// True where a CPU computes, and so compresses: the trace is of one, and neither the cluster nor
/// the request names a GPU.
bool compresses_on_cpu(const Request& request, DataFiles& files) {
  if (request.payload || request.implementation == kCudaImplementation ||
      !is_cpu(device_of_trace(request, files)))
    return false;
  try {
    return !names_gpu(cluster_of(request, files));
  } catch (const ValueError&) {  // the forecast says which file is wrong
    return false;
  } catch (const DataError&) {
    return false;
  }
}

bool asks_for_papers(const Request& request) {
  const std::string& made = request.implementation;
  return request.mode == "paper" || (!made.empty() && !made.starts_with("gradcast"));
}

bool has_rows(const CostTable& table, std::string_view compressor) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const CostRow& row) { return row.compressor == compressor; });
}

/// The table that a request names. A table without the rows that are sought is no input of the
/// answer.
std::shared_ptr<const CostTable> named_table(const Request& request, const DataFiles& files) {
  DataFiles others = files.beside();
  return others.parsed(others.read(kCostTables, request.costs, request.costs_folder),
                       load_cost_table);
}

bool has_costs(const Request& request, std::string_view compressor, const DataFiles& files) {
  return has_rows(*named_table(request, files), compressor);
}

bool has_costs_of_family(const Request& request, Family family, const DataFiles& files) {
  const auto table = named_table(request, files);
  const auto all = all_compressors();
  return std::any_of(all.begin(), all.end(), [&](const Compressor* each) {
    return each->family == family && has_rows(*table, each->name);
  });
}

/// True for a run of today whose PyTorch has the torch.topk of 1.12. NCCL 2.10.3 came with 1.10 to
/// 1.12: without a name of PyTorch it is taken for an older one.
bool has_torch_of_today(const Request& request) {
  constexpr std::string_view kTorch = "torch-";
  const bool asks = request.implementation == "torch" ||
                    (request.implementation.empty() && request.mode == "paper");
  if (!request.today || !asks) return false;
  if (request.nccl.empty()) return true;
  if (request.nccl.starts_with(kTorch))
    return !natural_less(request.nccl.substr(kTorch.size()), "1.12");
  try {
    return parse_nccl_version(request.nccl) > NcclVersion{2, 10, 3};
  } catch (const ValueError&) {  // the forecast says so
    return true;
  }
}

/// A table that is not named follows the preset and the GPU. Those of a V100 are not scaled to one.
Request by_gpu(Request request, DataFiles& files) {
  if (!request.costs.empty()) return request;
  request.costs = kPaperCosts;
  if (request.payload || !files.has(kCostTables, kDerivedCosts)) return request;
  DataFiles others = files.beside();  // an answer that does not use them need not name them
  const auto devices = others.parsed(others.read(kDevices, "devices"), load_devices);
  const bool on_cpu = compresses_on_cpu(request, others);
  const Device* gpu = on_cpu ? nullptr : compressing_gpu(request, *devices, others);
  if (gpu != nullptr && has_torch_of_today(request) && files.has(kCostTables, kTorchCosts)) {
    Request today = request;
    today.costs = kTorchCosts;
    if (today.costs_device.empty()) today.costs_device = gpu->name;
    if (has_costs(today, request.compressor, files)) return today;
  }
  if (on_cpu && request.costs_device.empty()) request.costs_device = kCpu;
  const bool scaled = gpu != nullptr && !gpu->name.starts_with("v100");
  if (scaled && request.costs_device.empty()) request.costs_device = gpu->name;
  if ((scaled || request.today) && !asks_for_papers(request)) request.costs = kDerivedCosts;
  return request;
}

Request by_usual_costs(Request request, DataFiles& files) {
  request.costs.clear();
  request.costs_folder.clear();
  request.costs_device.clear();
  request.costs_of.clear();
  return by_gpu(std::move(request), files);
}

/// The request with the table that the compressor's file names; a path begins beside that file.
Request by_own_costs(Request request, const DescribedCompressor& own) {
  request.costs = is_path(own.costs) ? (own.folder / own.costs).string() : own.costs;
  request.costs_folder.clear();
  return request;
}

Request with_table_of_compressor(Request request, DataFiles& files) {
  const Compressor& compressor = known_compressor(request.compressor);
  if (compressor.family == Family::Dense || has_costs(request, compressor.name, files))
    return request;
  const DescribedCompressor* own = described(compressor);
  if (own != nullptr && !own->costs.empty()) {
    Request its = by_own_costs(request, *own);
    its.costs_device.clear();
    its.costs_of.clear();
    if (has_costs(its, compressor.name, files)) return its;
    throw DataError(its.costs, 0, "has no costs of '" + own->own_name + "', whose file names it");
  }
  if (own == nullptr && !is_path(request.costs)) return request;  // that table was meant
  Request usual = by_usual_costs(request, files);
  if (has_costs(usual, compressor.name, files)) return usual;
  return own != nullptr && !has_costs_of_family(request, compressor.family, files) ? usual
                                                                                   : request;
}

}  // namespace

Request with_costs_of_compressor(Request request, DataFiles& files) {
  request = with_table_of_compressor(std::move(request), files);
  if (!request.costs_device.empty() || known_compressor(request.compressor).family == Family::Dense)
    return request;
  DataFiles others = files.beside();
  if (!others.has(kDevices, "devices") || !compresses_on_cpu(request, others)) return request;
  const auto devices = others.parsed(others.read(kDevices, "devices"), load_devices);
  if (is_of_gpu(*named_table(request, files), *devices)) request.costs_device = kCpu;
  return request;
}

std::shared_ptr<const CostTable> cost_table_of(const Request& request, const TextFile& file,
                                               DataFiles& files) {
  auto table = files.parsed(file, load_cost_table);
  std::string key = file.path.native();
  const Compressor& compressor = known_compressor(request.compressor);
  if (described(compressor) != nullptr && !has_rows(*table, compressor.name)) {
    key += "\nfamily of " + std::string(compressor.name);
    table = files.made<CostTable>(key, [&] { return family_costs(*table, compressor); });
  }
  if (request.costs_device.empty()) return table;
  const std::string& to = request.costs_device;
  // Read each time: it is an input of every answer that it is used for.
  files.read(kDevices, "devices");
  return files.made<CostTable>(join({key, request.costs_of, to}, "\n"),
                               [&] { return transferred(*table, request.costs_of, to, files); });
}

bool costs_of_family(const Request& request, DataFiles& files) {
  const Compressor* compressor = find_compressor(request.compressor);
  if (compressor == nullptr || described(*compressor) == nullptr) return false;
  try {
    const Request its = with_costs_of_compressor(by_gpu(request, files), files);
    return !has_costs(its, compressor->name, files);
  } catch (const ValueError&) {  // the forecast says which file is wrong
    return false;
  } catch (const DataError&) {
    return false;
  }
}

std::vector<std::string> compressors_with_costs(const Request& request, DataFiles& files) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  const auto add_those_of = [&](const Request& asked) {
    const TextFile& file = files.read(kCostTables, asked.costs, asked.costs_folder);
    for (const std::string& name : compressors_in(*files.parsed(file, load_cost_table))) add(name);
  };
  add_those_of(request);
  if (is_path(request.costs)) add_those_of(by_usual_costs(request, files));
  for (const std::string& name : described_names()) add(name);
  return names;
}

Request with_usual_costs(Request request, DataFiles& files) {
  const Compressor* compressor = find_compressor(request.compressor);
  const DescribedCompressor* own = compressor != nullptr ? described(*compressor) : nullptr;
  if (request.costs.empty() && own != nullptr && !own->costs.empty())
    return by_own_costs(std::move(request), *own);
  request = by_gpu(std::move(request), files);
  if (compressor == nullptr || request.payload) return request;
  try {
    return with_costs_of_compressor(request, files);
  } catch (const ValueError&) {  // the forecast says which file is wrong
    return request;
  } catch (const DataError&) {
    return request;
  }
}

std::string scaled_costs_words(const std::string& costs, const std::string& device) {
  if (device == kCpu)
    return "guessed for a CPU, up to " + fixed(kCpuOverGpu, 0) + " times a GPU's (" + costs +
           "): not measured; `gradcast calibrate --device cpu` measures them";
  if (costs == kDerivedCosts)
    return "derived " + (device.empty() ? "" : "for " + device + " ") +
           "from the simulated V100: not measured";
  if (device.empty()) return "";
  return "scaled to " + device + " from " + costs + ": not measured there";
}

}  // namespace gradcast
