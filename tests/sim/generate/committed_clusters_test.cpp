// Cluster files of machines that many have: their values follow from what their sources say.
#include <catch2/catch.hpp>
#include <string>

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

// NCCL's src/graph/topo.h: SKL_QPI_BW between Intel's sockets, AMD_BW between AMD's.
TEST_CASE("between the sockets of a PCIe server lies what NCCL counts on for its host", "[data]") {
  const Cluster intel = cluster_named("rtx-4090-8gpu");
  const Cluster amd = cluster_named("rtx-4090-8gpu-epyc");
  CHECK(intel.host_cpu == HostCpu::Intel);
  CHECK(intel.intra.bandwidth.value == 10e9);
  CHECK(amd.host_cpu == HostCpu::Amd);
  CHECK(amd.intra.bandwidth.value == 16e9);
}
