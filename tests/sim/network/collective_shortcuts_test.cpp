// Times are found by shortcuts: they are those of every round of every message, and found at once.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/sim/network/one_switch.hpp"

using namespace gradcast;
using namespace gradcast::one_switch;
using namespace std::chrono_literals;

namespace {

/// The definition, written out: every round of every message.
Seconds plain_time(const std::vector<Phase>& phases, const Topology& topology,
                   const CollectiveSoftware& software, int sharing) {
  const auto ranks = static_cast<std::size_t>(topology.ranks);
  std::vector<double> ready(ranks);
  for (const Phase& phase : phases) {
    // Each channel of a rank goes on by itself.
    std::vector<double> begin;
    for (int channel = 0; channel < phase.channels; ++channel)
      begin.insert(begin.end(), ready.begin(), ready.end());
    const auto strand = [&](int rank, int channel) {
      return static_cast<std::size_t>(channel) * ranks + static_cast<std::size_t>(rank);
    };
    std::vector<std::vector<std::uint32_t>> routes;
    std::vector<double> latencies, loads(topology.links.size());
    for (const Message& message : phase.messages) {
      routes.emplace_back();
      latencies.push_back(topology.route(message.from, message.to, routes.back()).count());
      for (const std::uint32_t link : routes.back())
        loads[link] += static_cast<double>(message.bytes.count);
    }
    std::set<std::size_t> receives;  // channels of ranks
    for (const Message& message : phase.messages)
      receives.insert(strand(message.to, message.channel));
    const auto receiving = [&](int rank) {
      int count = 0;
      for (int channel = 0; channel < phase.channels; ++channel)
        count += receives.contains(strand(rank, channel)) ? 1 : 0;
      return count;
    };
    for (int round = 0; round < phase.rounds; ++round) {
      if (phase.lockstep)
        std::fill(begin.begin(), begin.end(), *std::max_element(begin.begin(), begin.end()));
      std::vector<double> sent = begin, received = begin, adding(begin.size());
      for (std::size_t i = 0; i < phase.messages.size(); ++i) {
        const std::size_t from = strand(phase.messages[i].from, phase.messages[i].channel);
        const std::size_t to = strand(phase.messages[i].to, phase.messages[i].channel);
        double flow = 0;
        for (const std::uint32_t link : routes[i])
          flow = std::max(flow, sharing * loads[link] / topology.links[link].bandwidth.value);
        const double start = phase.rendezvous ? std::max(begin[from], begin[to]) : begin[from];
        sent[from] = std::max(sent[from], start + flow);
        received[to] = std::max(received[to], start + flow + latencies[i]);
        if (round < phase.reducing_rounds && software.reduction_bandwidth.value > 0)
          adding[to] += phase.messages[i].bytes * receiving(phase.messages[i].to) /
                        software.reduction_bandwidth / Seconds{1};
      }
      for (std::size_t rank = 0; rank < begin.size(); ++rank)
        begin[rank] = std::max(sent[rank], received[rank] + adding[rank]);
    }
    for (std::size_t i = 0; i < begin.size(); ++i)
      ready[i % ranks] = i < ranks ? begin[i] : std::max(ready[i % ranks], begin[i]);
  }
  return software.per_collective + Seconds{*std::max_element(ready.begin(), ready.end())};
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
      Phase phase{.rounds = 1 + below(700),
                  .channels = 1 + below(3),
                  .lockstep = below(4) == 0,
                  .rendezvous = below(4) == 0,
                  .rotational = p != 1};
      phase.reducing_rounds = below(phase.rounds + 1);
      std::set<std::tuple<int, int, int>> edges_taken;
      for (int i = 0, edges = 1 + below(2 * gpus); i < edges; ++i) {
        const int from = below(gpus), to = below(ranks);
        const int channel = below(phase.channels);
        if (from == to || !edges_taken.emplace(from, to, channel).second) continue;
        const Bytes bytes{below(100'000)};
        // The same from all nodes, or from some.
        for (int node = 0; node < nodes; ++node)
          if (phase.rotational || below(2) == 0)
            phase.messages.push_back(
                {(from + node * gpus) % ranks, (to + node * gpus) % ranks, bytes, channel});
      }
      phases.push_back(std::move(phase));
    }
    CAPTURE(trial, nodes, gpus);
    CHECK(collective_time(phases, topology, kReducing).count() ==
          Approx(plain_time(phases, topology, kReducing, 1).count()).epsilon(1e-9));
  }
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
