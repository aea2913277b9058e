// Intervals from links that nobody measured.
#include "sim/forecast/link_doubt.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/forecast/evaluation.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/forecast/software_spread.hpp"
#include "sim/inputs/collective_curve.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/network/library_rule.hpp"
#include "sim/network/measured_time.hpp"
#include "sim/network/nccl.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;

namespace {

constexpr double kReach = 2.015;  // 95 % of Student's t of 5 degrees

using Changes = std::vector<ClusterProperty>;

Scenario scenario_on(const std::string& cluster, const Changes& changed, bool with_stack = true) {
  static DataFiles files(GRADCAST_SOURCE_DIR);
  Request request;
  request.model = "gpt2-xl";
  request.cluster = cluster;
  request.changed = changed;
  request.compute = Seconds{0.5};  // else the GPU's time, which is derived, is the larger doubt
  request.today = true;
  request.stack_given = !with_stack;
  return make_scenario(with_defaults(request, files), files);
}

std::vector<LinkDoubt> doubts_on(const std::string& cluster, const Changes& changed = {}) {
  return link_doubts(scenario_on(cluster, changed), kReach);
}

/// One all-reduce by NCCL that was measured among so many GPUs of a node.
std::shared_ptr<const MeasuredCollectives> measured_on(const Cluster& described, int gpus,
                                                       Bytes bytes, Seconds taken) {
  auto measured = std::make_shared<MeasuredCollectives>();
  measured->curve = {
      {std::string(curve_name(Outcome::AllReduced)), 1, gpus, bytes, "nccl-2.27.5", taken}};
  measured->described = described;
  return measured;
}

}  // namespace

// 100 ms, 10 of them at 10 GB/s: 110. At half the rate 120, at twice 105.
TEST_CASE("a link's time is what half and twice its rate change", "[doubt]") {
  const auto at = [](double rate) {
    Cluster cluster;
    cluster.intra.bandwidth = {rate};
    return cluster;
  };
  const LinkDoubt doubt{"link", at(5e9), at(20e9), 2, 2};
  const LinkTime open = link_time(
      doubt, kReach, [](const Cluster& c) { return 0.1 + 1e8 / c.intra.bandwidth.value; },
      at(10e9));
  CHECK(open.seconds == Approx(0.01));
  CHECK(open.above == Approx(std::log(2) / kReach));
  CHECK(open.below == Approx(std::log(2) / kReach));
  // Compute hides 10 ms: twice the rate gains nothing, half of it takes 10 ms more.
  const LinkTime hidden = link_time(
      doubt, kReach,
      [](const Cluster& c) { return 0.1 + std::max(0.0, 1e8 / c.intra.bandwidth.value - 0.01); },
      at(10e9));
  CHECK(hidden.seconds == Approx(0.01));
  CHECK(hidden.above == Approx(std::log(2) / kReach));
  CHECK(hidden.below == 0);
  const auto bound_by_compute = [](const Cluster&) { return 0.1; };
  CHECK(link_time(doubt, kReach, bound_by_compute, at(10e9)).seconds == 0);
}

// 83 % to either side of 4.2 GB/s: e^(0.83 x 2.015) = 5.325, so from 0.789 to 22.4. A slot of
// PCIe 4.0 carries 24, and that of an RTX 5090 twice as much: 20 GB/s times e^(0.6 x 2.015) are 67.
TEST_CASE("a node without peer-to-peer has a doubtful link until somebody measures it", "[doubt]") {
  const std::vector<LinkDoubt> doubts = doubts_on("rtx-4090-8gpu");
  REQUIRE(doubts.size() == 1);
  CHECK(doubts[0].slow.intra.bandwidth.value == Approx(0.789e9).epsilon(0.002));
  CHECK(doubts[0].fast.intra.bandwidth.value == Approx(22.4e9).epsilon(0.002));
  CHECK(doubts[0].faster == Approx(5.325).epsilon(0.001));
  CHECK(doubts_on("rtx-4090-8gpu-epyc", {{"gpu", "rtx-5090"}, {"gpu_generation", "blackwell"}})[0]
            .fast.intra.bandwidth.value == Approx(48e9));
  CHECK(doubts_on("rtx-4090-8gpu", {{"intra_bandwidth", "10GBps"}}).empty());
  CHECK(doubts_on("dgx-a100").empty());
  CHECK(doubts_on("ib-100g", {{"gpus_per_node", "4"}}).size() == 1);
  CHECK(doubts_on("ib-100g", {{"gpus_per_node", "1"}, {"nic_share", "100%"}}).empty());
  const ClusterProperty disabled{"nccl_settings", "NCCL_P2P_DISABLE=1"};
  CHECK(doubts_on("dgx-a100", {disabled}).size() == 1);
  CHECK(doubts_on("dgx-1-v100", {disabled})[0].slow.intra.bandwidth.value ==
        Approx(0.789e9).epsilon(0.002));
  CHECK(doubts_on("dgx-a100", {disabled, {"intra_bandwidth", "13GBps"}}).empty());
  // A file's latencies are those of its fit; ten deviations would leave no link.
  Scenario vague = scenario_on("rtx-4090-8gpu", {});
  vague.cluster.deviations = {{"intra_bandwidth", 10}, {"intra_latency", 0.5}};
  REQUIRE(link_doubts(vague, kReach).size() == 1);
  CHECK(link_doubts(vague, kReach)[0].slower == Approx(std::exp(kReach)));
  Scenario learned = scenario_on("rtx-4090-8gpu", {});
  Stack own = *learned.stack;
  own.factor = 1.1;
  learned.stack = std::make_shared<const Stack>(own);
  CHECK(link_doubts(learned, kReach).empty());
  own.learned_on = {"ours", "rtx-4090-8gpu"};
  learned.stack = std::make_shared<const Stack>(own);
  CHECK(link_doubts(learned, kReach).empty());
  own.learned_on = {"ours"};
  learned.stack = std::make_shared<const Stack>(own);
  CHECK(link_doubts(learned, kReach).size() == 1);
}

// Three runs that wait for 10 GbE look the same whether GPUs exchange 1 or 24 GB/s.
TEST_CASE("learned runs settle the links that they show, and no others", "[doubt]") {
  const auto doubts = [](std::vector<std::string> shown, const Changes& changes) {
    Scenario learned = scenario_on("10gbe", changes);
    learned.cluster.deviations = {{"intra_bandwidth", 0.5}};
    Stack own = *learned.stack;
    own.factor = 1.1;
    own.learned_on = {"10gbe"};
    own.shown_links = std::move(shown);
    learned.stack = std::make_shared<const Stack>(own);
    std::vector<std::string> names;
    for (const LinkDoubt& doubt : link_doubts(learned, kReach)) names.push_back(doubt.name);
    return names;
  };
  const Changes two{{"nodes", "2"}, {"gpus_per_node", "2"}};
  const std::string inside = "link of 10gbe: intra_bandwidth";
  const std::string sockets = "link of 10gbe: sockets";
  const Scenario as_learned = scenario_on("10gbe", two);
  const std::string its_inside = shown_as(inside, as_learned);
  const std::string its_sockets = shown_as(sockets, as_learned);
  CHECK(its_sockets == sockets + " at 1.18GBps");  // 9.43 Gb/s
  CHECK(doubts({}, two) == std::vector{inside, sockets});
  CHECK(doubts({its_sockets}, two) == std::vector{inside});
  CHECK(doubts({its_inside}, two) == std::vector{sockets});
  CHECK(doubts({its_inside, its_sockets}, two).empty());
  // Another NIC is one that no run had, and so are another GPU's links.
  Changes faster = two;
  faster.push_back({"nic_bandwidth", "100Gbps"});
  CHECK(doubts({its_inside, its_sockets}, faster) == std::vector{sockets});
}

// A host of 10 Gb/s or less reaches it, and NICs of clouds may be capped: between 10 and 25 Gb/s
// the slow end goes from one to the other. A GPU alone reaches 25 Gb/s of any NIC.
TEST_CASE("what is not known of a NIC grows with its rate, without a cliff", "[doubt]") {
  const auto slower = [](const std::string& cluster, const std::string& rate) {
    const std::vector<LinkDoubt> doubts =
        doubts_on(cluster, {{"nodes", "2"}, {"gpus_per_node", "1"}, {"nic_bandwidth", rate}});
    return doubts.empty() ? 1 : doubts[0].slower;
  };
  CHECK(slower("25gbe", "10.01Gbps") == Approx(slower("25gbe", "10Gbps")).epsilon(0.01));
  CHECK(slower("25gbe", "16Gbps") > 1.2 * slower("25gbe", "10Gbps"));
  CHECK(slower("25gbe", "25Gbps") > 1.2 * slower("25gbe", "16Gbps"));
  CHECK(slower("ib-100g", "25Gbps") == 1);
  CHECK(slower("ib-100g", "25.1Gbps") == Approx(25.1 / 25));
  CHECK(slower("ib-100g", "50Gbps") == Approx(slower("ib-100g", "100Gbps") / 2));
  CHECK(slower("ib-100g", "400Gbps") == Approx(4));
}

// From 20 GB/s on links count as NVLink, whose LL128 a machine without any never takes.
TEST_CASE("NCCL chooses at a link's ends what it chooses on the cluster as it is", "[doubt]") {
  const Scenario scenario = scenario_on("rtx-4090-8gpu", {{"nodes", "2"}});
  const auto way_on = [&](const Cluster& cluster) {
    const NcclWay way =
        nccl_way(cluster, *scenario.nccl, even_layout(2, 8), Outcome::AllReduced, Bytes{1 << 20});
    return std::pair(way.estimate.algorithm, way.protocol);
  };
  const LinkDoubt doubt = link_doubts(scenario, kReach)[0];
  CHECK(way_on(doubt.slow) == way_on(scenario.cluster));
  CHECK(way_on(doubt.fast) == way_on(scenario.cluster));
  Cluster nvlink = doubt.fast;
  nvlink.chosen_on = nullptr;
  CHECK(way_on(nvlink) != way_on(scenario.cluster));
}

// Sockets carry 5 to 143 Gb/s at most, 17 or more on a NIC of 10 Gb/s. They reach 26.8 of 94.15
// Gb/s, and at the ends 1 / sqrt(1/5^2 + 1/94.15^2) = 4.99 and 78.6. Of 9.41 they reach 8.92,
// and 8.23 to 9.39.
TEST_CASE("what sockets reach of a fast NIC is not known well, of a slow one it is", "[doubt]") {
  const auto ends = [](const std::string& cluster) {
    const std::vector<LinkDoubt> doubts = doubts_on(cluster, {{"nodes", "4"}});
    REQUIRE(doubts.size() == 1);
    // The stack's share of the NIC is on both.
    const Scenario scenario = scenario_on(cluster, {{"nodes", "4"}});
    const double taken = socket_rate(scenario.cluster.nic.bandwidth).value;
    return std::pair(taken / doubts[0].slower, taken * doubts[0].faster);
  };
  CHECK(ends("100gbe").first * 8 == Approx(4.99e9).epsilon(0.05));
  CHECK(ends("100gbe").second * 8 == Approx(78.6e9).epsilon(0.07));
  CHECK(ends("10gbe").first * 8 == Approx(8.23e9).epsilon(0.05));
  CHECK(ends("10gbe").second * 8 == Approx(9.39e9).epsilon(0.05));
  CHECK(doubts_on("100gbe", {{"nodes", "1"}}).empty());
  CHECK(doubts_on("100gbe", {{"nodes", "4"}, {"nic_share", "40%"}}).empty());
  CHECK(doubts_on("dgx-h100", {{"nodes", "4"}}).empty());
}

// The stack's share of NICs is of InfiniBand. On a NIC of 10 Gb/s sockets have their own, which is
// known better; where nobody sends by sockets the share stays in doubt.
TEST_CASE("what sockets reach is counted once", "[doubt]") {
  const auto has_share = [](const Scenario& scenario) {
    const SoftwareSpread spread = *evaluate(scenario, *find_engine("analytic")).doubt.spread;
    return std::ranges::any_of(spread.terms,
                               [](const SpreadTerm& term) { return term.name == "nic_share"; });
  };
  CHECK_FALSE(has_share(scenario_on("10gbe", {{"nodes", "4"}})));
  CHECK(scenario_on("10gbe", {{"nodes", "4"}}).cluster.nic_share == 1);
  CHECK(has_share(scenario_on("10gbe", {{"nodes", "4"}, {"network_kind", "roce"}})));
}

// Two ranks of a host reached 1.16 GB/s by Gloo over TCP, 82 us one way (proving-ground.csv). A
// link of 3 GB/s may be Gloo's own, as somebody measured it.
TEST_CASE("Gloo sends through the host, whatever joins its GPUs", "[doubt]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto inside = [&](const std::string& cluster, const std::vector<ClusterProperty>& changed) {
    Request request;
    request.model = "resnet-50";
    request.cluster = cluster;
    request.changed = changed;
    request.today = true;
    request.stack = "ddp-gloo";
    request.stack_given = true;
    return make_scenario(with_defaults(request, files), files).cluster.intra;
  };
  const auto rate = [&](const std::string& cluster, const std::vector<ClusterProperty>& changed) {
    return inside(cluster, changed).bandwidth.value / 1e9;
  };
  CHECK(rate("dgx-a100", {}) == Approx(1.16));
  CHECK(inside("dgx-a100", {}).latency.count() == Approx(82e-6));
  CHECK(inside("dgx-a100", {{"intra_latency", "5us"}}).latency.count() == Approx(5e-6));
  CHECK(rate("10gbe", {{"gpus_per_node", "4"}}) == Approx(1.16));
  CHECK(rate("dgx-a100", {{"intra_bandwidth", "3GBps"}}) == Approx(3));
  const TemporaryFolder folder;
  const auto file = [&](const char* name, const std::string& own) {
    return folder.write(name,
                        "property,value,source\nnodes,1,x\ngpus_per_node,4,x\ngpu,a100-80gb,x\n"
                        "nic_bandwidth,10Gbps,x\nnic_latency,20us,x\nintra_latency,20us,x\n" +
                            own);
  };
  CHECK(rate(file("slow.csv", "intra_bandwidth,3GBps,measured by Gloo\n"), {}) == Approx(3));
  CHECK(rate(file("fast.csv", "intra_bandwidth,230GBps,x\n"), {}) == Approx(1.16));
}

// Five logs of two nodes with one GPU each reached .21 to .64 of NICs of 100 to 400 Gb/s.
TEST_CASE("a GPU alone on its node may reach a quarter of a fast NIC", "[doubt]") {
  const Changes alone{{"nodes", "2"}, {"gpus_per_node", "1"}};
  const std::vector<LinkDoubt> doubts = doubts_on("dgx-h100", alone);
  REQUIRE(doubts.size() == 1);
  CHECK(doubts[0].slower == Approx(4));
  CHECK(doubts[0].faster == Approx(1));
  CHECK(doubts[0].slow.nic.bandwidth.value == Approx(doubts[0].fast.nic.bandwidth.value / 4));
  CHECK(doubts_on("dgx-h100", {{"nodes", "2"}, {"gpus_per_node", "2"}}).empty());
  CHECK(doubts_on("dgx-h100", {{"nodes", "1"}, {"gpus_per_node", "1"}}).empty());
  CHECK(doubts_on("polaris", alone).empty());  // whose file has a nic_share
  for (const ClusterProperty& known : Changes{{"nic_share", "60%"}, {"nic_bandwidth", "25Gbps"}}) {
    Changes changed = alone;
    changed.push_back(known);
    CHECK(doubts_on("dgx-h100", changed).empty());
  }
}

TEST_CASE("a run says what a link is taken to reach, where it binds the run", "[doubt]") {
  const auto words = [](const Scenario& scenario) {
    const Evaluation its = evaluate(scenario, *find_engine("analytic"));
    return link_words(scenario, its.doubt.spread.value());
  };
  const auto on = [&](const std::string& cluster, const std::string& nodes) {
    return words(scenario_on(cluster, {{"nodes", nodes}, {"gpus_per_node", "4"}}));
  };
  CHECK(on("25gbe", "1") ==
        "; GPUs of a node at 6.7GBps, not measured: the interval has 1.1GBps to 24GBps "
        "(--intra-bandwidth says yours)");
  CHECK_THAT(on("25gbe", "8"), Catch::Contains("; sockets at "));
  CHECK_THAT(on("1gbe", "8"), !Catch::Contains("GPUs of a node"));
  CHECK_THAT(on("ib-100g", "8"), Catch::Contains("GPUs of a node"));
  Scenario alone = scenario_on("100gbe", {{"nodes", "4"}}, false);
  CHECK_THAT(words(alone), Catch::Contains("; sockets at 27Gbps, not measured: the interval has "
                                           "5Gbps to 79Gbps (--nic-share says yours)"));
  alone.trace = scaled_to(alone.trace, Seconds{1000}, 1);  // which hides the network
  CHECK(words(alone).empty());
}

TEST_CASE("measured times end the doubt of runs that take them", "[doubt]") {
  const auto doubts = [](const std::string& library, Outcome outcome = Outcome::AllReduced) {
    Scenario scenario = scenario_on("rtx-4090-8gpu", {});
    scenario.cluster.measured = measured_on(scenario.cluster, 8, Bytes{1 << 20}, Seconds{1e-3});
    scenario.library = find_library_rule(library);
    if (scenario.library != nullptr) scenario.nccl = std::nullopt;
    if (outcome != Outcome::AllReduced) scenario.sharding.kind = Sharding::Fsdp;
    return link_doubts(scenario, kReach).size();
  };
  CHECK(doubts("") == 0);
  CHECK(doubts("gloo") == 1);
  CHECK(doubts("", Outcome::AllGathered) == 1);
}

// Two of Mahti's four A100 have a third of the links, and half of the NICs. Times of two GPUs were
// measured on just these.
TEST_CASE("times of fewer GPUs were measured on their links", "[doubt]") {
  Scenario scenario = scenario_on("mahti", {{"gpus_per_node", "2"}, {"nodes", "1"}});
  scenario.cluster.deviations.push_back({"intra_bandwidth", .2});
  CHECK(link_doubts(scenario, kReach).size() == 1);
  const Bytes size{1 << 30};
  scenario.cluster.measured =
      measured_on(scenario_on("mahti", {}).cluster, 2, size, Seconds{15e-3});
  CHECK(link_doubts(scenario, kReach).empty());
  const Seconds modelled =
      gradcast::modelled(scenario.cluster, scenario.nccl, nullptr, Outcome::AllReduced, size).time;
  const double stretch = MeasuredTimes(scenario.cluster, scenario.nccl, nullptr)
                             .stretch(layout_of(scenario.cluster), Outcome::AllReduced, size);
  CHECK(stretch * modelled.count() == Approx(15e-3).epsilon(0.01));
}

// Times that were measured say nothing of links that were not there.
TEST_CASE("measured times leave the doubt of a run on other links", "[doubt]") {
  Scenario scenario = scenario_on("rtx-4090-8gpu", {});
  scenario.cluster.measured = measured_on(scenario.cluster, 8, Bytes{1 << 20}, Seconds{1e-3});
  CHECK(link_doubts(scenario, kReach).empty());
  scenario.cluster.nic.bandwidth.value *= 2;  // one node sends nothing there
  CHECK(link_doubts(scenario, kReach).empty());
  scenario.cluster.intra.bandwidth.value *= 2;
  CHECK(link_doubts(scenario, kReach).size() == 1);
}

TEST_CASE("only the stack of collectives over TCP has the errors of sockets", "[doubt]") {
  Scenario scenario = scenario_on("100gbe", {{"nodes", "4"}});
  scenario.payload = Bytes{64 << 20};
  CHECK(link_doubts(scenario, kReach).size() == 1);
  Stack tcp = *scenario.stack;
  tcp.name = "stack-nccl-tcp";
  scenario.stack = std::make_shared<const Stack>(tcp);
  CHECK(link_doubts(scenario, kReach).empty());
}

// 100 ms that err by 10 ms, and a dense run of 105. A slow link makes the dense run 40 ms longer at
// the end of its interval, and a fast one nothing shorter: half of its draws are longer, none is
// shorter. Alone that would raise the low end of the speedup.
TEST_CASE("a doubtful link makes nothing surer", "[doubt]") {
  SoftwareSpread sparse;
  sparse.physics = sparse.forecast = 0.1;
  sparse.scatter = 0.1;
  SoftwareSpread dense = sparse;
  dense.physics = dense.forecast = 0.105;
  SoftwareSpread doubted = dense;
  SpreadTerm link{"link of 25gbe: sockets", 0.01, std::log(5) / kReach};
  link.forecast = false;
  link.of_physics = true;
  doubted.terms = {link};
  CHECK(interval_of(doubted).low == interval_of(dense).low);
  CHECK(interval_of(doubted).high > 1.1 * interval_of(dense).high);
  CHECK(speedup_interval(sparse, doubted).low == speedup_interval(sparse, dense).low);
  CHECK(speedup_interval(sparse, doubted).high > speedup_interval(sparse, dense).high);
  // Nor does a second one beside it: the interval holds that of each alone.
  SpreadTerm inside = link;
  inside.name = "link of 25gbe: intra_bandwidth";
  SoftwareSpread by_inside = dense;
  by_inside.terms = {inside};
  SoftwareSpread by_both = dense;
  by_both.terms = {link, inside};
  for (const SoftwareSpread& each : {dense, doubted, by_inside}) {
    CHECK(speedup_interval(sparse, by_both).low <= speedup_interval(sparse, each).low);
    CHECK(speedup_interval(sparse, by_both).high >= speedup_interval(sparse, each).high);
  }
}

// 30 GB/s are more than a slot of PCIe 4.0 carries. The fast end is then that value.
TEST_CASE("the range of a link holds the value that is taken", "[doubt]") {
  Scenario scenario = scenario_on("rtx-4090-8gpu", {});
  for (const double taken : {24e9, 30e9}) {
    scenario.cluster.intra.bandwidth = {taken};
    const std::vector<LinkDoubt> doubts = link_doubts(scenario, kReach);
    REQUIRE(doubts.size() == 1);
    CHECK(doubts[0].fast.intra.bandwidth.value == taken);
    const LinkTime time = link_time(
        doubts[0], kReach, [](const Cluster& c) { return 1e8 / c.intra.bandwidth.value; },
        scenario.cluster);
    CHECK(time.seconds == Approx(1e8 / taken));
    CHECK(time.below == 0);
  }
}

TEST_CASE("an interval holds what a doubtful link's ends would make of a run", "[doubt]") {
  const Engine& analytic = *find_engine("analytic");
  const Evaluation doubted = evaluate(scenario_on("rtx-4090-8gpu", {}), analytic);
  const Evaluation sure =
      evaluate(scenario_on("rtx-4090-8gpu", {{"intra_bandwidth", "4.2GBps"}}), analytic);
  CHECK(doubted.result.iteration == sure.result.iteration);
  CHECK(doubted.interval->low < sure.interval->low);
  CHECK(doubted.interval->high > sure.interval->high);
  const Evaluation slow =
      evaluate(scenario_on("rtx-4090-8gpu", {{"intra_bandwidth", "2GBps"}}), analytic);
  CHECK(slow.result.iteration > sure.interval->high);
  CHECK(slow.result.iteration < doubted.interval->high);
}
