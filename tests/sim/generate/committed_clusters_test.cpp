// Cluster files of machines that many have: their values follow from what their sources say.
#include <catch2/catch.hpp>
#include <string>
#include <tuple>

#include "sim/inputs/cluster.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/data_files.hpp"

using namespace gradcast;

namespace {

Cluster cluster_named(const std::string& name) {
  DataFiles files(GRADCAST_SOURCE_DIR);
  return load_cluster(files.read(kClusters, name));
}

}  // namespace

// NCCL counts on 12 GB/s of a slot, and on 10 and 16 between the sockets of the last two: what
// machines reach lies below all of them.
TEST_CASE("GPUs on PCIe that nobody measured have what such machines reach", "[data]") {
  for (const char* name : {"1gbe", "10gbe", "25gbe", "100gbe", "ib-56g", "ib-100g"}) {
    Cluster cluster = cluster_named(name);
    CHECK(guesses_pcie(cluster));
    settle_pcie(cluster);
    CHECK(cluster.intra.bandwidth == kPcie3Slot);  // of a GPU alone
    for (const auto& [gpu, slot] : {std::pair{"NVIDIA A40", 24e9}, {"NVIDIA H100 PCIe", 48e9}}) {
      Cluster other = cluster_named(name);
      other.gpu = gpu;
      settle_pcie(other);
      CHECK(other.intra.bandwidth.value == slot);
      CHECK_FALSE(joined_by_nvlink(other));
    }
    cluster.gpus_per_node = 4;
    settle_pcie(cluster);
    CHECK(cluster.intra.bandwidth == BytesPerSecond{6.7e9});
  }
  const Cluster intel = cluster_named("rtx-4090-8gpu");
  const Cluster amd = cluster_named("rtx-4090-8gpu-epyc");
  CHECK(intel.host_cpu == HostCpu::Intel);
  CHECK(amd.host_cpu == HostCpu::Amd);
  for (const Cluster& cluster : {intel, amd})
    CHECK(cluster.intra.bandwidth == rate_on_pcie(cluster));
}

// Vendors state the whole network of a node, nominal, in Gbit/s. A file has what NCCL makes of each
// NIC: 24 of 25 GB/s, and 47 or 48 of 50.
TEST_CASE("rented nodes have their vendor's GPUs and its network", "[data]") {
  for (const auto& [name, gpus, nics, gigabits, kind] :
       {std::tuple{"aws-p5en-48xlarge", 8, 16, 3200, NetworkKind::Efa},
        {"aws-p6-b200-48xlarge", 8, 8, 3200, NetworkKind::Efa},
        {"azure-nd-h100-v5", 8, 8, 3200, NetworkKind::InfiniBand},
        {"gcp-a3-ultragpu-8g", 8, 8, 3200, NetworkKind::Roce},
        {"oci-bm-gpu4-8", 8, 16, 1600, NetworkKind::Roce},
        {"alps-gh200", 4, 4, 800, NetworkKind::Slingshot}}) {
    CAPTURE(name);
    const Cluster cluster = cluster_named(name);
    CHECK(cluster.gpus_per_node == gpus);
    CHECK(cluster.nics_per_node == nics);
    CHECK(cluster.network_kind == kind);
    const double share = nics * cluster.nic.bandwidth.value * 8 / (gigabits * 1e9);
    CHECK(share > 0.93);
    CHECK(share <= 1);
  }
}
