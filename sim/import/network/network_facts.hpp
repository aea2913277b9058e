// Facts about a cluster in one file of measurements. Several files together make one cluster.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"
#include "sim/import/imported.hpp"
#include "sim/import/readers.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/collective_curve.hpp"

namespace gradcast {

struct NetworkFacts {
  std::string kind;                // "nccl-tests", "osu", "iperf3", "topology"
  std::vector<CurvePoint> points;  // measured times of collectives
  int nodes = 0;                   // 0: not said
  int gpus_per_node = 0;
  bool layout_is_said = false;  // by flags: the files list no ranks
  std::string device;           // of the GPUs
  std::string device_file;      // which says that
  NetworkKind network_kind = NetworkKind::Unknown;
  std::optional<YesNo> nvlink_sharp{};
  NcclSettings nccl_settings{};
  std::optional<Seconds> nccl_plugin_latency{};
  int nics_per_node = 0;
  std::optional<BytesPerSecond> nic_bandwidth{};  // of one flow
  std::optional<Seconds> nic_latency{};           // one way
  bool links_of_tcp = false;                      // the two were measured over TCP,
  bool kind_of_tcp = false;                       // and no NCCL says that it used that network
  std::optional<int> nvlinks{};                   // of a GPU; 0: GPUs reach each other by PCIe
  ImportNotes notes;
  std::vector<std::string> mixed{};  // why the files seem to be of several clusters
};

/// Bytes by which a file is recognised.
inline constexpr std::size_t kNetworkHead = std::size_t{1} << 16;

// Each reader has a test of a file's beginning, and throws DataError for what it cannot read.

bool is_nccl_tests(std::string_view begin);
/// `said`: the ranks where the log lists none, or one.
NetworkFacts read_nccl_tests(const TextFile& file, const SaidLayout& said = {});

/// The file that nccl-tests' -J writes.
bool is_nccl_tests_json(std::string_view begin);
NetworkFacts read_nccl_tests_json(const TextFile& file);

/// `said`: the ranks of a collective's table, which does not list them.
bool is_osu(std::string_view begin);
NetworkFacts read_osu(const TextFile& file, const SaidLayout& said);

bool is_iperf3(std::string_view begin);
NetworkFacts read_iperf3(const TextFile& file);

/// The ranks of a collective as flags say them, one a node where nothing else is said. Throws
/// UsageError for fewer than two and more than kMostRanks.
struct SaidRanks {
  explicit SaidRanks(const SaidLayout& said);
  int nodes = 1;
  int gpus = 1;  // a node
  int all() const { return nodes * gpus; }
};

/// The matrix of `nvidia-smi topo -m`.
bool is_gpu_topology(std::string_view begin);
NetworkFacts read_gpu_topology(const TextFile& file);

/// "mlx5_0.txt": the file's name, as a note has it.
std::string noted_name(const TextFile& file);

}  // namespace gradcast
