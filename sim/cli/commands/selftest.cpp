// `gradcast selftest`: checks whether this build, with these data files, can be trusted.
#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/answers/answer.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/fit/structure.hpp"
#include "sim/forecast/request.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/collective_curve.hpp"
#include "sim/inputs/compressor_file.hpp"
#include "sim/inputs/devices.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/inputs/published_accuracy.hpp"
#include "sim/network/collective_time.hpp"

namespace gradcast::commands {
namespace {

struct Check {
  std::string name;
  bool passed;
  std::string detail;
};

double relative(Seconds found, Seconds expected) { return std::abs((found - expected) / expected); }

std::string apart(double difference) { return fixed(100 * difference, 4) + " % apart"; }

/// Checks that everything in the data folders can be read.
Check check_files(const std::string& what, const std::function<std::size_t()>& read_all) {
  try {
    return {what, true, std::to_string(read_all()) + " read"};
  } catch (const DataError& error) {
    return {what, false, error.what()};
  }
}

template <class Load>
std::size_t read_kind(DataFiles& files, const DataKind& kind, Load load) {
  const auto names = files.names(kind);
  for (const std::string& name : names) load(files.read(kind, name));
  return names.size();
}

void check_data(std::vector<Check>& checks, DataFiles& files) {
  const auto add = [&](const DataKind& kind, auto load) {
    checks.push_back(
        check_files("data: " + std::string(kind.folder) + "/" + std::string(kind.prefix) + "*.csv",
                    [&] { return read_kind(files, kind, load); }));
  };
  add(kModels, load_model);
  add(kIterationTraces, load_iteration_trace);
  add(kCostTables, load_cost_table);
  add(kMeasuredRuns, load_measured_runs);
  add(kClusters, load_cluster);
  add(kStacks, load_stack);
  add(kCompressorFiles, load_compressor);
  add(kCollectiveCurves, load_collective_curve);
  add(kEvents, [](const TextFile& file) { return load_events(file); });
  add(kPublishedAccuracies, load_published_accuracies);
  add(kFitStructures, load_fit_structures);
  add(kDevices, load_devices);
}

Cluster test_cluster(int nodes, int gpus_per_node) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = gpus_per_node;
  cluster.nic = {parse_rate("10Gbps"), parse_time("25us")};
  cluster.intra = {parse_rate("10GBps"), parse_time("5us")};
  return cluster;
}

/// The engines of this build, without those that only choose among others.
std::vector<const Engine*> own_engines() {
  std::vector<const Engine*> own;
  for (const Engine& engine : all_engines())
    if (engine.built() && engine.fluid.empty()) own.push_back(&engine);
  return own;
}

/// Checks that every engine's time of a collective alone equals its closed form.
Check check_collective(const Collective& collective, int nodes, int gpus_per_node) {
  const Cluster cluster = test_cluster(nodes, gpus_per_node);
  Check check{std::string(collective.name) + " on " + std::to_string(nodes) + " x " +
                  std::to_string(gpus_per_node) + " is its closed form",
              true, ""};
  Plan plan;
  plan.rank_speeds.assign(static_cast<std::size_t>(cluster.ranks()), 1.0);
  // A multiple of every number of ranks below, so that all chunks are equal.
  PlanStep step{StepKind::Collective, "collective", {}, Seconds{0}, &collective, {}};
  step.load.payload = Bytes{1'008'000};
  step.load.elements = 10'000'000;
  plan.steps.push_back(step);
  const Seconds expected =
      collective_time(phases_in(step.groups, collective, layout_of(cluster), step.load),
                      make_topology(cluster), software_of(cluster));
  double largest = 0;
  for (const Engine* engine : own_engines()) {
    const double its = relative(summarize(plan, engine->run(plan, cluster)).iteration, expected);
    if (its > largest) check.detail = " (" + std::string(engine->name) + ")";
    largest = std::max(largest, its);
  }
  // If several GPUs share a NIC and some of their messages stay in the node, messages of different
  // rounds meet on the NIC. The closed form does not model that.
  const bool rounds_meet = nodes > 1 && gpus_per_node > 1;
  check.passed = largest < (rounds_meet ? 1e-2 : 1e-3);
  check.detail = apart(largest) + check.detail;
  return check;
}

/// Checks that the engines agree where no message gets in another's way. `what`: the setting,
/// besides the model's name.
Check check_agreement(const std::string& what, const Request& request, DataFiles& files) {
  Check check{"engines agree: " + request.model + ", " + what, true, ""};
  Scenario scenario;
  try {
    scenario = make_scenario(request, files);
  } catch (const std::runtime_error& error) {  // a broken or missing file
    return {check.name, false, error.what()};
  }
  std::optional<Seconds> first;
  double largest = 0;
  for (const Engine* engine : own_engines()) {
    const Seconds time = run(scenario, *engine).iteration;
    if (first) largest = std::max(largest, relative(time, *first));
    first = first.value_or(time);
  }
  check.passed = largest < 1e-3;
  check.detail = apart(largest);
  return check;
}

void check_fusions(std::vector<Check>& checks, DataFiles& files) {
  for (const char* compressor : {"dense", "topk", "gaussian"})
    for (const char* fusion : {"merged", "25MiB", "layer"})
      for (const bool overlap : {false, true}) {
        Request request;
        request.model = "resnet-50";
        request.compressor = compressor;
        request.fusion = parse_fusion(fusion);
        request.overlap = overlap;
        checks.push_back(check_agreement(std::string(compressor) + ", fusion " + fusion +
                                             ", overlap " + (overlap ? "yes" : "no"),
                                         request, files));
      }
}

/// Settings that change when things are done, and which links they pass. On 8 nodes of one GPU,
/// where no GPUs share a link.
void check_schedules(std::vector<Check>& checks, DataFiles& files) {
  struct Schedule {
    const char* name;
    void (*change)(Request&);
  };
  constexpr Schedule kSchedules[] = {
      {"priority queue", [](Request& request) { request.queue = Queue::Priority; }},
      {"encoding on the side",
       [](Request& request) {
         request.encode_stream = EncodeStream::Side;
         request.encode_slowdown = 0.2;
       }},
      {"negotiated tensors",
       [](Request& request) {
         request.changed.push_back({"per_tensor_negotiation", "100us"});
         request.changed.push_back({"per_collective_latency", "10us"});
       }},
      {"PCIe, and sums that take their time",
       [](Request& request) {
         request.changed.push_back({"pcie_bandwidth", "1GBps"});
         request.changed.push_back({"reduction_bandwidth", "5GBps"});
       }},
      {"two tiers of switches",
       [](Request& request) {
         request.changed.push_back({"nodes_per_leaf", "4"});
         request.changed.push_back({"leaf_uplink_bandwidth", "5Gbps"});
         request.changed.push_back({"leaf_uplink_latency", "10us"});
       }},
      {"mg-wfbp", [](Request& request) { request.fusion = parse_fusion("mg-wfbp"); }},
      {"cycles", [](Request& request) { request.fusion = parse_fusion("cycle:5ms,64MiB"); }},
  };
  for (const Schedule& schedule : kSchedules)
    for (const char* compressor : {"dense", "topk"}) {
      Request request;
      request.model = "resnet-50";
      request.compressor = compressor;
      request.fusion = parse_fusion("4MiB");
      request.overlap = true;
      request.changed = {{"nodes", "8"}, {"gpus_per_node", "1"}};
      schedule.change(request);
      checks.push_back(
          check_agreement(std::string(compressor) + ", " + schedule.name, request, files));
    }
}

std::vector<Check> all_checks(DataFiles& files) {
  std::vector<Check> checks;
  check_data(checks, files);
  for (const Collective* collective : all_collectives())
    for (const auto& [nodes, gpus] : {std::pair{1, 4}, {2, 1}, {3, 3}, {4, 4}, {7, 1}})
      checks.push_back(check_collective(*collective, nodes, gpus));
  check_fusions(checks, files);
  check_schedules(checks, files);
  return checks;
}

}  // namespace

int selftest(int argc, const char* const* argv) {
  Flags flags("selftest", "Checks the data files, the engines' closed forms and their agreement.",
              {"selftest", "selftest --format json"});
  if (!flags.parse(argc, argv)) return 0;
  DataFiles files = DataFiles::standard();
  TextTable table{{"check", "result", "detail"}, {}};
  std::vector<Json> rows;
  std::size_t failed = 0;
  for (const Check& check : all_checks(files)) {
    failed += check.passed ? 0 : 1;
    table.rows.push_back({check.name, check.passed ? "ok" : "FAILED", check.detail});
    rows.push_back({{"check", check.name}, {"passed", check.passed}, {"detail", check.detail}});
  }
  deliver(flags, files.inputs(), "", {to_text(table), rows, nullptr});
  if (failed > 0)
    throw Error(ExitCode::Failure,
                std::to_string(failed) + " of " + std::to_string(rows.size()) + " checks failed");
  flags.note("all " + std::to_string(rows.size()) + " checks passed");
  return 0;
}

}  // namespace gradcast::commands
