// Files are parsed once and shared by all scenarios. No scenario changes another's.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/forecast/estimates.hpp"
#include "sim/forecast/request.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/cost_table.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;

namespace {

Request resnet() {
  Request request;
  request.model = "resnet-50";
  request.compressor = "topk";
  return request;
}

}  // namespace

TEST_CASE("scenarios share model, trace, costs and stacks as they are in their files", "[shared]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const Scenario one = make_scenario(resnet(), files);
  Request wider = resnet();
  wider.changed = {{"nodes", "8"}};
  const Scenario other = make_scenario(wider, files);
  CHECK(&*one.model == &*other.model);
  CHECK(&*one.trace == &*other.trace);
  CHECK(&*one.costs == &*other.costs);
  CHECK(one.population != nullptr);
  CHECK(one.population == other.population);
  const Scenario twin = dense_twin(one);
  CHECK(&*one.model == &*twin.model);
  CHECK(one.cluster.nodes == 4);
  CHECK(other.cluster.nodes == 8);
}

namespace {

Cluster inside(const std::string& cluster, const std::vector<ClusterProperty>& changed) {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request = resnet();
  request.cluster = cluster;
  request.changed = changed;
  return make_scenario(request, files).cluster;
}

}  // namespace

// Machines reach 4.2 GB/s, and 19 on PCIe 5.0. A step over PCIe takes 5.7 us, over NVLink 3.4. The
// bandwidth alone would then make V100s of A100s.
TEST_CASE("without peer-to-peer a node's GPUs send through the host's memory", "[shared]") {
  const ClusterProperty disabled{"nccl_settings", "NCCL_P2P_DISABLE=1"};
  const Cluster a100 = inside("dgx-a100", {disabled});
  CHECK(a100.intra.bandwidth.value == 4.2e9);
  CHECK(a100.intra.latency == Seconds{5.7e-6});
  CHECK(gpu_generation_of(a100) == GpuGeneration::Ampere);
  CHECK(inside("dgx-1-v100", {disabled}).intra.bandwidth.value == 4.2e9);
  CHECK(inside("dgx-h100", {disabled}).intra.bandwidth.value == 19e9);
  CHECK(inside("dgx-h100", {disabled}).nvlink_sharp == YesNo::No);
  // A GPU alone has its slot, whatever it is.
  CHECK(inside("10gbe", {disabled, {"gpu", "rtx-5090"}}).intra.bandwidth.value == 48e9);
  // NVLinks stay where only PCIe is left out.
  const ClusterProperty nvlink{"nccl_settings", "NCCL_P2P_LEVEL=NVL"};
  CHECK(inside("dgx-1-v100", {nvlink}).intra.bandwidth.value == 120e9);
  const ClusterProperty four{"gpus_per_node", "4"};
  CHECK(inside("10gbe", {four, nvlink}).intra.bandwidth.value == 4.2e9);
  // The drivers of GeForce cards have none over PCIe; those of an L40S do.
  CHECK(inside("10gbe", {four, {"gpu", "rtx-3090"}}).intra.bandwidth.value == 4.2e9);
  CHECK(inside("10gbe", {four, {"gpu", "l40s"}}).intra.bandwidth.value == 6.7e9);
  // A number that somebody says holds. So does that of a file of such cards.
  CHECK(inside("dgx-a100", {disabled, {"intra_bandwidth", "13GBps"}}).intra.bandwidth.value ==
        13e9);
  CHECK(inside("rtx-4090-8gpu", {disabled}).intra.bandwidth.value == 4.2e9);
  CHECK(inside("rtx-4090-8gpu", {{"gpu", "rtx-5090"}}).intra.bandwidth.value == 19e9);
  CHECK(inside("rtx-4090-8gpu", {{"gpu", "rtx-5090"}, {"intra_bandwidth", "9GBps"}})
            .intra.bandwidth.value == 9e9);
}

// Machines on PCIe reach 6.7 GB/s where drivers permit peer-to-peer, 19 on PCIe 5.0: no NVLink.
TEST_CASE("a bandwidth of PCIe that nobody measured follows the GPU", "[shared]") {
  const auto rate = [](const std::string& cluster, const std::vector<ClusterProperty>& changed) {
    return inside(cluster, changed).intra.bandwidth.value;
  };
  const ClusterProperty four{"gpus_per_node", "4"};
  CHECK(rate("25gbe", {four}) == 6.7e9);
  CHECK(rate("25gbe", {four, {"gpu", "h100"}}) == 19e9);
  CHECK_FALSE(joined_by_nvlink(inside("25gbe", {four, {"gpu", "h100"}})));
  CHECK(rate("25gbe", {four, {"gpu", "rtx-5090"}}) == 19e9);
  CHECK(rate("25gbe", {four, {"gpu", "rtx-3090"}}) == 4.2e9);
  CHECK(rate("25gbe", {four, {"gpu_generation", "hopper"}}) == 19e9);
  // To its NIC a GPU alone has its slot.
  CHECK(rate("25gbe", {}) == 12e9);
  CHECK(rate("25gbe", {{"gpu", "rtx-3090"}}) == 24e9);
  // A number that somebody types holds, also that of the file.
  CHECK(rate("25gbe", {four, {"gpu", "rtx-3090"}, {"intra_bandwidth", "12GBps"}}) == 12e9);
  CHECK(rate("25gbe", {{"intra_bandwidth", "9GBps"}}) == 9e9);
  CHECK(rate("rtx-4090-8gpu", {{"gpu", "rtx-a6000"}}) == 6.7e9);
  CHECK(rate("rtx-4090-8gpu", {{"gpu", "rtx-a6000"}, {"intra_bandwidth", "9GBps"}}) == 9e9);
  // Cards in the place of GPUs with NVLink are on PCIe. A bridge joins two of some.
  CHECK(rate("dgx-a100", {{"gpu", "rtx-a6000"}}) == 6.7e9);
  CHECK(rate("dgx-a100", {{"gpu", "l40s"}, {"gpus_per_node", "2"}}) == 6.7e9);
  CHECK(rate("dgx-a100", {{"gpu", "rtx-a6000"}, {"gpus_per_node", "2"}}) ==
        rate("dgx-a100", {{"gpus_per_node", "2"}}));
  CHECK(rate("dgx-h100", {{"gpu", "h100-pcie"}}) == 19e9);
  CHECK(rate("dgx-h100", {{"gpu", "l40s"}, {"intra_bandwidth", "30GBps"}}) == 30e9);
  CHECK(inside("dgx-h100", {{"gpu", "l40s"}}).nvlink_sharp == YesNo::No);
  CHECK(inside("dgx-h100", {{"gpu", "l40s"}, {"intra_latency", "1us"}}).intra.latency ==
        Seconds{1e-6});
  // Another value is no guess of ours.
  const TemporaryFolder folder;
  const std::string nvlinks = folder.write(
      "nvlinks.csv",
      "property,value,source,deviation\nnodes,2,x,\ngpus_per_node,4,x,\nnic_bandwidth,12GBps,x,\n"
      "nic_latency,5us,x,\nintra_bandwidth,230GBps,x,20%\nintra_latency,3us,x,\n");
  CHECK(rate(nvlinks, {{"gpu", "h100"}}) == 230e9);
}

// A bandwidth and a latency hold if somebody says them. All else is as without peer-to-peer: no
// NVLink SHARP, a step of 5.7 us, and the file's generation.
TEST_CASE("a link's own numbers do not bring peer-to-peer back", "[shared]") {
  const ClusterProperty disabled{"nccl_settings", "NCCL_P2P_DISABLE=1"};
  const Cluster slow = inside("dgx-h100", {disabled, {"intra_bandwidth", "9GBps"}});
  CHECK(slow.intra.bandwidth.value == 9e9);
  CHECK(slow.intra.latency == Seconds{5.7e-6});
  CHECK(slow.nvlink_sharp == YesNo::No);
  CHECK(gpu_generation_of(slow) == GpuGeneration::Hopper);
  const Cluster fast =
      inside("dgx-h100", {disabled, {"intra_bandwidth", "22GBps"}, {"intra_latency", "4us"}});
  CHECK(fast.intra.bandwidth.value == 22e9);
  CHECK(fast.intra.latency == Seconds{4e-6});
  CHECK(fast.nvlink_sharp == YesNo::No);
  // NVLinks that somebody takes to be slow are NVLinks.
  const ClusterProperty nvlink{"nccl_settings", "NCCL_P2P_LEVEL=NVL"};
  CHECK(inside("dgx-h100", {nvlink, {"intra_bandwidth", "9GBps"}}).nvlink_sharp == YesNo::Yes);
  // A DGX A100 of RTX 4090 has no NVLink; two RTX 3090 may have a bridge.
  CHECK(inside("dgx-a100", {{"gpu", "rtx-4090"}}).intra.bandwidth.value == 4.2e9);
  CHECK(has_peer_to_peer(inside("10gbe", {{"gpu", "rtx-3090"}, {"intra_bandwidth", "48GBps"}})));
}

TEST_CASE("NCCL's settings end the peer-to-peer of NCCL alone", "[shared]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request = resnet();
  request.cluster = "dgx-a100";
  request.changed = {{"nccl_settings", "NCCL_P2P_DISABLE=1"}};
  request.collective = "open-mpi";
  CHECK(make_scenario(request, files).cluster.intra.bandwidth.value > 200e9);
  request.collective = "gloo";  // whose ranks send through the host in any case
  const double with_setting = make_scenario(request, files).cluster.intra.bandwidth.value;
  request.changed.clear();
  CHECK(make_scenario(request, files).cluster.intra.bandwidth.value == with_setting);
  request.changed = {{"nccl_settings", "NCCL_P2P_DISABLE=1"}};
  request.collective = "nccl";
  CHECK(make_scenario(request, files).cluster.intra.bandwidth.value == 4.2e9);
}

TEST_CASE("what a request changes is its scenario's alone", "[shared]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const Scenario before = make_scenario(resnet(), files);
  const IterationTrace trace = *before.trace;
  const Model model = *before.model;
  const CostTable costs = *before.costs;

  std::vector<Request> requests(6, resnet());
  requests[0].batch = 7;
  requests[1].compute = Seconds{3};
  requests[2].precision.gradient = NumberType::Bf16;
  requests[3].costs_device = "h200";
  requests[4].accumulation = 2;
  requests[5].sharding = parse_sharding("hsdp");
  std::vector<Scenario> changed;
  for (const Request& request : requests) changed.push_back(make_scenario(request, files));
  CHECK(changed[0].trace->batch == 7);
  CHECK(changed[1].trace->iteration().count() == Approx(3));
  CHECK(changed[2].model->tensors[0].gradient_type == NumberType::Bf16);
  CHECK(changed[3].costs->device.find("scaled from") != std::string::npos);
  CHECK(cost_table_csv(*changed[3].costs, {}) != cost_table_csv(costs, {}));
  CHECK(changed[4].trace->batch == trace.batch / 2);

  const Scenario after = make_scenario(resnet(), files);
  for (const Scenario* scenario : {&before, &after}) {
    CHECK(scenario->trace->batch == trace.batch);
    CHECK(iteration_trace_csv(*scenario->trace, {}) == iteration_trace_csv(trace, {}));
    CHECK(model_csv(*scenario->model, {}) == model_csv(model, {}));
    CHECK(scenario->model->tensors[0].gradient_type == NumberType::Fp32);
    CHECK(cost_table_csv(*scenario->costs, {}) == cost_table_csv(costs, {}));
    CHECK(scenario->costs->device == costs.device);
  }
}

TEST_CASE("costs scaled to a device are scaled once, and are an input of each answer", "[shared]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request = resnet();
  request.costs_device = "h200";
  const Scenario one = make_scenario(request, files);
  DataFiles others = files.beside();
  const Scenario other = make_scenario(request, others);
  CHECK(&*one.costs == &*other.costs);
  REQUIRE(files.inputs().size() == others.inputs().size());
  for (std::size_t i = 0; i < files.inputs().size(); ++i)
    CHECK(files.inputs()[i].path == others.inputs()[i].path);
  request.costs_device = "a100-40gb";
  CHECK(&*make_scenario(request, files).costs != &*one.costs);
}
