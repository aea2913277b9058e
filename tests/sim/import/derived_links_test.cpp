// Links of a cluster from its collectives' times.
#include "sim/import/network/derived_links.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/import/nccl_tests_logs.hpp"
#include "tests/sim/import/network_imports.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// All-reduces among `nodes` x 8 A100, which NCCL counts at 240 GB/s inside a node.
Imported reached(int nodes, double bus, const std::string& more = "") {
  const double factor = 2 * (8. * nodes - 1) / (8. * nodes);
  std::string log = "all_reduce_perf\n" + kBegin + ranks(nodes, 8) + kHeader;
  for (const std::int64_t bytes : {std::int64_t{1} << 30, std::int64_t{1} << 31})
    log += nccl_row(bytes, static_cast<double>(bytes) * factor / bus * 1e6, factor) + "\n";
  return network_of({log + more});
}

}  // namespace

// 365 GB/s pass each GPU, and eight NICs carry 45.6 GB/s each.
TEST_CASE("links carry the measured bytes at least, and not much more", "[network]") {
  const Imported imported = reached(4, 365e9);
  const ImportedCluster& measured = *imported.cluster;
  CHECK(measured.cluster.intra.bandwidth.value == Approx(365e9).epsilon(0.01));
  CHECK_THAT(measured.sources.at("intra_bandwidth"),
             Contains("derived: the least that carries the measured times"));
  REQUIRE(measured.cluster.nics_per_node == 8);
  CHECK(measured.cluster.nic.bandwidth.value > 45e9);
  CHECK(measured.cluster.nic.bandwidth.value < 1.5 * 45.7e9);
}

TEST_CASE("where links inside nodes bind, a NIC's bandwidth is the least that carries the times",
          "[network]") {
  // 239 of the 240 GB/s that NCCL counts inside: eight NICs carry 29.9 GB/s each at least.
  const Imported imported = reached(4, 239e9);
  const ImportedCluster& measured = *imported.cluster;
  CHECK(measured.cluster.intra.bandwidth.value == Approx(240e9));
  const double nics = measured.cluster.nics_per_node;
  CHECK(measured.cluster.nic.bandwidth.value * nics > 238e9);
  CHECK(measured.cluster.nic.bandwidth.value * nics < 1.5 * 239e9);
  CHECK_THAT(measured.sources.at("nic_bandwidth"), Contains("as another link binds them"));
}

TEST_CASE("a NIC that binds is derived as it was", "[network]") {
  const Imported imported = reached(4, 80e9);
  CHECK(imported.cluster->cluster.intra.bandwidth.value == Approx(240e9));
  CHECK_THAT(imported.cluster->sources.at("nic_bandwidth"), Contains("with it the model meets"));
}

TEST_CASE("one node's times leave its NIC unknown, and that is said", "[network]") {
  const Imported imported = reached(1, 200e9);
  CHECK_THAT(imported.cluster->sources.at("nic_bandwidth"),
             Contains("not measured: one node crosses no NIC"));
  std::string notes;
  for (const std::string& note : imported.notes.unknown) notes += note + "\n";
  CHECK_THAT(notes, Contains("nic_bandwidth: not measured: one node crosses no NIC; 100 Gbit/s is "
                             "assumed for several") &&
                        Contains("nic_latency: not measured: one node crosses no NIC"));
}
