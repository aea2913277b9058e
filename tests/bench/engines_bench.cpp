// Costs of the engines, and the distance of the fast one from the exact one: all in one run on one
// core, beside its limits. By hand: build/bench_engines; ctest runs --smoke, the small part.
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "sim/engine/iteration_result.hpp"
#include "sim/engine/replicas.hpp"
#include "sim/forecast/request.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/plan/plan_summary.hpp"
#include "tests/bench/measure.hpp"
#include "tests/smpi_replay.hpp"

using namespace gradcast;
using bench::Cost;
using bench::measure;

namespace {

/// One iteration of ResNet-50, its 161 tensors all-reduced one by one under backward, around a ring
/// if nothing else is said, on nodes like those of 10gbe-4x4.
Scenario resnet(int nodes, int gpus_per_node, const std::string& collective = "") {
  Request request;
  request.model = "resnet-50";
  request.fusion = parse_fusion("layer");
  request.overlap = true;
  request.collective = collective;
  request.changed = {{"nodes", std::to_string(nodes)},
                     {"gpus_per_node", std::to_string(gpus_per_node)}};
  DataFiles files(GRADCAST_SOURCE_DIR);
  return make_scenario(request, files);
}

/// Planning it, running it, summing it up.
Cost cost_of(const Scenario& scenario, const char* engine) {
  return measure([&] { return run(scenario, *find_engine(engine)).iteration.count(); });
}

std::string shape_of(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  return std::to_string(cluster.nodes) + " x " + std::to_string(cluster.gpus_per_node);
}

/// The same 161 collectives of as many bytes and nothing else, by SimGrid's MPI.
Cost cost_of_smpi(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  std::vector<std::string> calls;
  for (const PlannedBucket& bucket : make_plan(scenario).buckets)
    calls.push_back("allreduce " + std::to_string(bucket.elements) + " 0 5");
  const smpi::Replay replay(
      {cluster.ranks(), 8 * cluster.nic.bandwidth.value, cluster.nic.latency.count()}, calls);
  return measure([&] { return replay.seconds("allreduce:lr"); });
}

void exact_against_smpi(bench::Report& report, int ranks, double most) {
  const Scenario scenario = resnet(ranks, 1);
  const std::string where = ", " + shape_of(scenario);
  // In turns, the least of three each: other work of the machine only ever adds time.
  constexpr int kTurns = 3;
  double exact = INFINITY;
  double replayed = INFINITY;
  for (int turn = 0; turn < kTurns; ++turn) {
    exact = std::min(exact, cost_of(scenario, "flow-exact").cpu_seconds);
    if (smpi::is_here()) replayed = std::min(replayed, cost_of_smpi(scenario).cpu_seconds);
  }
  report.note("exact" + where, exact, "s");
  const std::string what = "exact / smpirun -replay" + where;
  if (!smpi::is_here()) return report.skipped(what, "no smpirun (Debian: libsimgrid-dev)");
  report.note("smpirun -replay" + where, replayed, "s");
  report.at_most(what, exact / replayed, most, "");
}

/// Microseconds per message: as much on many ranks as on few.
void message_speed(bench::Report& report, const Scenario& scenario, double most,
                   const std::string& how = "") {
  const Plan plan = make_plan(scenario);
  const auto messages = static_cast<double>(messages_of(plan, scenario.cluster));
  const Engine& exact = *find_engine("flow-exact");
  const Cost cost = measure([&] {
    return summarize(plan, exact.run(plan, scenario.cluster, scenario.world)).iteration.count();
  });
  report.at_most("a message, exact, " + shape_of(scenario) + how, 1e6 * cost.cpu_seconds / messages,
                 most, "us");
}

Scenario merged(Scenario scenario) {
  scenario.fusion = parse_fusion("merged");
  return scenario;
}

void fluid_speed(bench::Report& report, const Scenario& scenario, double most_seconds,
                 const std::string& how = "") {
  const Cost fluid = cost_of(scenario, "flow-fluid");
  const std::string what = "fluid, " + shape_of(scenario) + how;
  report.at_most(what, fluid.cpu_seconds, most_seconds, "s");
  report.at_most(what + ", memory", fluid.peak_megabytes, 300, "MB");
}

/// The program as a user runs it: also its start, the forecast's sensitivity and the answer.
void program_speed(bench::Report& report, int ranks, double most_seconds) {
  const Cost whole = measure([&] {
    const Ran ran = run_process({GRADCAST_PROGRAM, "simulate", "--model", "resnet-50", "--fusion",
                                 "layer", "--overlap", "yes", "--nodes", std::to_string(ranks),
                                 "--gpus-per-node", "1", "--engine", "flow-fluid"});
    return ran.exit_code == 0 ? 0 : NAN;
  });
  if (whole.answer != 0) throw std::runtime_error("gradcast simulate failed");
  report.at_most("gradcast simulate, fluid, " + std::to_string(ranks) + " x 1", whole.cpu_seconds,
                 most_seconds, "s");
}

// ---- fluid against exact ----

struct Chance {
  const char* name;
  Noise noise;
};
constexpr Chance kChances[] = {
    {"", {}}, {", compute +-5 %", {.compute = 0.05}}, {", network +-5 %", {.network = 0.05}}};

/// The error of the iteration, in percent.
double fluid_error(const Scenario& scenario) {
  const double exact = cost_of(scenario, "flow-exact").answer;
  return 100 * std::abs(cost_of(scenario, "flow-fluid").answer / exact - 1);
}

/// `replicas`: so many draws, of which the worst counts.
void fluid_errors(bench::Report& report, Scenario scenario, int network_streams, int replicas,
                  const std::string& how = "") {
  scenario.network_streams = network_streams;
  for (const Chance& chance : kChances) {
    double worst = 0;
    for (int replica = 0; replica < (chance.noise.any() ? replicas : 1); ++replica)
      worst = std::max(worst, fluid_error(replica_of(scenario, chance.noise, replica)));
    report.at_most("fluid's error, " + shape_of(scenario) + how + ", " +
                       std::to_string(network_streams) + " at a time" + chance.name,
                   worst, network_streams == 1 ? 0.1 : 5, "%");
  }
}

/// The same where the network is what an iteration waits for: on 10GbE most that overlaps hides
/// under backward.
Scenario on_slow_network(Scenario scenario) {
  set_property(scenario.cluster, "nic_bandwidth", "1Gbps");
  return scenario;
}

// ---- how it grows ----

/// The cost per rank and tensor must not grow with the ranks, nor with the tensors.
void growth(bench::Report& report, const char* engine, const std::string& collective) {
  std::vector<double>
      each[2];  // nanoseconds, by ranks: of all tensors, and of half as many buckets
  for (const int ranks : {512, 1024, 2048, 4096}) {
    Scenario scenario = resnet(ranks, 1, collective);
    const std::size_t all = scenario.model->tensors.size();
    for (const bool halved : {false, true}) {
      if (halved) scenario.fusion = {Fusion::Kind::Size, Bytes{1}};
      const auto buckets = [&] { return make_buckets(scenario.model, scenario.fusion).size(); };
      while (halved && buckets() > all / 2) scenario.fusion.size = scenario.fusion.size * 2;
      each[halved].push_back(1e9 * cost_of(scenario, engine).cpu_seconds / ranks /
                             static_cast<double>(buckets()));
      report.note(std::string(engine) + ", " + collective + ", " + std::to_string(ranks) +
                      " ranks, " + std::to_string(buckets()) + " tensors: each",
                  each[halved].back(), "ns");
    }
  }
  const std::string what = std::string(engine) + ", " + collective + ", each, ";
  const auto sum = [](const std::vector<double>& of) {
    return std::accumulate(of.begin(), of.end(), 0.0);
  };
  // Up to twice: deeper trees, a cache that has become too small, others on the machine.
  report.at_most(what + "most ranks / fewest", each[0].back() / each[0].front(), 2, "");
  report.at_most(what + "all tensors / halved", sum(each[0]) / sum(each[1]), 2, "");
}

void stay_on_one_core() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
}

void run_small(bench::Report& report) {
  exact_against_smpi(report, 16, 1);  // too short to be sure of more
  message_speed(report, merged(resnet(64, 1)), 2);
  fluid_speed(report, resnet(256, 1), 0.15);
  fluid_errors(report, resnet(8, 1), 1, 1);
  fluid_errors(report, on_slow_network(resnet(4, 2)), 4, 1, ", 1 Gb/s");
}

void run_all(bench::Report& report) {
  exact_against_smpi(report, 64, 0.2);
  for (const int ranks : {64, 1024, 4096}) message_speed(report, merged(resnet(ranks, 1)), 0.5);
  message_speed(report, resnet(64, 1), 0.5, ", a collective a tensor");
  message_speed(report, resnet(128, 1, "parameter-server"), 1, ", parameter server");
  fluid_speed(report, resnet(256, 1), 0.15);
  fluid_speed(report, resnet(1024, 1), 1);
  fluid_speed(report, resnet(4096, 1), 5);
  program_speed(report, 4096, 5);
  // Cases in which one node cannot stand for all:
  fluid_speed(report, resnet(4096, 1, "double-binary-tree"), 5, ", tree");
  fluid_speed(report, replica_of(resnet(2048, 1), {.network = 0.05}, 0), 5, ", network +-5 %");
  for (const int gpus_per_node : {1, 4}) {
    const Scenario scenario = resnet(64 / gpus_per_node, gpus_per_node);
    for (const int network_streams : {1, 4, 161})
      fluid_errors(report, scenario, network_streams, 3);
    for (const int network_streams : {4, 161})
      fluid_errors(report, on_slow_network(scenario), network_streams, 1, ", 1 Gb/s");
  }
  for (const char* engine : {"flow-fluid", "analytic"})
    for (const char* collective : {"ring-all-reduce", "double-binary-tree"})
      growth(report, engine, collective);
}

}  // namespace

int main(int argc, char** argv) {
  const bool smoke = argc == 2 && std::strcmp(argv[1], "--smoke") == 0;
  if (argc > 1 && !smoke) {
    std::fprintf(stderr, "usage: bench_engines [--smoke]\n");
    return 2;
  }
  stay_on_one_core();
  bench::Report report;
  (smoke ? run_small : run_all)(report);
  return report.failures() == 0 ? 0 : 1;
}
