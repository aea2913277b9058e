// The matrix of `nvidia-smi topo -m`: the GPUs of a node, its NICs, and what lies between GPUs.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/network/log_words.hpp"
#include "sim/import/network/network_facts.hpp"

namespace gradcast {
namespace {

bool names_device(std::string_view word, std::string_view what) {
  return word.starts_with(what) && word.size() > what.size() && word.size() <= what.size() + 3 &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(what.size()), word.end(), is_digit);
}

/// "NV18": 18 NVLinks; 0 for none.
int nvlinks(std::string_view word) {
  return names_device(word, "NV") ? static_cast<int>(parse_integer(word.substr(2))) : 0;
}

/// NVLinks between any two GPUs.
using NvlinkMatrix = std::vector<std::vector<int>>;

/// Whether every GPU reaches every other one by NVLinks alone. If not, a ring of all crosses PCIe.
bool connected(const NvlinkMatrix& links) {
  std::vector<bool> reached(links.size(), false);
  std::vector<std::size_t> next = {0};
  reached[0] = true;
  while (!next.empty()) {
    const std::size_t from = next.back();
    next.pop_back();
    for (std::size_t to = 0; to < links.size(); ++to)
      if (!reached[to] && (links[from][to] > 0 || links[to][from] > 0)) {
        reached[to] = true;
        next.push_back(to);
      }
  }
  return std::find(reached.begin(), reached.end(), false) == reached.end();
}

/// True if all GPUs have as many NVLinks to an NVSwitch as the matrix names between any two: eight
/// or more of them alike, or too many for links from GPU to GPU.
bool switched(const NvlinkMatrix& links) {
  const int each = links[0][1];
  for (std::size_t i = 0; i < links.size(); ++i)
    for (std::size_t j = 0; j < links.size(); ++j)
      if (i != j && links[i][j] != each) return false;
  constexpr std::size_t kGpusOfSwitch = 8;
  constexpr int kLinksOfSwitch = 12;
  return links.size() >= kGpusOfSwitch || each >= kLinksOfSwitch;
}

/// NVLinks of the GPU that has the fewest.
int links_of_gpu(const NvlinkMatrix& links) {
  if (switched(links)) return links[0][1];
  int fewest = std::numeric_limits<int>::max();
  for (const std::vector<int>& row : links)
    fewest = std::min(fewest, std::accumulate(row.begin(), row.end(), 0));
  return fewest;
}

/// GPUs and NICs that the header names: a NIC is whatever stands between the GPUs and "CPU
/// Affinity", as its names are many (NIC0, mlx5_0, mlx5_ib0, mlx5_bond_0, bnxt_re0, rdmap16s27).
struct TopologyHeader {
  std::size_t gpus = 0, nics = 0;
};

TopologyHeader header_in(const std::vector<std::string_view>& words) {
  TopologyHeader header;
  if (words[0] != "GPU0" || std::find(words.begin(), words.end(), "Affinity") == words.end())
    return header;
  for (const std::string_view word : words) {
    if (word == "CPU") break;
    ++(names_device(word, "GPU") ? header.gpus : header.nics);
  }
  return header;
}

}  // namespace

bool is_gpu_topology(std::string_view begin) {
  return begin.find("GPU0") != std::string_view::npos &&
         begin.find("CPU Affinity") != std::string_view::npos;
}

NetworkFacts read_gpu_topology(const TextFile& file) {
  TopologyHeader header;
  NvlinkMatrix links;
  for (const std::string& line : split_words(file.content, '\n')) {
    // The tool underlines its header.
    const std::string plain = without_colours(line);
    const std::vector<std::string_view> words = words_of(without_prefix(plain));
    if (words.empty()) continue;
    if (header.gpus == 0) {
      header = header_in(words);
    } else if (names_device(words[0], "GPU") && links.size() < header.gpus) {
      if (words.size() <= header.gpus)
        throw DataError(file.path.string(), 0,
                        "row " + std::string(words[0]) + " of the matrix has fewer than " +
                            std::to_string(header.gpus) + " entries");
      std::vector<int>& row = links.emplace_back();
      for (std::size_t other = 0; other < header.gpus; ++other)
        row.push_back(nvlinks(words[other + 1]));
    }
  }
  if (header.gpus == 0 || links.size() < header.gpus)
    throw DataError(
        file.path.string(), 0,
        "has no whole matrix of `nvidia-smi topo -m`: a header GPU0 GPU1 ..., and a row "
        "for each of them");
  constexpr std::size_t kMostNics = 1000;
  NetworkFacts facts;
  facts.kind = "topology";
  facts.gpus_per_node = static_cast<int>(header.gpus);
  facts.nics_per_node = static_cast<int>(std::min(header.nics, kMostNics));
  facts.notes.used.push_back(noted_name(file) + ": " + std::to_string(header.gpus) + " GPUs, " +
                             std::to_string(header.nics) + " NICs");
  if (header.gpus == 1) return facts;
  facts.nvlinks = connected(links) ? links_of_gpu(links) : 0;
  const bool some = std::any_of(links.begin(), links.end(), [](const std::vector<int>& row) {
    return std::any_of(row.begin(), row.end(), [](int count) { return count > 0; });
  });
  if (*facts.nvlinks == 0 && some)
    facts.notes.inferred.push_back(
        noted_name(file) + ": NVLinks do not join all GPUs, so that collectives cross PCIe");
  return facts;
}

}  // namespace gradcast
