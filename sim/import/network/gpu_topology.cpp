// The matrix of `nvidia-smi topo -m`: the GPUs of a node, its NICs, and what lies between GPUs.
#include <algorithm>
#include <optional>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/network/log_words.hpp"
#include "sim/import/network/network_facts.hpp"

namespace gradcast {
namespace {

/// GB/s of an NVLink of V100 to H100, as NCCL counts it (src/graph/topo.h).
constexpr double kNvlinkRate = 20e9;

bool names_device(std::string_view word, std::string_view what) {
  return word.starts_with(what) && word.size() > what.size() && word.size() <= what.size() + 3 &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(what.size()), word.end(), is_digit);
}

bool names_nic(std::string_view word) {
  return names_device(word, "NIC") || names_device(word, "mlx5_") ||
         names_device(word, "bnxt_re") || names_device(word, "rdmap");
}

/// "NV18": 18 NVLinks; 0 for none.
int nvlinks(std::string_view word) {
  return names_device(word, "NV") ? static_cast<int>(parse_integer(word.substr(2))) : 0;
}

}  // namespace

bool is_gpu_topology(std::string_view begin) {
  return begin.find("GPU0") != std::string_view::npos &&
         begin.find("CPU Affinity") != std::string_view::npos;
}

NetworkFacts read_gpu_topology(const TextFile& file) {
  int gpus = 0, nics = 0, rows = 0;
  std::optional<int> links;  // the fewest of any GPU to any one of the others
  bool nvlink = true;
  for (const std::string& line : split_words(file.content, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) continue;
    const bool header = words.size() > 1 && words[0] == "GPU0" &&
                        (names_device(words[1], "GPU") || names_nic(words[1]) || words[1] == "CPU");
    if (header && gpus == 0) {
      for (const std::string_view word : words) {
        gpus += names_device(word, "GPU") ? 1 : 0;
        nics += names_nic(word) ? 1 : 0;
      }
    } else if (gpus > 0 && names_device(words[0], "GPU") && rows < gpus) {
      if (words.size() <= static_cast<std::size_t>(gpus))
        throw DataError(file.path.string(), 0,
                        "row " + std::string(words[0]) + " of the matrix has fewer than " +
                            std::to_string(gpus) + " entries");
      int most = 0;
      for (int other = 0; other < gpus; ++other)
        most = std::max(most, nvlinks(words[static_cast<std::size_t>(other) + 1]));
      nvlink = nvlink && most > 0;
      links = std::min(links.value_or(most), most);
      ++rows;
    }
  }
  if (gpus == 0 || rows < gpus)
    throw DataError(
        file.path.string(), 0,
        "has no whole matrix of `nvidia-smi topo -m`: a header GPU0 GPU1 ..., and a row "
        "for each of them");
  NetworkFacts facts;
  facts.kind = "topology";
  facts.gpus_per_node = gpus;
  facts.nics_per_node = std::min(nics, gpus);
  facts.notes.used.push_back(noted_name(file) + ": " + std::to_string(gpus) + " GPUs, " +
                             std::to_string(nics) + " NICs");
  if (gpus == 1) return facts;
  facts.intra_bandwidth = BytesPerSecond{nvlink ? *links * kNvlinkRate : kPcieRate};
  facts.notes.inferred.push_back(
      "intra_bandwidth: " +
      (nvlink
           ? std::to_string(*links) + " NVLinks of 20 GB/s, as NCCL counts those before Blackwell"
           : std::string("PCIe of the third generation, 12 GB/s, as NCCL counts it")));
  if (nics > gpus)
    facts.notes.inferred.push_back("NICs: one a GPU; the matrix has " + std::to_string(nics));
  return facts;
}

}  // namespace gradcast
