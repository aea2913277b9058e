// NCCL's algorithms in all protocols: every message against the closed form.
#include <catch2/catch.hpp>
#include <string>

#include "sim/engine/engine.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/network/nccl.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/plan_summary.hpp"

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

/// Seconds of an all-reduce by NCCL's own choice; by the usual engine message by message.
double all_reduced(const Cluster& cluster, Bytes payload, const char* engine = "flow-exact") {
  const NcclWay way =
      nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllReduced, payload);
  return played(
      cluster,
      one_collective(cluster, *way.collective, {.payload = payload, .protocol = way.protocol}),
      engine);
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
          for (const char* settings :
               {"none", "NCCL_ALGO=NVLS,CollNetDirect,Ring", "NCCL_ALGO=CollNetDirect,Ring",
                "NCCL_ALGO=CollNetChain,Ring"}) {
            Case at{machine(nodes, gpus, nics, kind), outcome, bytes};
            const bool sharp = settings != std::string("none");
            if (sharp && (kind != NetworkKind::InfiniBand || outcome == Outcome::Broadcast ||
                          outcome == Outcome::Passed))
              continue;
            at.cluster.network_sharp = sharp ? YesNo::Yes : YesNo::No;
            at.cluster.nccl_settings = parse_nccl_settings(settings);
            what(at);
            if (sharp || kind == NetworkKind::Efa) continue;
            for (const GpuGeneration amd : {GpuGeneration::Cdna2, GpuGeneration::Cdna3}) {
              at.cluster.gpu_generation = amd;
              what(at);
            }
          }
}

}  // namespace

// Trees, NVLS and CollNet stream: their messages are the same for all ranks, and both engines say
// the same. Of a ring's several channels the closed form lets all use a link in every round; where
// latencies of edges differ they take turns, and every message by itself is faster.
TEST_CASE("the closed form of NCCL's choice, and RCCL's, is what its messages take",
          "[nccl][engine]") {
  int streams = 0, rings = 0, by_switches = 0, by_rccl = 0;
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
    by_rccl += way.machine.rccl != nullptr;
    if (at.cluster.nics_per_node == 1 || at.cluster.nodes == 1 ||
        way.estimate.algorithm != NcclAlgorithm::Ring || at.outcome == Outcome::Broadcast) {
      ++streams;
      by_switches += at.cluster.network_sharp == YesNo::Yes && at.cluster.nodes > 1 &&
                     way.estimate.algorithm != NcclAlgorithm::Ring;
      CHECK(exact == Approx(closed).epsilon(0.02));
    } else {
      ++rings;
      CHECK(exact < 1.02 * closed);
      CHECK(exact > 0.7 * closed);
    }
  });
  CHECK(streams > 100);
  CHECK(rings > 50);
  CHECK(by_switches > 30);
  CHECK(by_rccl > 200);
}

// Eight NICs of 48 GB/s are faster than the 232 GB/s of a GPU's links inside: those bind, and what
// a channel loses to its protocol must not be taken from them a second time.
TEST_CASE("a tree over faster NICs does not take longer", "[nccl][engine]") {
  const auto seconds = [](double nic) {
    Cluster cluster = machine(16, 8, 8, NetworkKind::InfiniBand);
    cluster.gpu_generation = GpuGeneration::Ampere;
    cluster.nvlink_sharp = YesNo::No;
    cluster.nic.bandwidth = {nic};
    cluster.intra.bandwidth = {232e9};
    const Bytes bytes{std::int64_t{16} << 20};
    const NcclWay way =
        nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllReduced, bytes);
    CHECK(way.estimate.algorithm == NcclAlgorithm::Tree);
    return played(
        cluster,
        one_collective(cluster, *way.collective, {.payload = bytes, .protocol = way.protocol}),
        "analytic");
  };
  CHECK(seconds(48e9) <= seconds(24e9));
}

// Nodes of one GPU: any number of them, parts of all sizes. A rank sends n - 1 parts in ceil(log2
// n) rounds, so that PAT takes its base and parts, as many steps, and those bytes at .75 of the
// link.
TEST_CASE("PAT takes what its messages take, and what its formula says", "[nccl][engine]") {
  int chosen = 0;
  for (const int nodes : {2, 3, 4, 5, 7, 8, 13, 32, 63})
    for (const std::int64_t part : {std::int64_t{64}, std::int64_t{1} << 12, std::int64_t{1} << 17})
      for (const Outcome outcome : {Outcome::AllGathered, Outcome::Scattered}) {
        const Cluster cluster = machine(nodes, 1, 1, NetworkKind::InfiniBand);
        const RankLayout layout = layout_of(cluster);
        const NcclWay way = nccl_way(cluster, kUsualNccl, layout, outcome, Bytes{part * nodes});
        CAPTURE(nodes, part, way.collective->name);
        if (way.estimate.algorithm != NcclAlgorithm::Pat) continue;  // a ring is faster
        ++chosen;
        const Bytes payload{outcome == Outcome::AllGathered ? part : part * nodes};
        const Plan plan = one_collective(cluster, *way.collective,
                                         {.payload = payload, .protocol = way.protocol});
        const double exact = played(cluster, plan, "flow-exact");
        CHECK(exact == Approx(played(cluster, plan, "analytic")).epsilon(1e-6));
        int levels = 0;
        while (1 << levels < nodes) ++levels;
        // 6 us of launch; a message's 5 us of latency, and a step of 14 / 3.5 us. InfiniBand's
        // first 10 us are in the step.
        const double formula = 6e-6 + 8e-6 + nodes * 2.8e-6 + levels * 4e-6 +
                               double(nodes - 1) * double(part) / .75 / 24e9;
        CHECK(exact == Approx(formula).epsilon(1e-3));
      }
  CHECK(chosen > 20);
}

/// Time of an all-reduce by one algorithm, where the network's switches add up.
double by_switches(Cluster cluster, const char* algorithm, Bytes bytes, const char* engine) {
  cluster.network_sharp = YesNo::Yes;
  cluster.nccl_settings = parse_nccl_settings(std::string("NCCL_ALGO=") + algorithm);
  const NcclWay way = nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllReduced, bytes);
  return played(
      cluster,
      one_collective(cluster, *way.collective, {.payload = bytes, .protocol = way.protocol}),
      engine);
}

// Nodes of one GPU send 1 GiB up at 24 GB/s, and receive as much at the same time, after 6 us of
// launch and a step of 14 us. A ring sends it 2 (n - 1)/n times.
TEST_CASE("the network's switches pass a buffer once up and once down, for any number of nodes",
          "[nccl][engine]") {
  const Bytes size{1 << 30};
  for (const int nodes : {2, 3, 8, 64}) {
    const Cluster cluster = machine(nodes, 1, 1, NetworkKind::InfiniBand);
    CAPTURE(nodes);
    for (const char* engine : {"flow-exact", "analytic"})
      CHECK(by_switches(cluster, "CollNetChain", size, engine) ==
            Approx(6e-6 + 14e-6 + double(size.count) / 24e9).epsilon(1e-6));
  }
}

// 4 nodes of 8 H100, 370 GB/s inside. Each GPU passes 7/8 of 1 GiB twice, of which it loses 15 %
// with Direct, and its eighth to a NIC of 24 GB/s. NVLS: 9/8 at 0.85. Before: 6 us, Direct 14 x 0.4
// us and two steps of 3.7 us, Chain 14 of 2.8 us, NVLS one of 25 us; then a step of 31, 30 or 18 us
// between nodes. On NICs of 12 GB/s an eighth takes longer than all inside, and loses nothing.
TEST_CASE("CollNet takes the longer of its way inside nodes and to the network", "[nccl][engine]") {
  struct Way {
    const char* name;
    double steps;
    double inside;  // of the buffer
  };
  const Bytes size{1 << 30};
  Cluster cluster = machine(4, 8, 8, NetworkKind::InfiniBand);
  for (const Way& way : {Way{"CollNetDirect", 6 + 14 * .4 + 2 * 3.7 + 31, 14. / 8 / .85},
                         {"CollNetChain", 6 + 14 * 2.8 + 30, 14. / 8},
                         {"NVLS", 6 + 25 + 18, 9. / 8 / .85}})
    for (const double nic : {24e9, 12e9, 48e9})
      for (const char* engine : {"flow-exact", "analytic"}) {
        cluster.nic.bandwidth = {nic};
        CAPTURE(way.name, nic, engine);
        const double bytes =
            std::max((way.inside + 1. / 8) / 370e9, 1. / 8 / nic) * double(size.count);
        CHECK(by_switches(cluster, way.name, size, engine) ==
              Approx(1e-6 * way.steps + bytes).epsilon(1e-4));
      }
}

// 4 nodes of 8 H100 with a NIC each, 64 MiB in 32 parts. A GPU gets the parts of its 3
// counterparts, 3/32, through its NIC, and passes 7 times 4/32 on. It reaches 0.9 of the links: 291
// us at 24 GB/s. Where the NIC is faster, (28 + 3)/32 at 0.9 x 370 GB/s inside bind: 195 us.
// Before: 6 us, 14 x 0.4, two steps of 3.7 us and one of 31.
TEST_CASE("CollNet gathers through the network once, and on inside nodes", "[nccl][engine]") {
  const Bytes size{64 << 20};
  for (const double nic : {24e9, 48e9})
    for (const Outcome outcome : {Outcome::AllGathered, Outcome::Scattered})
      for (const char* engine : {"flow-exact", "analytic"}) {
        Cluster cluster = machine(4, 8, 8, NetworkKind::InfiniBand);
        cluster.nic.bandwidth = {nic};
        cluster.network_sharp = YesNo::Yes;
        const NcclWay way = nccl_way(cluster, kUsualNccl, layout_of(cluster), outcome, size);
        REQUIRE(way.estimate.algorithm == NcclAlgorithm::CollNetDirect);
        const Bytes payload{outcome == Outcome::AllGathered ? size.count / 32 : size.count};
        const double bytes = std::max(3. / 32 / nic, 31. / 32 / 370e9) / .9 * double(size.count);
        CAPTURE(nic, way.collective->name, engine);
        const Plan plan = one_collective(cluster, *way.collective,
                                         {.payload = payload, .protocol = way.protocol});
        CHECK(played(cluster, plan, engine) ==
              Approx(1e-6 * (6 + 14 * .4 + 2 * 3.7 + 31) + bytes).epsilon(1e-4));
      }
}

// Contributions of 1, 2, 4, ... KiB on 3 nodes of 2 GPUs: 63 KiB. A GPU passes half of that on
// inside. A node gets what it lacks, 60, 51 or 15 KiB, half through each NIC.
TEST_CASE("CollNet's all-gather sends each node what it lacks", "[nccl]") {
  CollectiveLoad load;
  for (int rank = 0; rank < 6; ++rank) load.contributions.push_back(Bytes{1024 << rank});
  load.payload = load.contributions.back();
  const std::vector<Phase> phases = streams::collnet_all_gather.phases(even_layout(3, 2), load);
  const std::int64_t lacks[] = {60, 51, 15};
  int seen = 0;
  for (const Message& message : phases.back().messages) {
    const int to = message.to / 2;
    const bool inside = message.from / 2 == to;
    CHECK(message.bytes.count == (inside ? 63 : lacks[to]) * 512);
    ++seen;
  }
  CHECK(seen == 12);
}

// 8 nodes of one GPU on two leaves. A leaf's switch sends the sum of its four nodes up, which is as
// long as what one of them sends: at 12 GB/s 1 GiB takes twice as long as at a NIC's 24.
TEST_CASE("a leaf's switch sends one sum up for all its nodes", "[nccl][engine]") {
  const Bytes size{1 << 30};
  Cluster cluster = machine(8, 1, 1, NetworkKind::InfiniBand);
  cluster.nodes_per_leaf = 4;
  for (const double uplink : {12e9, 96e9}) {
    cluster.leaf_uplink_bandwidth = {uplink};
    for (const char* engine : {"flow-exact", "analytic"})
      CHECK(by_switches(cluster, "CollNetChain", size, engine) ==
            Approx(double(size.count) / std::min(uplink, 24e9)).epsilon(1e-3));
  }
}

// Each part reaches every other rank once, whatever the number of ranks: contributions of 1, 2, 4,
// ... bytes say which have been sent.
TEST_CASE("PAT's all-gather sends each rank every part of the others once", "[nccl]") {
  for (const int nodes : {2, 3, 5, 6, 8, 11}) {
    CollectiveLoad load;
    for (int rank = 0; rank < nodes; ++rank) load.contributions.push_back(Bytes{1 << rank});
    load.payload = load.contributions.back();
    std::vector<std::int64_t> has;
    for (int rank = 0; rank < nodes; ++rank) has.push_back(1 << rank);
    for (const Phase& phase : streams::pat_all_gather.phases(even_layout(nodes, 1), load)) {
      const std::vector<std::int64_t> before = has;
      for (const Message& message : phase.messages) {
        const std::int64_t sent = message.bytes.count;
        CHECK((sent & before[std::size_t(message.from)]) == sent);
        CHECK((sent & before[std::size_t(message.to)]) == 0);
        has[std::size_t(message.to)] |= sent;
      }
    }
    for (const std::int64_t parts : has) CHECK(parts == (1 << nodes) - 1);
  }
}

// 24 GB/s a NIC, 8 of them, on 4 nodes: a ring passes 2 x 31/32 S through 192 GB/s. With one NIC it
// takes eight times as long.
TEST_CASE("communication time falls with the NICs", "[nccl]") {
  const Bytes size{std::int64_t{1} << 30};
  double before = 0;
  for (const int nics : {1, 2, 4, 8}) {
    const double time = all_reduced(machine(4, 8, nics, NetworkKind::InfiniBand), size);
    CHECK(time > 2. * 31 / 32 * double(size.count) / (nics * 24e9));
    if (nics > 1) CHECK(time < 0.65 * before);
    before = time;
  }
}

// 8 GPUs and 8 NICs of 24 GB/s on each of 4 nodes. A broadcast of 1 GiB goes through all 8 NICs of
// a node: 5.6 ms, and 31 steps of a piece take less than a tenth more. A message from one rank to
// the next leaves a node through one NIC: 44.7 ms.
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

// 16 channels have a chunk on the way for each of 8 GPUs: 128 chunks, of 64 KiB from 4 nodes on,
// and on two nodes of 128. A buffer of less than 32, 16, 4 or 1 rounds of them has chunks of at
// most 256, 128, 64 or 32 KiB: 100 MiB are 6 rounds of 128. The first round walks up the tree and
// down before the last byte has left.
TEST_CASE("the first chunks of an NVLink switch's tree walk through it", "[nccl]") {
  const auto piece = [](int nodes, std::int64_t bytes, const std::string& settings = "") {
    Cluster cluster = machine(nodes, 8, 8, NetworkKind::InfiniBand);
    cluster.nccl_settings = parse_nccl_settings("NCCL_ALGO=NVLSTree" + settings);
    const NcclWay way =
        nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllReduced, Bytes{bytes});
    REQUIRE(way.estimate.algorithm == NcclAlgorithm::NvlsTree);
    return way.protocol.piece.count;
  };
  CHECK(piece(8, 32 << 20) == 128 * (64 << 10));
  CHECK(piece(8, 4 << 20) == 128 * (32 << 10));
  CHECK(piece(2, 100 << 20) == 128 * (128 << 10));
  CHECK(piece(2, 32 << 20) == 128 * (64 << 10));
  CHECK(piece(2, 1 << 20) == 1 << 20);  // no chunk is larger than its part
  // Amazon's plugin permits 512 KiB: 1 GiB are 16 rounds of them, and 32 are needed for that. So
  // chunks are 256 KiB; 32 MiB are less than 4 rounds of 128 KiB, and have 64 as before. A tree's
  // chunks are no larger than a switch's.
  const std::string of_tree = " NCCL_NVLSTREE_MAX_CHUNKSIZE=524288";
  const std::string of_both = of_tree + " NCCL_NVLS_CHUNKSIZE=524288";
  CHECK(piece(8, std::int64_t{4} << 30, of_both) == 128 * (512 << 10));
  CHECK(piece(8, 1 << 30, of_both) == 128 * (256 << 10));
  CHECK(piece(8, 32 << 20, of_both) == 128 * (64 << 10));
  CHECK(piece(8, std::int64_t{4} << 30, of_tree) == 128 * (128 << 10));
  const std::string of_switch = " NCCL_NVLS_CHUNKSIZE=524288";
  CHECK(piece(8, std::int64_t{4} << 30, of_switch) == 128 * (64 << 10));
  CHECK(piece(2, std::int64_t{4} << 30, of_switch) == 128 * (512 << 10));
}

// 8 H100 on a switch of 0.85 x 370 GB/s: 314.5. 16 channels have a chunk on the way for each of 8
// GPUs, 128 at once. 64 MiB are 8 rounds of chunks of 64 KiB, which are more than 64 rounds of
// 128 KiB need. A round takes 26.7 us on the links: the way in and out takes twice that less 10 us,
// and GPUs agree on each in 2 us. Links carry 1 + 1/8 of the buffer.
TEST_CASE("an NVLink switch's first piece is copied in, and its last one out", "[nccl][engine]") {
  Cluster cluster = machine(1, 8, 8, NetworkKind::InfiniBand);
  cluster.nccl_settings = parse_nccl_settings("NCCL_ALGO=NVLS");
  const auto time = [&](std::int64_t bytes) { return all_reduced(cluster, Bytes{bytes}); };
  const double rate = .85 * 370e9;
  const double round = (8 << 20) / rate;
  const double empty = time(1 << 10);
  const double bytes = 1.125 * (64 << 20) / rate;
  CHECK(time(64 << 20) - empty ==
        Approx(bytes * (1 + 2e-6 / round) + 2 * (round - 10e-6)).epsilon(0.01));
  // 4 KiB are one piece, which takes no 10 us.
  CHECK(time(4 << 10) - empty < 1e-6);
}

// A rack of 72 GPUs is one node. An NVLink switch's tree leaves it as 9 NICs of 47 GB/s would: 423
// GB/s. 16 GiB over two racks leave each once.
TEST_CASE("an NVLink switch's tree leaves a rack as nine NICs would", "[nccl]") {
  Cluster cluster = machine(2, 72, 72, NetworkKind::InfiniBand);
  cluster.gpu_generation = GpuGeneration::Blackwell;
  cluster.nic.bandwidth = BytesPerSecond{47e9};
  cluster.intra.bandwidth = BytesPerSecond{721.8e9};
  cluster.nccl_settings = parse_nccl_settings("NCCL_ALGO=NVLSTree");
  const auto time = [&](std::int64_t bytes) {
    return all_reduced(cluster, Bytes{bytes}, "analytic");
  };
  const double gibibyte = 1 << 30;
  CHECK(time(std::int64_t{16} << 30) - time(std::int64_t{8} << 30) ==
        Approx(8 * gibibyte / (9 * 47e9)).epsilon(0.02));
}

// NCCL takes no protocol of a rack to be faster than its tables say, though 72 NICs carry 4.7 times
// what a GPU's links do: a GiB more takes what NCCL estimates of it.
TEST_CASE("NCCL's limits of a protocol hold where GPUs' links carry less than the NICs", "[nccl]") {
  Cluster cluster = machine(16, 72, 72, NetworkKind::InfiniBand);
  cluster.gpu_generation = GpuGeneration::Blackwell;
  cluster.nic.bandwidth = BytesPerSecond{47e9};
  cluster.intra.bandwidth = BytesPerSecond{721.8e9};
  for (const char* algorithm : {"Tree", "Ring"})
    for (const char* protocol : {"LL", "LL128"}) {
      CAPTURE(algorithm, protocol);
      cluster.nccl_settings =
          parse_nccl_settings(std::string("NCCL_ALGO=") + algorithm + " NCCL_PROTO=" + protocol);
      const auto at = [&](std::int64_t gibibytes) {
        const Bytes bytes{gibibytes << 30};
        const NcclWay way =
            nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllReduced, bytes);
        return std::pair(all_reduced(cluster, bytes, "analytic"), way.estimate.time.count());
      };
      const auto [ours, rule] = at(8);
      const auto [ours_of_more, rule_of_more] = at(16);
      CHECK(ours_of_more - ours == Approx(rule_of_more - rule).epsilon(0.02));
    }
}

// 3 steps of .6 us, after NCCL's base of 6.6 and a launch of 6, are 14.4: the host's four calls
// take longer. Of 14 steps each all-reduce is done later than the host's next call, and so is an
// all-gather of two GPUs, by 1 step in 13.2 us, for which the host has two calls.
TEST_CASE("calls follow one another no faster than the host makes them", "[nccl][engine]") {
  const auto smallest = [](int gpus, Outcome outcome, const char* engine) {
    const Cluster cluster = machine(1, gpus, gpus, NetworkKind::InfiniBand);
    const NcclWay way = nccl_way(cluster, kUsualNccl, layout_of(cluster), outcome, Bytes{1024});
    return played(
        cluster,
        one_collective(cluster, *way.collective, {.payload = Bytes{1}, .protocol = way.protocol}),
        engine);
  };
  for (const char* engine : {"analytic", "flow-exact"}) {
    CHECK(smallest(4, Outcome::AllGathered, engine) == Approx(17e-6).epsilon(1e-3));
    CHECK(smallest(4, Outcome::AllReduced, engine) == Approx(17e-6).epsilon(1e-3));
    CHECK(smallest(8, Outcome::AllReduced, engine) == Approx(21e-6).epsilon(1e-2));
    CHECK(smallest(2, Outcome::AllGathered, engine) == Approx(13.2e-6).epsilon(1e-3));
  }
}

namespace {

/// The time of an all-gather by a ring with a protocol that NCCL's environment asks for.
double of_ring(Cluster cluster, std::int64_t bytes, const char* engine,
               const std::string& protocol = "Simple") {
  cluster.nccl_settings = parse_nccl_settings("NCCL_ALGO=Ring NCCL_PROTO=" + protocol);
  const Bytes size{bytes};
  const NcclWay way = nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllGathered,
                               size * cluster.ranks());
  const Plan plan =
      one_collective(cluster, *way.collective, {.payload = size, .protocol = way.protocol});
  return played(cluster, plan, engine);
}

}  // namespace

// Rings by LL give a channel 4 KiB times their ranks: 32 KiB on 8 GPUs, whose 384 KiB take 12 of
// the 24 channels and 768 KiB all of them. A channel begins 1.15 us after the one before.
TEST_CASE("the channels of an older NCCL begin one after another", "[nccl]") {
  Cluster node = machine(1, 8, 1, NetworkKind::InfiniBand);
  node.gpu_generation = GpuGeneration::Ampere;
  node.nvlink_sharp = YesNo::No;
  node.intra.bandwidth = BytesPerSecond{230e9};
  const auto begin = [&](const NcclVersion& version, std::int64_t kib) {
    const NcclWay way =
        nccl_way(node, version, layout_of(node), Outcome::AllReduced, Bytes{kib << 10});
    CHECK(way.protocol.name == "LL");
    return way.protocol.begin.count() * 1e6;
  };
  const NcclVersion older{2, 14, 0};
  CHECK(begin(older, 384) - begin(older, 32) == Approx(11 * 1.15));
  CHECK(begin(older, 768) - begin(older, 32) == Approx(23 * 1.15));
  CHECK(begin(older, 1024) == Approx(begin(older, 768)));
  CHECK(begin({2, 18, 0}, 384) == Approx(begin({2, 18, 0}, 32)));
}

// An all-gather of 2 x 4 GPUs by Simple: 7 steps, of which every fourth crosses from node to node
// and takes 14 us, the others 3.4. A launch of 6 us and NCCL's base of 8.4 come before. Bytes come
// after, so that each further MiB adds the same time.
TEST_CASE("a ring takes its latencies before its bytes", "[nccl]") {
  const Cluster cluster = machine(2, 4, 4, NetworkKind::InfiniBand);
  for (const char* engine : {"analytic", "flow-exact"}) {
    const double least = of_ring(cluster, 1, engine);
    CHECK(least == Approx(6e-6 + 8.4e-6 + 7 * (14e-6 + 3 * 3.4e-6) / 4).epsilon(1e-3));
    const double mebibyte = of_ring(cluster, 1 << 20, engine) - least;
    CHECK(mebibyte == Approx(of_ring(cluster, 2 << 20, engine) - of_ring(cluster, 1 << 20, engine))
                          .epsilon(1e-3));
  }
}

// Eight NICs of 47 GB/s carry 376 GB/s, and 16 channels of 20.5 copy 328: so long each further MiB
// of 16 ranks takes, of which each rank gets 15/16. Asked for 32, NCCL fills the GPUs' links of
// 370; four NICs, of 188 GB/s, are filled anyway. Faster ones than 47 GB/s change nothing.
TEST_CASE("a ring's channels copy less than eight fast NICs carry", "[nccl]") {
  const auto rate = [](int nics, const char* settings, double nic = 47e9) {
    Cluster cluster = machine(2, 8, nics, NetworkKind::InfiniBand);
    cluster.nic.bandwidth = BytesPerSecond{nic};
    cluster.nccl_settings = parse_nccl_settings(settings);
    const auto time = [&](std::int64_t gibibytes) {
      const NcclWay way = nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllGathered,
                                   Bytes{gibibytes << 30});
      REQUIRE(way.estimate.algorithm == NcclAlgorithm::Ring);
      return played(cluster,
                    one_collective(cluster, *way.collective,
                                   {.payload = Bytes{gibibytes << 26}, .protocol = way.protocol}),
                    "analytic");
    };
    return 15. / 16 * (1 << 30) / (time(5) - time(4));
  };
  for (const double nic : {47e9, 94e9, 375e9})
    CHECK(rate(8, "none", nic) == Approx(16 * 20.5e9).epsilon(0.01));
  CHECK(rate(8, "NCCL_MIN_NCHANNELS=32") == Approx(370e9).epsilon(0.03));
  CHECK(rate(4, "none") == Approx(188e9).epsilon(0.03));
}

// 8 x 8 GPUs: 63 steps of (14 + 7 x 3.4) / 8 us, 298 us in all, take 3.1 times that, and 1024 GPUs
// 1023 of them 4 times. 2.1 x 298 = 625 us of waits hide half of the bytes' time: a first MiB of
// each GPU adds half of what one more adds to 1 GiB. The bytes of that GiB take more than a
// hundred times as long as all waits, so that its latencies are those that NCCL counts.
TEST_CASE("ranks of a long ring wait for late ones, and half of the bytes go meanwhile", "[nccl]") {
  const double step = (14e-6 + 7 * 3.4e-6) / 8;
  const Cluster cluster = machine(8, 8, 8, NetworkKind::InfiniBand);
  for (const char* engine : {"analytic", "flow-exact"}) {
    const double least = of_ring(cluster, 1, engine);
    CHECK(least == Approx(14.4e-6 + 3.1 * 63 * step).epsilon(1e-3));
    const double few = of_ring(cluster, 1 << 20, engine) - least;
    const double many = of_ring(cluster, 1 << 30, engine);
    const double more = of_ring(cluster, (1 << 30) + (1 << 20), engine) - many;
    CHECK(few == Approx(more / 2).epsilon(0.01));
    CHECK(many - 1024 * more == Approx(14.4e-6 + 63 * step).epsilon(0.01));
  }
  const Cluster large = machine(128, 8, 8, NetworkKind::InfiniBand);
  CHECK(of_ring(large, 1, "analytic") == Approx(14.4e-6 + 4 * 1023 * step).epsilon(1e-3));
}

// 63 steps by LL of (2.7 + 7 x .6) / 8 us, and 6.2 us of waits beside each, after 12.6 us.
TEST_CASE("ranks of a long ring wait as long by LL, whose steps are short", "[nccl]") {
  const Cluster cluster = machine(8, 8, 8, NetworkKind::InfiniBand);
  const double step = (2.7e-6 + 7 * .6e-6) / 8;
  for (const char* engine : {"analytic", "flow-exact"})
    CHECK(of_ring(cluster, 1, engine, "LL") == Approx(12.6e-6 + 63 * (step + 6.2e-6)).epsilon(.01));
}

// On A3 Mega's network rings of 16 ranks show no waits: 15 steps, every eighth between nodes.
TEST_CASE("ranks wait for late ones over Slingshot, and not past the host", "[nccl]") {
  Cluster cluster = machine(2, 8, 8, NetworkKind::GpudirectTcp);
  const double past_host = of_ring(cluster, 1, "analytic");
  cluster.network_kind = NetworkKind::InfiniBand;
  CHECK(of_ring(cluster, 1, "analytic") > 1.1 * past_host);
  cluster = machine(8, 8, 8, NetworkKind::Slingshot);
  const double slingshot = of_ring(cluster, 1, "analytic");
  CHECK(slingshot > 2 * 63 * (14e-6 + 7 * 3.4e-6) / 8);
  // Then half of the bytes, until the bytes alone take longer: a time that never falls.
  double before = slingshot;
  for (std::int64_t bytes = 1 << 10; bytes <= 1 << 28; bytes *= 2) {
    const double now = of_ring(cluster, bytes, "analytic");
    CHECK(now >= before);
    before = now;
  }
}

// A tree with LL on 4 x 8 GPUs: 14 steps of 0.6 us inside and 4 between, of 5 us each where the
// network has InfiniBand's 10 us, and of 58 more with EFA's 68. Its 75 us make NCCL's choice alone:
// the estimate has 4 x (5 + 75) us between nodes.
TEST_CASE("a plugin's latency makes NCCL's choice, and the network's the time", "[nccl]") {
  Cluster cluster = machine(4, 8, 8, NetworkKind::Efa);
  cluster.nccl_settings = parse_nccl_settings("NCCL_ALGO=Tree NCCL_PROTO=LL");
  const Bytes size{64};
  const auto time = [&](double latency, double plugin) {
    cluster.nic.latency = Seconds{latency};
    cluster.nccl_plugin_latency = Seconds{plugin};
    const NcclWay way =
        nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllReduced, size);
    const Plan plan =
        one_collective(cluster, *way.collective, {.payload = size, .protocol = way.protocol});
    return std::pair(played(cluster, plan, "analytic"), way.estimate.latency.count());
  };
  const auto [fast, fast_choice] = time(10e-6, 0);
  const auto [slow, slow_choice] = time(68e-6, 75e-6);
  CHECK(slow - fast == Approx(4 * 58e-6).epsilon(1e-6));
  CHECK(slow_choice - fast_choice == Approx(4 * 75e-6).epsilon(1e-6));
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
TEST_CASE("over TCP a faster NIC is never slower, and reaches 28 Gb/s at most", "[nccl]") {
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
    CHECK(time > 2. * 7 / 8 * (1 << 30) / (28e9 / 8));
    before = time;
  }
}

// 8 nodes of one GPU, 2.4 GB/s, 25 us: a ring of 64 MiB has 14 rounds. One thread that copies too
// makes 14 times a latency, 25 us and 14 us of the step, and an eighth of the bytes. Helpers hide
// all latencies but those that a ring of bare messages has.
TEST_CASE("over sockets a ring's latencies add up unless threads help to copy", "[nccl][engine]") {
  Cluster cluster = machine(8, 1, 1, NetworkKind::Tcp);
  cluster.nic.bandwidth = {2.4e9};
  cluster.gpus_per_node = 4;
  cluster.nics_per_node = 1;
  const Bytes size{64 << 20};
  const auto time = [&](const char* engine) {
    const NcclWay way =
        nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllReduced, size);
    REQUIRE(way.estimate.algorithm == NcclAlgorithm::Ring);
    REQUIRE(way.protocol.name == "Simple");
    return played(
        cluster,
        one_collective(cluster, *way.collective, {.payload = size, .protocol = way.protocol}),
        engine);
  };
  const double bytes = 2. * 31 / 32 * double(size.count) / 2.4e9;
  const double alone = time("analytic");
  CHECK(alone == Approx(6e-6 + 8.4e-6 + 62 * (25e-6 + 14e-6) + bytes).epsilon(1e-4));
  CHECK(time("flow-exact") == Approx(alone).epsilon(1e-4));
  cluster.nccl_settings = parse_nccl_settings("NCCL_SOCKET_NTHREADS=4");
  const double helped = time("analytic");
  CHECK(helped > bytes);
  CHECK(helped < bytes + 0.3 * (alone - bytes));
  CHECK(time("flow-exact") == Approx(helped).epsilon(0.02));
}

// 8 nodes of 4 GPUs, two NICs of 24 GB/s of which 1.2 are reached: NCCL estimates a tree for the
// nominal rate, where it does not fill its links. At 2.4 GB/s its bytes alone count: twice 1 MiB,
// and before them 2 log2(8) - 1 steps of a piece. 4 channels have 256 KiB each: chunks of 32 KiB,
// since fewer than 6 of 64 KiB would be.
TEST_CASE("what NCCL estimates for a fast NIC does not slow a tree on a slow one", "[nccl]") {
  Cluster cluster = machine(8, 4, 2, NetworkKind::Tcp);
  cluster.gpu_generation = GpuGeneration::Ampere;
  cluster.nvlink_sharp = YesNo::No;
  cluster.nic_share = 0.05;
  cluster.nic.latency = Seconds{25e-6};
  const Bytes size{1 << 20};
  const NcclWay way = nccl_way(cluster, {2, 18, 0}, layout_of(cluster), Outcome::AllReduced, size);
  REQUIRE(way.estimate.algorithm == NcclAlgorithm::Tree);
  REQUIRE(way.protocol.name == "Simple");
  CHECK(way.protocol.piece == Bytes{4 * (32 << 10)});
  CHECK(way.protocol.link_time == 1);
  const Plan plan =
      one_collective(cluster, *way.collective, {.payload = size, .protocol = way.protocol});
  const double walk = 6e-6 + 8.4e-6 + 6 * 4e-6 + 6 * (25e-6 + 14e-6);
  const double bytes = (5 * 131072. + 2 * 1048576.) / 2.4e9;
  CHECK(played(cluster, plan, "analytic") == Approx(walk + bytes).epsilon(0.01));
  cluster.nic_share = 1;  // then the estimate holds the first piece's way
  const Protocol full =
      nccl_way(cluster, {2, 18, 0}, layout_of(cluster), Outcome::AllReduced, size).protocol;
  CHECK(full.link_time > 1.5);
}

// sqrt(1 / (1/n^2 + 1/m^2)), m = 28 Gb/s: 10GbE loses 5 %, 100GbE 70 %.
TEST_CASE("NCCL's sockets reach most of a slow NIC and a third of a fast one", "[nccl]") {
  const auto share = [](double gbit) {
    return socket_rate({gbit * 1e9 / 8}).value / (gbit * 1e9 / 8);
  };
  CHECK(share(9.43) == Approx(0.948).epsilon(0.001));
  CHECK(share(94.15) == Approx(0.285).epsilon(0.002));
}

// 2 nodes of 8 GPUs and 8 NICs have 8 channels of 40 GB/s inside, each laid twice. By itself NCCL
// cuts chunks of 1 MiB until 16 MiB are many; with 512 KiB as the least, 16 channels have 8 MiB on
// their way. They pass 14 GPUs, and one of two steps between nodes before the last.
TEST_CASE("a tree waits for the first of large chunks", "[nccl]") {
  Cluster cluster = machine(2, 8, 8, NetworkKind::InfiniBand);
  cluster.nic.bandwidth = {12e9};
  cluster.nccl_settings = parse_nccl_settings(
      "NCCL_ALGO=Tree NCCL_PROTO=Simple NCCL_BUFFSIZE=8388608 NCCL_DYNAMIC_CHUNK_SIZE=524288");
  const Bytes size{16 << 20};
  const NcclWay way = nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::AllReduced, size);
  CHECK(way.protocol.piece == Bytes{8 << 20});
  CHECK(way.protocol.link_time == 1);
  const Plan plan =
      one_collective(cluster, *way.collective, {.payload = size, .protocol = way.protocol});
  const double mebibyte = 1 << 20;
  const double walk = 6e-6 + 8.4e-6 + 14 * (4e-6 + 8 * mebibyte / 320e9) + 2 * 14e-6;
  const double bytes = (1 + 2) * mebibyte / 12e9;  // of a NIC: of the piece, and all
  CHECK(played(cluster, plan, "analytic") == Approx(walk + bytes).epsilon(0.01));
  CHECK(played(cluster, plan, "flow-exact") == Approx(walk + bytes).epsilon(0.01));
}

// Eight A100 reach 232.54 GB/s of bus bandwidth, two 208: NVIDIA/nccl#1048, NVIDIA/nccl-tests#178.
TEST_CASE("few GPUs of a node reach less, for a ring's last step only copies", "[nccl]") {
  const Bytes size{std::int64_t{8} << 30};
  const auto bus = [&](int gpus) {
    Cluster cluster = machine(1, gpus, 1, NetworkKind::InfiniBand);
    cluster.gpu_generation = GpuGeneration::Ampere;
    cluster.intra.bandwidth = {232.54e9};
    const NcclWay way =
        nccl_way(cluster, {2, 14, 0}, layout_of(cluster), Outcome::AllReduced, size);
    const Plan plan =
        one_collective(cluster, *way.collective, {.payload = size, .protocol = way.protocol});
    return 2. * (gpus - 1) / gpus * double(size.count) / played(cluster, plan, "analytic") / 1e9;
  };
  CHECK(bus(8) / bus(2) == Approx(232.54 / 208).epsilon(0.001));
}

// In LL128 four channels of A100 pass on 4 x 12 GB/s at most, whatever speed NCCL counts its NICs
// for: 25 MiB through a tree took 1508 us at 350 Gb/s a NIC and 1983 at 376.
TEST_CASE("a tree of more than two nodes takes no longer where NICs are faster", "[nccl]") {
  struct Machine {
    GpuGeneration gpu;
    double inside;
    int nodes;
  };
  for (const auto& [gpu, inside, nodes] :
       {Machine{GpuGeneration::Ampere, 230.77e9, 8}, Machine{GpuGeneration::Ampere, 230.77e9, 4},
        Machine{GpuGeneration::Hopper, 370e9, 4}, Machine{GpuGeneration::Hopper, 370e9, 8}}) {
    Cluster cluster = machine(nodes, 8, 8, NetworkKind::InfiniBand);
    cluster.gpu_generation = gpu;
    cluster.nccl_settings = parse_nccl_settings("NCCL_ALGO=Tree NCCL_PROTO=LL128");
    cluster.intra = {BytesPerSecond{inside}, Seconds{3.4e-6}};
    double before = INFINITY;
    for (const double gigabits : {200, 300, 350, 376, 400, 800}) {
      cluster.nic.bandwidth = BytesPerSecond{gigabits * 1e9 / 8};
      const double seconds = all_reduced(cluster, Bytes{25 << 20});
      CAPTURE(nodes, gigabits, seconds);
      CHECK(seconds < 1.001 * before);
      before = seconds;
    }
  }
}

// Flags, what a protocol loses, and the way of a tree's first piece are times, not bytes.
TEST_CASE("a rank of a ring or a tree sends a buffer twice at most", "[nccl]") {
  for_each_case([](const Case& its) {
    if (its.outcome != Outcome::AllReduced) return;
    const Bytes payload{its.bytes};
    const NcclWay way =
        nccl_way(its.cluster, kUsualNccl, layout_of(its.cluster), its.outcome, payload);
    if (way.collective->name != "ring-all-reduce" && way.collective->name != "tree") return;
    const Plan plan = one_collective(its.cluster, *way.collective,
                                     {.payload = payload, .protocol = way.protocol});
    CAPTURE(way.collective->name, way.protocol.name, its.bytes, its.cluster.nodes);
    CHECK(sent_bytes_per_rank(plan, its.cluster) <=
          2.0 * static_cast<double>(payload.count) + 64 * its.cluster.ranks());
  });
}

// 32 channels for 8 messages are four each, which take 16 MiB at most: up to 64 MiB at 4 x 20.5
// GB/s, a link's 370 / 82 = 4.51 as long. Eight carry 128 MiB, and from 32 on the link decides.
TEST_CASE("a send-receive inside a node goes by few channels, until it is large", "[nccl]") {
  const auto link_time = [](const Cluster& cluster, std::int64_t mib) {
    return nccl_way(cluster, kUsualNccl, layout_of(cluster), Outcome::Passed, Bytes{mib << 20})
        .protocol.link_time;
  };
  Cluster node = machine(1, 8, 8, NetworkKind::InfiniBand);
  for (const std::int64_t mib : {8, 64}) CHECK(link_time(node, mib) == Approx(370. / 82));
  for (const std::int64_t mib : {65, 128}) CHECK(link_time(node, mib) == Approx(370. / 164));
  CHECK(link_time(node, 256) == Approx(370. / 328));
  CHECK(link_time(node, 512) == 1);
  CHECK(link_time(machine(1, 2, 2, NetworkKind::InfiniBand), 256) == Approx(370. / 328));
  CHECK(link_time(machine(2, 8, 8, NetworkKind::InfiniBand), 64) == 1);
  node.nvlink_sharp = YesNo::No;
  node.gpu_generation = GpuGeneration::Volta;
  CHECK(link_time(node, 64) == 1);
}
