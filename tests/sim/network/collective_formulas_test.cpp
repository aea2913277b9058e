// Times of collectives alone on equal links, by formulas of their own.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/sim/network/one_switch.hpp"

using namespace gradcast;
using namespace gradcast::one_switch;

namespace {

// Formulas on n equal ranks, each with its own link of bandwidth B and latency a.

struct Case {
  int n;
  double S;  // payload: bytes of the buffer, or of one contribution
  double B;
  double a;

  double x(double bytes) const { return bytes / B; }
  int p() const { return static_cast<int>(std::bit_floor(static_cast<unsigned>(n))); }
  int log_p() const { return std::countr_zero(static_cast<unsigned>(p())); }
  int levels() const { return n == p() ? log_p() : log_p() + 1; }
};

double ring_rounds(const Case& c, int rounds, double bytes) { return rounds * (c.a + c.x(bytes)); }

/// Exchanges at distance 1, 2, 4, ... of all that is there, where `size(ranks)` bytes are there of
/// so many ranks, and folded ranks get `last` at the end. With ranks folded in all begin a round
/// together.
double doubling(const Case& c, const std::function<double(int)>& size, double last) {
  const int p = c.p();
  const int folded = c.n - p;
  std::vector<double> begin(static_cast<std::size_t>(p), folded > 0 ? c.a + c.x(size(1)) : 0);
  std::vector<int> ranks(static_cast<std::size_t>(p));
  for (int i = 0; i < p; ++i) ranks[static_cast<std::size_t>(i)] = i < folded ? 2 : 1;
  for (std::size_t distance = 1; distance < begin.size(); distance *= 2) {
    std::vector<double> begun = begin;
    if (folded > 0) begun.assign(begin.size(), *std::max_element(begin.begin(), begin.end()));
    const std::vector<int> before = ranks;
    for (std::size_t i = 0; i < begin.size(); ++i) {
      const std::size_t other = i ^ distance;
      begin[i] =
          std::max(begun[i] + c.x(size(before[i])), begun[other] + c.x(size(before[other])) + c.a);
      ranks[i] = before[i] + before[other];
    }
  }
  double end = *std::max_element(begin.begin(), begin.end());
  for (int i = 0; i < folded; ++i)
    end = std::max(end, begin[static_cast<std::size_t>(i)] + c.x(last) + c.a);
  return end;
}

double pairs_of(const Case& c, int ranks) {
  const double d = c.S / 8 * 50;  // density 0.02
  return std::min(8 * std::round(d * (1 - std::pow(1 - 0.02, ranks))), 4 * d);
}

/// One of the two trees, from its root down: by rank, depth and parent. `bit` is how far apart the
/// next ranks on its level are, halved.
struct Tree {
  std::vector<int> depth, parent;
  void grow(int rank, int bit, int ranks, int above, int level) {
    depth[static_cast<std::size_t>(rank)] = level;
    parent[static_cast<std::size_t>(rank)] = above;
    if (bit >= 2) grow(rank - bit / 2, bit / 2, ranks, rank, level + 1);
    for (int right = bit / 2; right >= 1; right /= 2)
      if (rank + right < ranks) return grow(rank + right, right, ranks, rank, level + 1);
  }
};

double double_tree(const Case& c) {
  const int even = c.n / 2 * 2;
  Tree tree{std::vector<int>(static_cast<std::size_t>(c.n)),
            std::vector<int>(static_cast<std::size_t>(c.n), -1)};
  const int top = static_cast<int>(std::bit_floor(static_cast<unsigned>(even - 1)));
  tree.grow(top, top, even, 0, 1);
  if (c.n > even) {
    tree.depth.back() = 1;
    tree.parent.back() = 0;
  }
  const int levels = *std::max_element(tree.depth.begin(), tree.depth.end());

  const double half = std::ceil(c.S / 2);
  const int chunks = static_cast<int>(std::max(
      {1.0, std::ceil(half / 524288), std::min<double>(levels, std::floor(half / 65536))}));
  const double chunk = std::ceil(half / chunks);

  double up = 0;
  for (int round = 0; round < chunks + levels - 1; ++round) {
    std::vector<int> out(static_cast<std::size_t>(c.n)), in(static_cast<std::size_t>(c.n));
    for (int rank = 0; rank < c.n; ++rank) {
      const int parent = tree.parent[static_cast<std::size_t>(rank)];
      const int now = round - (levels - tree.depth[static_cast<std::size_t>(rank)]);
      if (parent < 0 || now < 0 || now >= chunks) continue;
      const auto mirror = [&](int r) { return r < even ? even - 1 - r : r; };
      ++out[static_cast<std::size_t>(rank)];
      ++in[static_cast<std::size_t>(parent)];
      ++out[static_cast<std::size_t>(mirror(rank))];
      ++in[static_cast<std::size_t>(mirror(parent))];
    }
    const int most = std::max(*std::max_element(out.begin(), out.end()),
                              *std::max_element(in.begin(), in.end()));
    up += c.a + c.x(most * chunk);
  }
  return 2 * up;  // down is up backwards
}

/// The time when the last rank has what rank 0 sends down a binomial tree. From level to level, a
/// rank has either just received, or sent to a child where there is one.
double binomial_broadcast(const Case& c) {
  double end = 0;
  for (int rank = 1; rank < c.n; ++rank) {
    double begin = 0, received = 0;
    int reached = 0;
    for (int distance = 1 << (c.levels() - 1); distance >= 1; distance /= 2) {
      if (rank & distance) {
        begin += c.x(c.S) + c.a;
        received = begin;
        reached += distance;
      } else if (reached + distance < c.n) {
        begin += c.x(c.S);
      }
    }
    end = std::max(end, received);
  }
  return end;
}

using Formula = double (*)(const Case&);

const std::map<std::string_view, Formula> kFormulas{
    {"ring-all-reduce",
     [](const Case& c) { return ring_rounds(c, 2 * (c.n - 1), std::ceil(c.S / c.n)); }},
    {"two-level-all-reduce",  // one GPU a node
     [](const Case& c) { return ring_rounds(c, 2 * (c.n - 1), std::ceil(c.S / c.n)); }},
    {"rail-ring-all-reduce",  // one GPU a node: one ring
     [](const Case& c) { return ring_rounds(c, 2 * (c.n - 1), std::ceil(c.S / c.n)); }},
    {"rail-ring-reduce-scatter",
     [](const Case& c) { return ring_rounds(c, c.n - 1, std::ceil(c.S / c.n)); }},
    {"rail-ring-all-gather", [](const Case& c) { return ring_rounds(c, c.n - 1, c.S); }},
    {"ring-reduce-scatter",
     [](const Case& c) { return ring_rounds(c, c.n - 1, std::ceil(c.S / c.n)); }},
    {"ring-all-gather", [](const Case& c) { return ring_rounds(c, c.n - 1, c.S); }},
    {"two-level-all-gather", [](const Case& c) { return ring_rounds(c, c.n - 1, c.S); }},
    {"two-level-sparse", [](const Case& c) { return ring_rounds(c, c.n - 1, c.S); }},
    {"recursive-halving-doubling",
     [](const Case& c) {
       return 2 * (c.log_p() * c.a + c.x((c.p() - 1.0) / c.p() * c.S)) +
              (c.n > c.p() ? 2 * (c.a + c.x(c.S)) : 0);
     }},
    {"recursive-doubling-all-reduce",
     [](const Case& c) { return (c.log_p() + (c.n > c.p() ? 2 : 0)) * (c.a + c.x(c.S)); }},
    {"segmented-ring-all-reduce",
     [](const Case& c) {
       const double block = std::ceil(c.S / c.n);
       const double segments = std::max(1.0, std::ceil(block / 1'048'576));
       return ring_rounds(c, static_cast<int>(segments) * (c.n - 1), std::ceil(block / segments)) +
              ring_rounds(c, c.n - 1, block);
     }},
    {"reduce-broadcast",
     [](const Case& c) { return c.levels() * (c.a + c.x(c.S)) + binomial_broadcast(c); }},
    {"double-binary-tree", double_tree},
    {"nccl-tree", double_tree},  // one GPU a node
    {"parameter-server",
     [](const Case& c) { return 2 * (c.a + c.x((c.n - 1) * std::ceil(c.S / c.n))); }},
    {"bruck-all-gather", [](const Case& c) { return c.levels() * c.a + c.x((c.n - 1) * c.S); }},
    {"recursive-doubling-all-gather",
     [](const Case& c) {
       return doubling(
           c, [&](int ranks) { return ranks * c.S; }, (c.n - 1) * c.S);
     }},
    {"gtopk", [](const Case& c) { return c.levels() * (c.a + c.x(c.S)) + binomial_broadcast(c); }},
    {"sparse-all-reduce",
     [](const Case& c) {
       return doubling(
           c, [&](int ranks) { return pairs_of(c, ranks); }, pairs_of(c, c.n));
     }},
};

}  // namespace

// Payloads that all divisions of the formulas divide must agree but for rounding. Others leave
// remainders, of a few bytes.
TEST_CASE("every collective alone on equal links takes what its formula says",
          "[collective_time]") {
  for (int n = 2; n <= 64; ++n) {
    const Topology star = cluster(n, 1);
    const std::int64_t unit = std::int64_t{16} * n * std::bit_floor(static_cast<unsigned>(n));
    for (const std::int64_t payload :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{1000}, std::int64_t{1'000'000},
          std::int64_t{100'000'000}, unit, 100 * unit}) {
      for (const Collective* collective : all_collectives()) {
        if (collective->sparse && payload % 8 != 0) continue;  // pairs are whole
        CAPTURE(collective->name, n, payload);
        REQUIRE(kFormulas.contains(collective->name));
        const double expected = kFormulas.at(collective->name)(
            {n, static_cast<double>(payload), kBetween.bandwidth, kBetween.latency});
        // The tree cuts larger buffers into a number of chunks that depends on the size.
        const bool tree =
            collective->name == "double-binary-tree" || collective->name == "nccl-tree";
        const bool divides = payload % unit == 0 && (!tree || payload < 131'072);
        const double tolerance = divides ? 1e-9 : 1e-3;
        const CollectiveLoad load{.payload = {payload},
                                  .elements = std::max<std::int64_t>(1, payload / 8 * 50)};
        CHECK(time_of(collective->name, n, 1, load, star) ==
              Approx(expected).epsilon(tolerance).margin(0));
      }
    }
  }
}

// 16 ranks, 4 levels, 8 MB: halves of 4 MB in 8 chunks of 500 kB; 11 rounds of two chunks at
// 1.2 GB/s and 26 us each, but one chunk in the last: 11 * (26 + 833.3) us - 416.7 us, up and down.
TEST_CASE("a double tree of a power of two has a closed form", "[collective_time]") {
  CHECK(time_of("double-binary-tree", 16, 1, {.payload = {8'000'000}}, cluster(16, 1)) ==
        Approx(2 * (11 * (26e-6 + 1e6 / 1.2e9) - 0.5e6 / 1.2e9)).epsilon(1e-9));
}

// A power of two of ranks: 2 log2(16) messages of 80 kB.
TEST_CASE("a gTop-k tree of a power of two has a closed form", "[collective_time]") {
  CHECK(time_of("gtopk", 16, 1, {.payload = {80'000}, .elements = 10'000'000}, cluster(16, 1)) ==
        Approx(2 * 4 * (26e-6 + 80'000 / 1.2e9)).epsilon(1e-9));
}

// N nodes of g GPUs. All g rings share the NIC: together S/N bytes a round.
TEST_CASE("two levels take what their formulas say", "[collective_time]") {
  for (const auto& [nodes, gpus] : {std::pair{2, 2}, {4, 4}, {4, 8}, {3, 5}, {1, 8}}) {
    const Topology topology = cluster(nodes, gpus);
    const std::int64_t payload = std::int64_t{240'000} * nodes * gpus;
    const auto S = static_cast<double>(payload);
    const auto inside = [&](int rounds, double bytes) {
      return rounds * (kInside.latency + bytes / kInside.bandwidth);
    };
    const auto across = [&](int rounds, double bytes) {
      return rounds * (kBetween.latency + bytes / kBetween.bandwidth);
    };
    CAPTURE(nodes, gpus);
    CHECK(time_of("two-level-all-reduce", nodes, gpus, {.payload = {payload}}, topology) ==
          Approx(inside(2 * (gpus - 1), S / gpus) + across(2 * (nodes - 1), S / nodes))
              .epsilon(1e-9));
    CHECK(time_of("two-level-all-gather", nodes, gpus, {.payload = {payload}}, topology) ==
          Approx(across(nodes - 1, gpus * S) + inside(gpus - 1, nodes * S)).epsilon(1e-9));
    CHECK(time_of("two-level-sparse", nodes, gpus, {.payload = {payload}}, topology) ==
          Approx(across(nodes - 1, gpus * S)).epsilon(1e-9));
    const Collective* sparse = find_collective("two-level-sparse");
    for (const Collective* around : {sparse->before, sparse->after})
      CHECK(collective_time(around->phases(even_layout(nodes, gpus), {.payload = {payload}}),
                            topology, kNone)
                .count() == Approx(inside(gpus - 1, S / gpus)).epsilon(1e-9));
  }
}

// An empty buffer takes latency only: chunks walk 2(n-1) edges of the ring, one after another, and
// the slowest of these walks counts. On 4 nodes of 4 these are 30 edges of a ring of 16 with 4
// between nodes: once around has 4 of them, and 14 more have 4 if the first of these is one; so 8
// between nodes and 22 inside. NCCL's tuning (src/graph/tuning.cc) counts 2(N-1) between nodes,
// here 6 and 24 inside: that is a walk which begins right after an edge between nodes, the fastest.
// It can be off by one such edge on each of the two ways around.
TEST_CASE("an empty ring takes its slowest walk, close above NCCL's count", "[collective_time]") {
  const auto empty_ring = [](int nodes, int gpus) {
    return time_of("ring-all-reduce", nodes, gpus, {}, cluster(nodes, gpus));
  };
  const auto nccl = [](int nodes, int gpus) {
    const int steps = 2 * (nodes * gpus - 1);
    const int between = 2 * (nodes - 1);
    return (steps - between) * kInside.latency + between * kBetween.latency;
  };
  CHECK(empty_ring(4, 4) == Approx(8 * kBetween.latency + 22 * kInside.latency).epsilon(1e-9));
  for (const auto& [nodes, gpus] : {std::pair{2, 2}, {2, 4}, {4, 4}, {4, 8}}) {
    CAPTURE(nodes, gpus);
    const double above = empty_ring(nodes, gpus) - nccl(nodes, gpus);
    CHECK(above > 0);
    CHECK(above <= 2 * (kBetween.latency - kInside.latency) * (1 + 1e-9));
  }
  for (const int nodes : {2, 3, 16, 64})
    CHECK(empty_ring(nodes, 1) == Approx(2 * (nodes - 1) * kBetween.latency).epsilon(1e-9));
}

namespace {

/// The same with several NICs a node, of which GPU i uses NIC i mod `nics`.
Topology with_nics(int nodes, int gpus, int nics) {
  Topology topology = cluster(nodes, gpus);
  const std::size_t first = topology.links.size();
  for (int nic = 0; nic < nodes * nics; ++nic)
    for (const char* way : {"out", "in"})
      topology.links.push_back({"nic" + std::to_string(nic) + way, {kBetween.bandwidth}});
  topology.route = [=](int from, int to, std::vector<std::uint32_t>& links) {
    const bool same = from / gpus == to / gpus;
    const auto link = [&](int rank, int way) {
      const int nic = rank / gpus * nics + rank % gpus % nics;
      const std::size_t number =
          same ? 2 * static_cast<std::size_t>(rank) : first + 2 * static_cast<std::size_t>(nic);
      links.push_back(static_cast<std::uint32_t>(number) + static_cast<std::uint32_t>(way));
    };
    link(from, 0);
    link(to, 1);
    return Seconds{same ? kInside.latency : kBetween.latency};
  };
  return topology;
}

}  // namespace

// n ranks, S bytes in each buffer: every NIC passes S / n / r bytes in each of 2(n-1) rounds,
// without a pause; the last of them has to arrive.
TEST_CASE("rail rings fill all NICs of a node", "[collective_time]") {
  for (const auto& [nodes, gpus] : {std::pair{2, 2}, {2, 8}, {4, 8}, {3, 4}, {8, 8}})
    for (int nics = 1; nics <= gpus; nics *= 2) {
      if (gpus % nics != 0) continue;
      const int n = nodes * gpus;
      const std::int64_t payload = std::int64_t{1'000'000} * n * gpus;
      const auto S = static_cast<double>(payload);
      const Topology topology = with_nics(nodes, gpus, nics);
      const double round = S / n / nics / kBetween.bandwidth;
      CAPTURE(nodes, gpus, nics);
      CHECK(time_of("rail-ring-all-reduce", nodes, gpus, {.payload = {payload}}, topology) ==
            Approx(2 * (n - 1) * round + kBetween.latency).epsilon(1e-9));
      CHECK(time_of("rail-ring-reduce-scatter", nodes, gpus, {.payload = {payload}}, topology) ==
            Approx((n - 1) * round + kBetween.latency).epsilon(1e-9));
      CHECK(time_of("rail-ring-all-gather", nodes, gpus, {.payload = {payload / n}}, topology) ==
            Approx((n - 1) * round + kBetween.latency).epsilon(1e-9));
      // One ring has one NIC of each node.
      CHECK(time_of("ring-all-reduce", nodes, gpus, {.payload = {payload}}, topology) ==
            Approx(2 * (n - 1) * S / n / kBetween.bandwidth + kBetween.latency).epsilon(1e-9));
    }
}

// A chunk's slowest walk: see the empty ring above. Each of the rings turns by itself, so that no
// GPU waits between nodes in every round.
TEST_CASE("empty rail rings take what an empty ring takes", "[collective_time]") {
  for (const auto& [nodes, gpus] : {std::pair{2, 2}, {2, 8}, {4, 4}, {4, 8}, {7, 3}}) {
    CAPTURE(nodes, gpus);
    const Topology topology = with_nics(nodes, gpus, gpus);
    for (const char* what : {"ring-all-reduce", "ring-reduce-scatter", "ring-all-gather"})
      CHECK(time_of("rail-" + std::string(what), nodes, gpus, {}, topology) ==
            Approx(time_of(what, nodes, gpus, {}, topology)).epsilon(1e-9));
    CHECK(time_of("rail-ring-all-reduce", nodes, gpus, {}, topology) ==
          Approx((gpus > 2 ? 2 * nodes : 2 * nodes - 1) * (kBetween.latency - kInside.latency) +
                 2 * (nodes * gpus - 1) * kInside.latency)
              .epsilon(1e-9));
  }
}

// 2^D nodes of two GPUs. Each tree of each channel has a quarter of the buffer, 2 MB: in 4 chunks
// or, of more than 4 levels, as many. Up: a round inside nodes, from each chain's second GPU, of
// one chunk; then m + D - 1 rounds between nodes, in which the busiest node passes two chunks of
// each channel, one in the last. Down is the same backwards.
TEST_CASE("NCCL's tree on nodes of two GPUs has a closed form", "[collective_time]") {
  const std::int64_t payload = 8'000'000;
  for (const int levels : {2, 3, 4})
    for (const int nics : {1, 2}) {
      CAPTURE(levels, nics);
      const int m = std::max(4, levels + 1);
      const double c = 2e6 / m;
      const double channels = 2.0 / nics;  // on a NIC
      const double up =
          kInside.latency + c / kInside.bandwidth +
          (m + levels - 1) * (kBetween.latency + 2 * channels * c / kBetween.bandwidth) -
          channels * c / kBetween.bandwidth;
      CHECK(time_of("nccl-tree", 1 << levels, 2, {.payload = {payload}},
                    with_nics(1 << levels, 2, nics)) == Approx(2 * up).epsilon(1e-9));
    }
}

// One node: no tree, chains of g - 1 edges. An empty buffer walks up and down.
TEST_CASE("NCCL's tree in one node is a chain", "[collective_time]") {
  CHECK(time_of("nccl-tree", 1, 8, {}, cluster(1, 8)) == Approx(14 * kInside.latency));
}
