// The value of latency. Layer by layer a ring all-reduce of n ranks has 2 (n - 1) rounds for each
// of ResNet-50's 161 tensors. Most of these are smaller than the bytes that pass in a latency.
#include <catch2/catch.hpp>
#include <iostream>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/forecast/request.hpp"
#include "sim/forecast/sensitivity.hpp"

using namespace gradcast;

namespace {

Scenario layer_by_layer(int nodes, bool overlap) {
  Request request;
  request.model = "resnet-50";
  request.fusion = parse_fusion("layer");
  request.overlap = overlap;
  request.changed = {{"nodes", std::to_string(nodes)}, {"gpus_per_node", "4"}};
  DataFiles files(GRADCAST_SOURCE_DIR);
  return make_scenario(request, files);
}

double percent(Seconds changed, Seconds as_is) { return 100 * (changed / as_is - 1); }

/// Four rounds take a message once around a node and out of it: 26.6 us over the NIC and three
/// times 5.7 us inside, 10.925 us a round. If messages take longer than that, less of the latency
/// shows.
Seconds latencies_of(int ranks) { return 161 * 2 * (ranks - 1) * Seconds{10.925e-6}; }

void check_with_exact(const Scenario& scenario, const LatencySensitivity& of) {
  const Engine& exact = *find_engine("flow-exact");
  const Plan plan = make_plan(scenario);
  for (const auto& [factor, expected] : {std::pair{0.5, of.half}, {2.0, of.twice}}) {
    const Cluster changed = with_latencies(scenario.cluster, factor);
    CHECK(summarize(plan, exact.run(plan, changed)).iteration / expected ==
          Approx(1).epsilon(1e-3));
  }
}

}  // namespace

TEST_CASE("ring latency of a layer-wise iteration grows with the ranks", "[latency]") {
  TextTable table{{"overlap", "ranks", "half s", "as is s", "twice s", "half %", "twice %"}, {}};
  for (const bool overlap : {false, true}) {
    double before = 0;
    for (const int nodes : {2, 4, 8}) {
      const Scenario scenario = layer_by_layer(nodes, overlap);
      const LatencySensitivity of = latency_sensitivity(scenario, make_plan(scenario)).value();
      const double half = percent(of.half, of.as_is);
      const double twice = percent(of.twice, of.as_is);
      table.rows.push_back({overlap ? "yes" : "no", std::to_string(4 * nodes),
                            fixed(of.half.count(), 4), fixed(of.as_is.count(), 4),
                            fixed(of.twice.count(), 4), with_sign(half, 2), with_sign(twice, 2)});
      CAPTURE(overlap, nodes, half, twice);
      CHECK(half < 0);
      CHECK(twice > before);
      before = twice;
      CHECK(of.twice - of.as_is < latencies_of(4 * nodes));
      if (!overlap) {
        CHECK(of.twice - of.as_is > 0.5 * latencies_of(4 * nodes));
        CHECK(of.as_is - of.half > 0.25 * latencies_of(4 * nodes));
      }
      if (nodes < 8) check_with_exact(scenario, of);
    }
  }
  std::cout << "layer-wise ResNet-50, dense, 10gbe-4x4, latencies halved and doubled:\n"
            << to_text(table) << "\n";
}

// 128 images take 0.27 s backward. Eight or sixteen ranks send all in that time, whatever the
// latency; 32 do, but not with twice as much.
TEST_CASE("overlap hides latency until the network is busy all the time", "[latency]") {
  const auto twice = [](int nodes) {
    const Scenario scenario = layer_by_layer(nodes, true);
    const LatencySensitivity of = latency_sensitivity(scenario, make_plan(scenario)).value();
    return percent(of.twice, of.as_is);
  };
  CHECK(twice(2) < 0.1);
  CHECK(twice(4) < 0.1);
  CHECK(twice(8) > 10);
}
