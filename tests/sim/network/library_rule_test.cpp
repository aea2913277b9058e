// Choices of Gloo and Open MPI, and their times.
#include "sim/network/library_rule.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "sim/network/collective_choice.hpp"
#include "sim/network/rank_groups.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

/// One GPU a node.
Cluster cluster(int nodes) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = 1;
  cluster.nic = {BytesPerSecond{1e9}, 50us};
  cluster.intra = {BytesPerSecond{10e9}, 0us};
  return cluster;
}

std::string chosen(const char* library, Outcome outcome, int ranks, std::int64_t bytes) {
  const LibraryRule* rule = find_library_rule(library);
  REQUIRE(rule != nullptr);
  return std::string(rule->choose(cluster(ranks), outcome, ranks, Bytes{bytes}).collective->name);
}

std::string reduced(const char* library, int ranks, std::int64_t bytes) {
  return chosen(library, Outcome::AllReduced, ranks, bytes);
}

std::string gathered(const char* library, int ranks, std::int64_t bytes) {
  return chosen(library, Outcome::AllGathered, ranks, bytes);
}

/// A collective alone, one GPU a node.
double seconds(const char* library, Outcome outcome, int ranks, std::int64_t bytes,
               NetworkKind kind = NetworkKind::Tcp) {
  Cluster nodes = cluster(ranks);
  nodes.network_kind = kind;
  const CollectiveUse use = find_library_rule(library)->choose(nodes, outcome, ranks, Bytes{bytes});
  const auto phases = phases_in({}, *use.collective, layout_of(nodes),
                                {.payload = Bytes{bytes}, .protocol = use.protocol});
  return collective_time(phases, make_topology(nodes), {}).count();
}

}  // namespace

TEST_CASE("every library chooses a collective of the right kind for all ranks and sizes",
          "[library_rule]") {
  for (const LibraryRule& rule : library_rules())
    for (const Outcome outcome : {Outcome::AllReduced, Outcome::AllGathered, Outcome::Scattered})
      for (int ranks = 2; ranks <= 65'536; ranks = ranks * 3 / 2)
        for (std::int64_t bytes = 1; bytes <= std::int64_t{1} << 34; bytes *= 3) {
          CAPTURE(rule.name, ranks, bytes);
          const CollectiveUse use = rule.choose(cluster(2), outcome, ranks, Bytes{bytes});
          REQUIRE(use.collective != nullptr);
          CHECK_FALSE(use.collective->sparse);
          CHECK((use.collective->serves == Aggregation::AllGather) ==
                (outcome == Outcome::AllGathered));
        }
}

// 40 MB a rank at 1 GB/s: 40 ms, half of which one rank waits for the other. With four ranks three
// chunks go round: 120 ms.
TEST_CASE("a Gloo all-gather of two ranks takes half as long again, of more it is a ring",
          "[library_rule]") {
  CHECK(seconds("gloo", Outcome::AllGathered, 2, 40'000'000) == Approx(0.060).epsilon(0.005));
  CHECK(seconds("gloo", Outcome::AllGathered, 4, 40'000'000) == Approx(0.120).epsilon(0.005));
}

// 40 MB, four ranks: they exchange 20 and 10 MB, and back: 60 ms at 1 GB/s, 120 in turns, and 105
// where three of four bytes take turns. Of three ranks, two exchange 20 MB twice, 70 of 40 ms, and
// the third sends 40 MB to one, and gets as much: 80 ms.
// A ring of four ranks has a connection for each direction;
// InfiniBand has no such connections.
TEST_CASE("Open MPI's exchanges of large messages take turns over TCP", "[library_rule]") {
  CHECK(seconds("open-mpi", Outcome::AllReduced, 4, 40'000'000) == Approx(0.105).epsilon(0.01));
  CHECK(seconds("open-mpi", Outcome::AllReduced, 3, 40'000'000) == Approx(0.150).epsilon(0.01));
  CHECK(seconds("open-mpi", Outcome::AllGathered, 4, 10'000'000) == Approx(0.0525).epsilon(0.01));
  CHECK(seconds("open-mpi-4.0", Outcome::AllReduced, 2, 40'000'000) == Approx(0.070).epsilon(0.03));
  CHECK(seconds("open-mpi-4.0", Outcome::AllReduced, 4, 40'000'000) == Approx(0.060).epsilon(0.03));
  CHECK(seconds("open-mpi", Outcome::AllReduced, 4, 40'000'000, NetworkKind::InfiniBand) ==
        Approx(0.060).epsilon(0.01));
  // 256 KiB: exchanges of 128 and 64 KiB go in fragments, as nobody asks for them.
  CHECK(seconds("open-mpi", Outcome::AllReduced, 4, 256 << 10) ==
        seconds("open-mpi", Outcome::AllReduced, 4, 256 << 10, NetworkKind::InfiniBand));
}

// 10,000 bytes, and 1 MiB for each rank.
TEST_CASE("Open MPI up to 4.0 doubles, goes around a ring, and cuts the large", "[library_rule]") {
  CHECK(reduced("open-mpi-4.0", 8, 9'999) == "recursive-doubling-all-reduce");
  CHECK(reduced("open-mpi-4.0", 8, 10'000) == "ring-all-reduce");
  CHECK(reduced("open-mpi-4.0", 8, 8 << 20) == "ring-all-reduce");
  CHECK(reduced("open-mpi-4.0", 8, (8 << 20) + 1) == "segmented-ring-all-reduce");
  // All contributions together are below 50,000 bytes, or not.
  CHECK(gathered("open-mpi-4.0", 8, 6'249) == "recursive-doubling-all-gather");
  CHECK(gathered("open-mpi-4.0", 7, 6'249) == "bruck-all-gather");
  CHECK(gathered("open-mpi-4.0", 8, 6'250) == "ring-all-gather");
}

TEST_CASE("Open MPI since 4.1 halves and doubles what is large", "[library_rule]") {
  CHECK(reduced("open-mpi", 3, 100'000) == "segmented-ring-all-reduce");
  CHECK(reduced("open-mpi", 8, 8'191) == "recursive-doubling-all-reduce");
  CHECK(reduced("open-mpi", 8, 8'192) == "recursive-halving-doubling");
  CHECK(reduced("open-mpi", 64, 262'143) == "recursive-doubling-all-reduce");
  CHECK(reduced("open-mpi", 128, 131'071) == "reduce-broadcast");
  CHECK(reduced("open-mpi", 1024, 100 << 20) == "recursive-halving-doubling");
  CHECK(reduced("open-mpi", 4096, 100 << 20) == "ring-all-reduce");
  CHECK(gathered("open-mpi", 16, 100 << 20) == "recursive-doubling-all-gather");
  CHECK(gathered("open-mpi", 32, 1'024) == "ring-all-gather");
}

// 4 ranks, 1 GB/s, 50 us. Of 8 MB a chunk has 2 MB, and two segments of 1 MB: while one travels,
// the other is sent for 1 ms, so that the latency does not count. Of 80 kB a segment has 10 kB, 10
// us: 40 of the 50 us are left in each of 6 steps, beside the chunk's 20 us.
TEST_CASE("Gloo hides a step's latency behind its second segment", "[library_rule]") {
  const Cluster on = cluster(4);
  const CollectiveChoice choice(on, {}, find_library_rule("gloo"));
  const auto time = [&](std::int64_t bytes) {
    CollectiveLoad load{.payload = Bytes{bytes}};
    const CollectiveUse use = choice.choose(Aggregation::AllReduce, load);
    load.protocol = use.protocol;
    return choice.time(*use.collective, load).count();
  };
  CHECK(time(8'000'000) == Approx(6 * 2e-3).epsilon(1e-9));
  CHECK(time(80'000) == Approx(6 * (20e-6 + 40e-6)).epsilon(1e-9));
  // Segments have at most 1 MiB. One segment of a chunk of 25 MB is hidden, which is more than the
  // latency.
  CHECK(time(100'000'000) == Approx(6 * 25e-3).epsilon(1e-9));
}

// PyTorch's Gloo scatters by an all-reduce.
TEST_CASE("Gloo's reduce-scatter takes as long as its all-reduce", "[library_rule]") {
  CHECK(chosen("gloo", Outcome::Scattered, 8, 1 << 20) == "ring-all-reduce");
}

// 40 MB at 1 GB/s. With two ranks there is one message. With four the root sends two at once, 80
// ms, and its first child one more; with five the root sends three.
TEST_CASE("Gloo broadcasts whole buffers down a binomial tree", "[library_rule]") {
  CHECK(seconds("gloo", Outcome::Broadcast, 2, 40'000'000) == Approx(0.040).epsilon(1e-9));
  CHECK(seconds("gloo", Outcome::Broadcast, 4, 40'000'000) == Approx(0.120).epsilon(1e-3));
  CHECK(seconds("gloo", Outcome::Broadcast, 5, 40'000'000) == Approx(0.160).epsilon(1e-3));
  // 20 kB take 20 us. The 50 us of latency count beside the half of that in which the other
  // broadcast travels.
  CHECK(seconds("gloo", Outcome::Broadcast, 2, 20'000) == Approx(60e-6).epsilon(1e-9));
}

TEST_CASE("Gloo's tree reaches every rank once, whichever the root", "[library_rule]") {
  for (const int ranks : {2, 3, 6, 8, 13})
    for (int root = 0; root < ranks; ++root) {
      CAPTURE(ranks, root);
      CollectiveLoad load{.payload = Bytes{100}};
      load.root = root;
      const CollectiveUse use =
          find_library_rule("gloo")->choose(cluster(ranks), Outcome::Broadcast, ranks, Bytes{100});
      std::vector<int> reached{root};
      for (const Phase& phase : use.collective->phases(even_layout(ranks, 1), load)) {
        const std::vector<int> before = reached;
        for (const Message& message : phase.messages) {
          CHECK(std::count(before.begin(), before.end(), message.from) == 1);
          CHECK(std::count(reached.begin(), reached.end(), message.to) == 0);
          CHECK(message.bytes == Bytes{100});
          reached.push_back(message.to);
        }
      }
      CHECK(static_cast<int>(reached.size()) == ranks);
    }
}

// Open MPI's rule for broadcasts is not here: the usual ring takes its place.
TEST_CASE("a library without a rule for broadcasts sends them along a ring", "[library_rule]") {
  const Cluster on = cluster(4);
  for (const char* library : {"open-mpi", "open-mpi-4.0"}) {
    const CollectiveChoice choice(on, {}, find_library_rule(library));
    CHECK(choice.broadcast({.payload = Bytes{1 << 20}}, {}).collective->name == "ring-broadcast");
  }
}

// 4 ranks, 12 MB: a block of 3 MB in 3 segments of 1 MB. 3 rounds of 1.05 ms for each segment, and
// 3 of 3.05 ms to gather.
TEST_CASE("a segmented ring pays a latency for every segment", "[library_rule]") {
  const Cluster on = cluster(4);
  const CollectiveChoice choice(on);
  CHECK(choice.time(*find_collective("segmented-ring-all-reduce"), {.payload = Bytes{12'000'000}})
            .count() == Approx(9 * 1.05e-3 + 3 * 3.05e-3).epsilon(1e-9));
}
