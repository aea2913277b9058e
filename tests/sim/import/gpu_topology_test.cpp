// The matrix of nvidia-smi topo -m.
#include <catch2/catch.hpp>

#include "sim/base/text.hpp"
#include "tests/sim/import/nccl_tests_logs.hpp"
#include "tests/sim/import/network_imports.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// A node by the rows of its GPUs, and the columns of its NICs.
std::string matrix(const std::vector<std::string>& rows, const std::string& nics = "") {
  std::string text = "\t";
  for (std::size_t i = 0; i < rows.size(); ++i) text += "GPU" + std::to_string(i) + "\t";
  for (const std::string& nic : split_words(nics, ' ')) text += nic + "\t";
  text += "CPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "GPU" + std::to_string(i);
    for (const std::string& entry : split_words(rows[i], ' ')) text += "\t" + entry;
    for (const std::string& nic : split_words(nics, ' ')) text += nic.empty() ? "" : "\tNODE";
    text += "\t0-31\t0\t\tN/A\n";
  }
  return text + "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing NVLinks\n";
}

/// All pairs of so many GPUs have the same entry.
std::string alike(int gpus, const std::string& entry, const std::string& nics = "") {
  std::vector<std::string> rows;
  for (int i = 0; i < gpus; ++i) {
    std::string row;
    for (int j = 0; j < gpus; ++j) row += (j > 0 ? " " : "") + (i == j ? "X" : entry);
    rows.push_back(row);
  }
  return matrix(rows, nics);
}

double inside(const std::string& text) {
  return network_of({text}).cluster->cluster.intra.bandwidth.value;
}

/// A log of two nodes of eight such GPUs: so many GB/s reduced.
std::string log_of(const std::string& gpu, double speed) {
  std::string devices = ranks(2, 8);
  const std::string ours = "NVIDIA A100-SXM4-40GB";
  for (std::size_t at = devices.find(ours); at != std::string::npos; at = devices.find(ours))
    devices.replace(at, ours.size(), gpu);
  return "all_reduce_perf\n" + kBegin + devices + kHeader +
         nccl_row(100'000'000, 1e5 / speed, 1.875) + "\n";
}

/// The links of 8 GPUs with such entries, beside such a log.
double inside_beside(const std::string& gpu, const std::string& entry, double speed) {
  const Imported imported = network_of({alike(8, entry), log_of(gpu, speed)});
  return imported.cluster->cluster.intra.bandwidth.value;
}

}  // namespace

TEST_CASE("nvidia-smi topo gives GPUs, NICs and NVLinks", "[network]") {
  const Imported imported = network_of(
      {"\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n"
       "GPU0\t X \tNV4\tPXB\t0-31\t0\nGPU1\tNV4\t X \tSYS\t32-63\t1\nNIC0\tPXB\tSYS\t X \t\t\n"});
  const Cluster& cluster = imported.cluster->cluster;
  CHECK(cluster.gpus_per_node == 2);
  CHECK(cluster.nics_per_node == 1);
  CHECK(cluster.intra.bandwidth.value == Approx(80e9));  // 4 x 20
  CHECK_THROWS_WITH(network_of({"\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0\n"}),
                    Contains("has no whole matrix"));
}

// Fifteen such machines that others measured have the median 6.7 GB/s, and lie 90 % apart.
TEST_CASE("GPUs without NVLink have what machines reach over PCIe, and its deviation",
          "[network]") {
  const Imported imported = network_of({alike(2, "SYS")});
  const Cluster& cluster = imported.cluster->cluster;
  CHECK(cluster.intra.bandwidth.value == Approx(6.7e9));
  REQUIRE(cluster.deviations.size() == 1);
  CHECK(cluster.deviations[0].property == "intra_bandwidth");
  CHECK(cluster.deviations[0].share == Approx(0.9));
  CHECK_THAT(join(imported.notes.unknown), Contains("what machines reach whose GPUs are on PCIe"));
  const Imported of_log = network_of({log_of("NVIDIA L40S", 1)});  // no generation that we know
  CHECK_THAT(join(of_log.notes.unknown), Contains("what machines reach whose GPUs are on PCIe") &&
                                             !Contains("no file names the GPUs"));
  // The driver of a GeForce card permits no peer-to-peer: 4.2. On PCIe 5.0 machines reach 19.
  CHECK(inside_beside("NVIDIA GeForce RTX 4090", "SYS", 1) == Approx(4.2e9));
  CHECK(inside_beside("NVIDIA GeForce RTX 5090", "SYS", 1) == Approx(19e9));
}

TEST_CASE("behind an NVSwitch an entry names all links of a GPU", "[network]") {
  CHECK(inside(alike(8, "NV18")) == Approx(18 * 20.6e9));  // only Hopper and later have 18
  CHECK(inside(alike(8, "NV12")) == Approx(12 * 20e9));
  CHECK(inside(alike(16, "NV6")) == Approx(6 * 20e9));     // DGX-2
  CHECK(inside(alike(4, "NV18")) == Approx(18 * 20.6e9));  // half of a node
}

TEST_CASE("from GPU to GPU the links of a row add up", "[network]") {
  CHECK(inside(alike(4, "NV4")) == Approx(12 * 20e9));  // HGX A100 with four
  // DGX-1V: six links of each GPU, one or two to each of four others.
  CHECK(inside(matrix({"X NV1 NV1 NV2 NV2 SYS SYS SYS", "NV1 X NV2 NV1 SYS NV2 SYS SYS",
                       "NV1 NV2 X NV2 SYS SYS NV1 SYS", "NV2 NV1 NV2 X SYS SYS SYS NV1",
                       "NV2 SYS SYS SYS X NV1 NV1 NV2", "SYS NV2 SYS SYS NV1 X NV2 NV1",
                       "SYS SYS NV1 SYS NV1 NV2 X NV2", "SYS SYS SYS NV1 NV2 NV1 NV2 X"})) ==
        Approx(6 * 20e9));
}

TEST_CASE("pairs joined by NVLink leave the way between them to PCIe", "[network]") {
  const Imported pairs = network_of(
      {matrix({"X NV12 SYS SYS", "NV12 X SYS SYS", "SYS SYS X NV12", "SYS SYS NV12 X"})});
  CHECK(pairs.cluster->cluster.intra.bandwidth.value == Approx(6.7e9));
  CHECK_THAT(join(pairs.notes.inferred), Contains("NVLinks do not join all GPUs"));
}

TEST_CASE("an NVLink has the rate of its GPU's generation, where a log names that", "[network]") {
  const auto beside = [](const std::string& gpu) { return inside_beside(gpu, "NV18", 10); };
  CHECK(beside("NVIDIA B200") == Approx(18 * 40.1e9));
  CHECK(beside("NVIDIA H100 80GB HBM3") == Approx(18 * 20.6e9));
  const Imported alone = network_of({alike(8, "NV18")});
  CHECK_THAT(join(alone.notes.inferred),
             Contains("18 NVLinks of 20.6 GB/s a GPU, as NCCL counts those of Hopper: older GPUs "
                      "have fewer, and no file names these"));
  CHECK_THAT(join(network_of({alike(8, "NV12")}).notes.inferred),
             Contains("12 NVLinks of 20 GB/s a GPU, as NCCL counts those of unnamed GPUs"));
  CHECK(alone.cluster->cluster.intra.latency.count() == Approx(3.4e-6));  // a step over NVLink
}

TEST_CASE("whatever stands between the GPUs and their CPUs is a NIC", "[network]") {
  const auto nics = [](const std::string& names) {
    return network_of({alike(8, "NV12", names)}).cluster->cluster.nics_per_node;
  };
  CHECK(nics("mlx5_ib0 mlx5_ib1 mlx5_ib2 mlx5_ib3") == 4);
  CHECK(nics("mlx5_bond_0 mlx5_bond_1") == 2);
  CHECK(nics("rdmap16s27 rdmap32s27 NIC2") == 3);
  CHECK(nics("NIC0 NIC1 NIC2 NIC3 NIC4 NIC5 NIC6 NIC7 NIC8 NIC9") == 8);
  const Imported none = network_of({alike(8, "NV12")});
  CHECK_FALSE(none.cluster->sources.contains("nics_per_node"));
}

TEST_CASE("the tool's underlined header is read", "[network]") {
  std::string text = alike(8, "NV18", "NIC0 NIC1");
  text =
      "\t\x1b[4m" + text.substr(1, text.find('\n') - 1) + "\x1b[0m" + text.substr(text.find('\n'));
  const Cluster& cluster = network_of({text}).cluster->cluster;
  CHECK(cluster.gpus_per_node == 8);
  CHECK(cluster.nics_per_node == 2);
}

TEST_CASE("a matrix behind srun's names of ranks is read", "[network]") {
  std::string text;
  for (const std::string& line : split_words(alike(4, "NV12", "mlx5_0"), '\n'))
    text += "0: " + line + "\n";
  const Cluster cluster = network_of({text}).cluster->cluster;
  CHECK(cluster.gpus_per_node == 4);
  CHECK(cluster.nics_per_node == 1);
  CHECK(cluster.intra.bandwidth.value == Approx(12 * 20e9));
}
