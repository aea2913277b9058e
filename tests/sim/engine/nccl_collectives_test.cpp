// NCCL's algorithms in all protocols: every message against the closed form.
#include <catch2/catch.hpp>
#include <string>

#include "sim/engine/engine.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/network/nccl.hpp"
#include "sim/plan/plan.hpp"

using namespace gradcast;

namespace {

Cluster machine(int nodes, int gpus, int nics, NetworkKind kind) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = gpus;
  cluster.nics_per_node = nics;
  cluster.network_kind = kind;
  cluster.gpu_generation = GpuGeneration::Hopper;
  cluster.nvlink_sharp = YesNo::Yes;
  cluster.nic = {BytesPerSecond{24e9}, Seconds{kind == NetworkKind::Tcp ? 25e-6 : 5e-6}};
  cluster.intra = {BytesPerSecond{370e9}, Seconds{3.4e-6}};
  if (kind == NetworkKind::Slingshot) cluster.eager_limit = Bytes{16 << 10};
  return cluster;
}

Plan one_collective(const Cluster& cluster, const Collective& collective, CollectiveLoad load) {
  Plan plan;
  plan.rank_speeds.assign(static_cast<std::size_t>(cluster.ranks()), 1.0);
  PlanStep step;
  step.kind = StepKind::Collective;
  step.stream = Stream::Network;
  step.collective = &collective;
  step.load = std::move(load);
  plan.steps.push_back(std::move(step));
  return plan;
}

double played(const Cluster& cluster, const Plan& plan, const char* engine) {
  double end = 0;
  for (const auto& rank : find_engine(engine)->run(plan, cluster).steps)
    end = std::max(end, rank.front().end.count());
  return end;
}

struct Case {
  Cluster cluster;
  Outcome outcome;
  std::int64_t bytes;
};

template <class What>
void for_each_case(What what) {
  for (const NetworkKind kind :
       {NetworkKind::InfiniBand, NetworkKind::Efa, NetworkKind::Slingshot, NetworkKind::Tcp})
    for (const auto& [nodes, gpus, nics] :
         {std::tuple{1, 8, 8}, {2, 8, 8}, {4, 1, 1}, {3, 4, 2}, {8, 4, 4}, {5, 8, 1}})
      for (const Outcome outcome : {Outcome::AllReduced, Outcome::AllGathered, Outcome::Scattered,
                                    Outcome::Broadcast, Outcome::Passed})
        for (const std::int64_t bytes : {std::int64_t{1} << 10, std::int64_t{1} << 17,
                                         std::int64_t{25} << 20, std::int64_t{1} << 30})
          what(Case{machine(nodes, gpus, nics, kind), outcome, bytes});
}

}  // namespace

// Trees and NVLS stream: their messages are the same for all ranks, and both engines say the same.
// Of a ring's several channels the closed form lets all use a link in every round; where latencies
// of edges differ they take turns, and every message by itself is faster.
TEST_CASE("the closed form of NCCL's choice is what its messages take", "[nccl][engine]") {
  int streams = 0, rings = 0;
  for_each_case([&](const Case& at) {
    const RankLayout layout = layout_of(at.cluster);
    const NcclWay way = nccl_way(at.cluster, kUsualNccl, layout, at.outcome, Bytes{at.bytes});
    const std::int64_t payload =
        at.outcome == Outcome::AllGathered ? at.bytes / layout.ranks() : at.bytes;
    const Plan plan = one_collective(at.cluster, *way.collective,
                                     {.payload = Bytes{payload}, .protocol = way.protocol});
    const double exact = played(at.cluster, plan, "flow-exact");
    const double closed = played(at.cluster, plan, "analytic");
    CAPTURE(way.collective->name, way.protocol.name, at.cluster.nodes, at.cluster.gpus_per_node,
            at.bytes, exact, closed);
    if (at.cluster.nics_per_node == 1 || at.cluster.nodes == 1 ||
        way.estimate.algorithm != NcclAlgorithm::Ring || at.outcome == Outcome::Broadcast) {
      ++streams;
      CHECK(exact == Approx(closed).epsilon(0.02));
    } else {
      ++rings;
      CHECK(exact < 1.02 * closed);
      CHECK(exact > 0.7 * closed);
    }
  });
  CHECK(streams > 100);
  CHECK(rings > 50);
}

// 24 GB/s a NIC, 8 of them, on 4 nodes: a ring passes 2 x 31/32 S through 192 GB/s. With one NIC it
// takes eight times as long.
TEST_CASE("communication time falls with the NICs", "[nccl]") {
  const Bytes size{std::int64_t{1} << 30};
  double before = 0;
  for (const int nics : {1, 2, 4, 8}) {
    const Cluster cluster = machine(4, 8, nics, NetworkKind::InfiniBand);
    const NcclWay way =
        nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllReduced, size);
    const double time = played(
        cluster,
        one_collective(cluster, *way.collective, {.payload = size, .protocol = way.protocol}),
        "flow-exact");
    CHECK(time > 2. * 31 / 32 * double(size.count) / (nics * 24e9));
    if (nics > 1) CHECK(time < 0.65 * before);
    before = time;
  }
}

// 8 GPUs and 8 NICs of 24 GB/s on each of 4 nodes. 1 GiB goes through all 8 NICs of a node: 5.6 ms,
// and 31 steps of a piece take less than a tenth more. What one rank sends to the next leaves a
// node through one NIC: 44.7 ms.
TEST_CASE("a broadcast fills all NICs, and a send-receive one", "[nccl]") {
  const Cluster cluster = machine(4, 8, 8, NetworkKind::InfiniBand);
  const Bytes size{1 << 30};
  const auto time = [&](Outcome outcome) {
    const NcclWay way = nccl_way(cluster, kUsualNccl, layout_of(cluster), outcome, size);
    return played(
        cluster,
        one_collective(cluster, *way.collective, {.payload = size, .protocol = way.protocol}),
        "flow-exact");
  };
  const double one_nic = double(size.count) / 24e9;
  CHECK(time(Outcome::Broadcast) > one_nic / 8);
  CHECK(time(Outcome::Broadcast) < 1.2 * one_nic / 8);
  CHECK(time(Outcome::Passed) == Approx(one_nic).epsilon(0.01));
}

// LL sends 4 bytes of flag with each 4 of data: a ring's step carries twice the bytes.
TEST_CASE("LL doubles the bytes on the wire", "[nccl]") {
  const Cluster cluster = machine(4, 1, 1, NetworkKind::Tcp);
  const NcclWay way =
      nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllReduced, Bytes{64 << 10});
  REQUIRE(way.protocol.name == "LL");
  const std::vector<Phase> plain =
      phases_in({}, *way.collective, layout_of(cluster), {.payload = Bytes{64 << 10}});
  Protocol protocol = way.protocol;
  protocol.link_time = 2;
  const std::vector<Phase> sent = phases_in({}, *way.collective, layout_of(cluster),
                                            {.payload = Bytes{64 << 10}, .protocol = protocol});
  CHECK(bytes_in(sent).count == 2 * bytes_in(plain).count);
}

// Once the sockets limited the links inside nodes as well, so that faster NICs took longer.
TEST_CASE("over TCP a faster NIC is never slower, and reaches 42 Gb/s at most", "[nccl]") {
  double before = 1e9;
  for (const double gbit : {10., 25., 100., 200., 400.}) {
    Cluster cluster = machine(8, 1, 1, NetworkKind::Tcp);
    cluster.nic.bandwidth = {gbit * 1e9 / 8};
    cluster.intra.bandwidth = {12e9};
    cluster.by_sockets = true;
    const NcclWay way =
        nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllReduced, Bytes{1 << 30});
    const double time =
        played(cluster,
               one_collective(cluster, *way.collective,
                              {.payload = Bytes{1 << 30}, .protocol = way.protocol}),
               "flow-exact");
    CHECK(time < before);
    CHECK(time > 2. * 7 / 8 * (1 << 30) / (42e9 / 8));
    before = time;
  }
}

// sqrt(1 / (1/n^2 + 1/m^2)), m = 42 Gb/s: 10GbE loses 3 %, 100GbE more than half.
TEST_CASE("NCCL's sockets reach most of a slow NIC and less than half of a fast one", "[nccl]") {
  const auto share = [](double gbit) {
    return socket_rate({gbit * 1e9 / 8}).value / (gbit * 1e9 / 8);
  };
  CHECK(share(9.43) == Approx(0.976).epsilon(0.001));
  CHECK(share(94.15) == Approx(0.407).epsilon(0.002));
}
