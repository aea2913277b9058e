// Times of collectives against formulas and against the recurrence written out.
#include "sim/network/collective_time.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

using namespace gradcast;

namespace {

using namespace std::chrono_literals;

struct Wire {
  double bandwidth;  // bytes per second
  double latency;    // seconds
};

constexpr Wire kInside{12e9, 5e-6};
constexpr Wire kBetween{1.2e9, 26e-6};
constexpr CollectiveSoftware kNone{};

/// Nodes at one switch, a NIC each; every GPU has a link in its node, which NIC traffic does not
/// use. One node of one GPU each: a star.
Topology cluster(int nodes, int gpus, Wire inside = kInside, Wire between = kBetween) {
  Topology topology{.ranks = nodes * gpus, .nodes_alike = true, .gpus_per_node = gpus};
  for (int rank = 0; rank < nodes * gpus; ++rank) {
    topology.node_of.push_back(rank / gpus);
    for (const char* way : {"out", "in"})
      topology.links.push_back({"gpu" + std::to_string(rank) + way, {inside.bandwidth}});
  }
  for (int node = 0; node < nodes; ++node)
    for (const char* way : {"out", "in"})
      topology.links.push_back({"nic" + std::to_string(node) + way, {between.bandwidth}});
  topology.route = [=](int from, int to, std::vector<std::uint32_t>& links) {
    const bool same = from / gpus == to / gpus;
    const int first = same ? 0 : 2 * nodes * gpus;
    links.push_back(static_cast<std::uint32_t>(first + 2 * (same ? from : from / gpus)));
    links.push_back(static_cast<std::uint32_t>(first + 2 * (same ? to : to / gpus) + 1));
    return Seconds{same ? inside.latency : between.latency};
  };
  return topology;
}

double time_of(std::string_view name, int nodes, int gpus, const CollectiveLoad& load,
               const Topology& topology) {
  return collective_time(find_collective(name)->phases(even_layout(nodes, gpus), load), topology,
                         kNone)
      .count();
}

// ---- Formulas on n equal ranks, each with its own link of bandwidth B and latency a. ----

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

/// When the last rank has what rank 0 sends down a binomial tree. From level to level, a rank has
/// either just received, or sent to a child where there is one.
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
    {"double-binary-tree", double_tree},
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
        const bool divides =
            payload % unit == 0 && (collective->name != "double-binary-tree" || payload < 131'072);
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

/// The definition, written out: every round of every message.
Seconds plain_time(const std::vector<Phase>& phases, const Topology& topology,
                   const CollectiveSoftware& software, int sharing) {
  std::vector<double> begin(static_cast<std::size_t>(topology.ranks));
  for (const Phase& phase : phases) {
    std::vector<std::vector<std::uint32_t>> routes;
    std::vector<double> latencies, loads(topology.links.size());
    for (const Message& message : phase.messages) {
      routes.emplace_back();
      latencies.push_back(topology.route(message.from, message.to, routes.back()).count());
      for (const std::uint32_t link : routes.back())
        loads[link] += static_cast<double>(message.bytes.count);
    }
    for (int round = 0; round < phase.rounds; ++round) {
      if (phase.lockstep)
        std::fill(begin.begin(), begin.end(), *std::max_element(begin.begin(), begin.end()));
      std::vector<double> sent = begin, received = begin, adding(begin.size());
      for (std::size_t i = 0; i < phase.messages.size(); ++i) {
        const auto from = static_cast<std::size_t>(phase.messages[i].from);
        const auto to = static_cast<std::size_t>(phase.messages[i].to);
        double flow = 0;
        for (const std::uint32_t link : routes[i])
          flow = std::max(flow, sharing * loads[link] / topology.links[link].bandwidth.value);
        sent[from] = std::max(sent[from], begin[from] + flow);
        received[to] = std::max(received[to], begin[from] + flow + latencies[i]);
        if (round < phase.reducing_rounds && software.reduction_bandwidth.value > 0)
          adding[to] += phase.messages[i].bytes / software.reduction_bandwidth / Seconds{1};
      }
      for (std::size_t rank = 0; rank < begin.size(); ++rank)
        begin[rank] = std::max(sent[rank], received[rank] + adding[rank]);
    }
  }
  return software.per_collective + Seconds{*std::max_element(begin.begin(), begin.end())};
}

/// A cluster in which no two links or latencies are equal.
Topology irregular(int nodes, int gpus, std::mt19937& random) {
  Topology topology = cluster(nodes, gpus);
  topology.nodes_alike = false;
  std::uniform_real_distribution<double> factor(0.3, 1);
  for (TopologyLink& link : topology.links) link.bandwidth.value *= factor(random);
  std::vector<double> latencies;
  for (int i = 0; i < topology.ranks * topology.ranks; ++i) latencies.push_back(factor(random));
  topology.route = [route = topology.route, latencies, ranks = topology.ranks](
                       int from, int to, std::vector<std::uint32_t>& links) {
    return route(from, to, links) * latencies[static_cast<std::size_t>(from * ranks + to)];
  };
  return topology;
}

constexpr CollectiveSoftware kReducing{.per_collective = 7us, .reduction_bandwidth = {3e9}};

}  // namespace

TEST_CASE("shortcuts change nothing: every collective", "[collective_time]") {
  std::mt19937 random(20240607);
  for (const auto& [nodes, gpus] : {std::pair{7, 1}, {1, 6}, {2, 1}, {2, 3}, {3, 4}, {4, 8}})
    for (const std::int64_t payload :
         {std::int64_t{0}, std::int64_t{96 * 240}, std::int64_t{96 * 2'400'000}})
      for (const Topology& topology :
           {cluster(nodes, gpus), cluster(nodes, gpus, {2e9, 1e-3}, {1.9e9, 1e-6}),
            irregular(nodes, gpus, random)})
        for (const Collective* collective : all_collectives()) {
          CAPTURE(collective->name, nodes, gpus, payload, topology.nodes_alike);
          const std::vector<Phase> phases = collective->phases(
              even_layout(nodes, gpus), {.payload = {payload}, .elements = payload / 8 * 50 + 1});
          for (const CollectiveSoftware& software : {kNone, kReducing})
            for (const int sharing : {1, 3})
              CHECK(collective_time(phases, topology, software, sharing).count() ==
                    Approx(plain_time(phases, topology, software, sharing).count())
                        .epsilon(1e-9)
                        .margin(0));
        }
}

TEST_CASE("shortcuts change nothing: any edges, over many rounds", "[collective_time]") {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < 60; ++trial) {
    const int nodes = 1 + below(4), gpus = 2 + below(2);
    const int ranks = nodes * gpus;
    const bool alike = trial % 3 == 0;
    const Topology topology = alike ? cluster(nodes, gpus) : irregular(nodes, gpus, random);
    std::vector<Phase> phases;
    for (int p = 0; p < 3; ++p) {
      Phase phase{.rounds = 1 + below(700), .lockstep = below(4) == 0, .rotational = p != 1};
      phase.reducing_rounds = below(phase.rounds + 1);
      std::set<std::pair<int, int>> edges_taken;
      for (int i = 0, edges = 1 + below(2 * gpus); i < edges; ++i) {
        const int from = below(gpus), to = below(ranks);
        if (from == to || !edges_taken.emplace(from, to).second) continue;
        const Bytes bytes{below(100'000)};
        // The same from all nodes, or from some.
        for (int node = 0; node < nodes; ++node)
          if (phase.rotational || below(2) == 0)
            phase.messages.push_back(
                {(from + node * gpus) % ranks, (to + node * gpus) % ranks, bytes});
      }
      phases.push_back(std::move(phase));
    }
    CAPTURE(trial, nodes, gpus);
    CHECK(collective_time(phases, topology, kReducing).count() ==
          Approx(plain_time(phases, topology, kReducing, 1).count()).epsilon(1e-9));
  }
}

// A ring of 4 with 4 kB: 6 rounds of 1 kB, which takes 1 us at 1 GB/s, and 2 us of latency. In the
// first 3 each rank adds 1 kB at 2 GB/s: 0.5 us.
TEST_CASE("adding up takes its time in the rounds that reduce", "[collective_time]") {
  const Topology star = cluster(4, 1, kInside, {1e9, 2e-6});
  const std::vector<Phase> phases =
      find_collective("ring-all-reduce")->phases(even_layout(4, 1), {.payload = {4000}});
  CHECK(collective_time(phases, star, {.reduction_bandwidth = {2e9}}).count() ==
        Approx(3 * 3.5e-6 + 3 * 3e-6).epsilon(1e-12));
  CHECK(collective_time(phases, star, {.per_collective = 5us}).count() ==
        Approx(5e-6 + 6 * 3e-6).epsilon(1e-12));
}

// Twice as many bytes on each link, and latency as before: 6 * (2 + 2) us.
TEST_CASE("equal jobs share bandwidth, not latency", "[collective_time]") {
  const Topology star = cluster(4, 1, kInside, {1e9, 2e-6});
  const std::vector<Phase> phases =
      find_collective("ring-all-reduce")->phases(even_layout(4, 1), {.payload = {4000}});
  CHECK(collective_time(phases, star, {.per_collective = 5us}, 2).count() ==
        Approx(5e-6 + 6 * 4e-6).epsilon(1e-12));
}

// 4 nodes of 4: 30 rounds of 1/16 of 16 MB, all over the same NICs at 1.2 GB/s.
TEST_CASE("what flows on the busiest link is told apart from latency", "[collective_time]") {
  const std::vector<Phase> phases =
      find_collective("ring-all-reduce")->phases(even_layout(4, 4), {.payload = {16'000'000}});
  REQUIRE(phases.size() == 1);
  for (const bool alike : {true, false}) {
    Topology topology = cluster(4, 4);
    topology.nodes_alike = alike;
    const CollectiveCourse course = collective_course(phases, topology, kNone);
    CHECK(course.flowing.at(0).count() == Approx(30 * 1e6 / 1.2e9).epsilon(1e-12));
    CHECK(course.total > course.flowing.at(0));
  }
}

// 1 ms from rank 0 to 1, and in the next phase 1 ms from rank 2 to 3, which have not waited.
TEST_CASE("ranks go on to the next phase when they are done, not when all are",
          "[collective_time]") {
  const Topology star = cluster(4, 1, kInside, {1e9, 0});
  Phase first{.messages = {{0, 1, {1'000'000}}}};
  Phase second{.messages = {{2, 3, {1'000'000}}}};
  CHECK(collective_time({first, second}, star, kNone).count() == Approx(1e-3).epsilon(1e-12));
  second.lockstep = true;
  CHECK(collective_time({first, second}, star, kNone).count() == Approx(2e-3).epsilon(1e-12));
}

// Routes are asked for one node only, and rounds that repeat are not run: a second for this would
// be hundreds of times too long.
TEST_CASE("large rings are cheap", "[collective_time]") {
  for (const auto& [nodes, gpus] : {std::pair{4096, 1}, {512, 8}}) {
    int routes = 0;
    Topology topology = cluster(nodes, gpus);
    topology.route = [&routes, route = topology.route](int from, int to,
                                                       std::vector<std::uint32_t>& links) {
      ++routes;
      return route(from, to, links);
    };
    const double time =
        time_of("ring-all-reduce", nodes, gpus, {.payload = {100'000'000}}, topology);
    CHECK(time > 0);
    CHECK(routes <= 2 * gpus);
  }
}
