// What holds of every scenario, by random ones (RapidCheck: a failure is shrunk, and printed with
// all its fields and how to run it again).
//
// The seed is fixed, so that a build that passed passes again. RC_PARAMS="seed=7" tries another and
// RC_PARAMS="max_success=20000" more of each.
#include <rapidcheck.h>
#include <rapidcheck/detail/TestListenerAdapter.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/engine/replicas.hpp"
#include "sim/inputs/cluster_faults.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/topology.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/plan/plan_summary.hpp"

using namespace gradcast;

// ---- random scenarios
// -----------------------------------------------------------------------------

namespace {

/// Exact runs of more messages than this are left out: they take their time and show nothing new.
constexpr std::int64_t kMostMessages = 20'000;

constexpr int kMostScenarioRanks = 24;

// RapidCheck draws from a part of a range while its size is small, and its sizes grow slowly: here
// always from all of it.
int number(int least, int most) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, most + 1));
}

/// Shrinks to no.
bool chance(int percent) { return number(0, 99) >= 100 - percent; }

template <class Value>
Value one_of(const std::vector<Value>& values) {
  return values[static_cast<std::size_t>(number(0, static_cast<int>(values.size()) - 1))];
}

/// Two digits, evenly spread over orders of magnitude: 1.0e(least) to 9.9e(most).
double rough(int least_exponent, int most_exponent) {
  return number(10, 99) / 10.0 * std::pow(10, number(least_exponent, most_exponent));
}

Seconds rough_time(int least_exponent, int most_exponent) {
  return Seconds{rough(least_exponent, most_exponent)};
}

Seconds time_or_none(int least_exponent, int most_exponent) {
  return chance(75) ? rough_time(least_exponent, most_exponent) : Seconds{0};
}

BytesPerSecond rate() { return {rough(8, 10)}; }

/// What a property asks of its scenarios.
struct Wanted {
  /// One GPU a node, one switch, all nodes alike.
  bool flat = false;
  /// Nothing but the job on the network, one collective at a time, and no choice that depends on
  /// times: FIFO queue, named collective, fixed fusion.
  bool plain = false;
  /// Ranks compute equally fast.
  bool in_step = false;
  bool several_gpus = false;
  /// No encoding on the side: that stream does what is ready first, so that a decode that may begin
  /// sooner may keep an encode waiting.
  bool in_order = false;
};

void draw_overrides(Cluster& cluster) {
  const auto override_some = [&](const std::string& property, const std::string& value) {
    if (!chance(15)) return;
    const int first = number(0, cluster.nodes - 1);
    const int last = number(first, cluster.nodes - 1);
    set_property(cluster, NodeOverride{property, first, last, value}.name(), value);
  };
  if (cluster.nodes * 4 <= kMostScenarioRanks)
    override_some("gpus_per_node", std::to_string(number(1, 4)));
  override_some("nic_bandwidth", to_text(rate()));
  override_some("nic_latency", to_text(time_or_none(-6, -4)));
  override_some("nics_per_node", std::to_string(number(1, 3)));
  override_some("intra_bandwidth", to_text(rate()));
  override_some("intra_latency", to_text(time_or_none(-6, -5)));
  override_some("pcie_bandwidth", to_text(rate()));
  override_some("compute_speed", number_to_text(number(5, 20) / 10.0));
}

void draw_switches(Cluster& cluster) {
  if (!chance(30)) return;
  cluster.nodes_per_leaf = number(1, cluster.nodes);
  cluster.leaf_uplink_bandwidth = rate();
  cluster.leaf_uplink_latency = time_or_none(-6, -5);
  if (!chance(40)) return;
  cluster.leaves_per_pod = number(1, 3);
  cluster.pod_uplink_bandwidth = rate();
  cluster.pod_uplink_latency = time_or_none(-6, -5);
}

void draw_software(Cluster& cluster) {
  if (chance(40)) cluster.per_message_latency = rough_time(-7, -5);
  if (chance(40)) cluster.per_collective_latency = rough_time(-6, -4);
  if (chance(40)) cluster.per_tensor_negotiation = rough_time(-6, -4);
  if (chance(40)) cluster.per_iteration_overhead = rough_time(-5, -3);
  if (chance(40)) cluster.communication_slowdown = number(1, 50) / 100.0;
  if (chance(40)) cluster.reduction_bandwidth = rate();
  if (chance(20)) {
    cluster.planner_startup = time_or_none(-5, -3);
    cluster.planner_bandwidth = rate();
  }
}

Cluster draw_cluster(const Wanted& wanted) {
  Cluster cluster;
  cluster.name = "random";
  cluster.gpus_per_node = wanted.flat ? 1 : number(wanted.several_gpus ? 2 : 1, 6);
  cluster.nodes = number(1, kMostScenarioRanks / cluster.gpus_per_node);
  cluster.nic = {rate(), time_or_none(-6, -3)};
  cluster.intra = {wanted.flat ? BytesPerSecond{2 * cluster.nic.bandwidth.value} : rate(),
                   time_or_none(-6, -5)};
  draw_software(cluster);
  if (wanted.flat) return cluster;
  cluster.nics_per_node = chance(30) ? number(1, cluster.gpus_per_node) : 1;
  if (chance(40)) cluster.pcie_bandwidth = rate();
  draw_switches(cluster);
  draw_overrides(cluster);
  require_possible(cluster);
  return cluster;
}

void draw_model(Scenario& scenario) {
  const int tensors = number(1, 12);
  for (int i = 0; i < tensors; ++i) {
    const std::string name = "t" + std::to_string(i);
    const auto elements = std::clamp<std::int64_t>(std::llround(rough(-1, 6)), 1, 5'000'000);
    scenario.model.tensors.push_back({name, name, elements, 0});
    scenario.trace.tensors.push_back({name, time_or_none(-6, -2), time_or_none(-6, -2)});
  }
  scenario.model.name = "random";
  scenario.trace.name = "random-trace";
  scenario.trace.batch = 1;
  scenario.trace.update = time_or_none(-6, -3);
}

/// A line in the elements and in the workers, for each way the compressor has.
CostTable draw_costs(const Compressor& compressor, double density) {
  CostTable table{.name = "random-costs", .rows = {}};
  const double encode = rough(-10, -9);
  const double decode = rough(-10, -9);
  const double share = compressor.exact_count ? 1 : number(5, 15) / 10.0;
  const Seconds call = time_or_none(-6, -4);
  const auto modes = compressor.two_modes ? std::vector<std::string>{"code", "paper"}
                                          : std::vector<std::string>{""};
  for (const std::string& mode : modes)
    for (const double at : {density / 3, density * 2})
      for (const std::int64_t elements : {1'000, 1'000'000})
        for (const int workers : {1, 32}) {
          const auto size = static_cast<double>(elements);
          table.rows.push_back(
              {.compressor = std::string(compressor.name),
               .mode = mode,
               .implementation = "random",
               .elements = elements,
               .density = at,
               .workers = workers,
               .distribution = "normal",
               .selected = share * static_cast<double>(wanted_elements(elements, at)),
               .encode = call + Seconds{encode * size},
               .encode_p95 = {},
               .decode = call + Seconds{decode * size * workers * at},
               .decode_p95 = {},
               .samples = 0,
               .evidence = "derived"});
        }
  return table;
}

bool can_serve(const Collective& collective, const Cluster& cluster) {
  try {
    collective.phases(layout_of(cluster), {.payload = Bytes{1}, .elements = 1});
    return true;
  } catch (const ValueError&) {
    return false;
  }
}

const Collective* draw_collective(const Scenario& scenario, bool training) {
  std::vector<const Collective*> possible;
  for (const Collective* collective : all_collectives()) {
    const bool fits = training
                          ? collective->serves == scenario.compressor->aggregation &&
                                collective->outcome != Outcome::Scattered &&
                                (!collective->needs_exact_count || scenario.compressor->exact_count)
                          : !collective->sparse;
    if (fits && can_serve(*collective, scenario.cluster)) possible.push_back(collective);
  }
  return one_of(possible);
}

Fusion draw_fusion(bool fixed) {
  std::vector<const char*> kinds{"layer", "merged", "1B", "100KiB", "4MiB"};
  if (!fixed) kinds.insert(kinds.end(), {"mg-wfbp", "omgs"});
  return parse_fusion(one_of(kinds));
}

void draw_schedule(Scenario& scenario, const Wanted& wanted) {
  scenario.fusion = draw_fusion(wanted.plain);
  scenario.overlap = chance(70);
  scenario.selection = chance(30) ? SelectionScope::PerTensor : SelectionScope::Merged;
  scenario.wire_bytes_per_element = chance(20) ? 6 : 8;
  scenario.wire_messages = chance(20) ? 2 : 1;
  if (!wanted.in_order && chance(40)) scenario.encode_stream = EncodeStream::Side;
  if (chance(40)) scenario.encode_slowdown = number(1, 100) / 100.0;
  if (wanted.plain) return;
  if (chance(40)) scenario.queue = Queue::Priority;
  if (chance(30)) scenario.network_streams = number(2, 4);
  if (chance(30)) {
    scenario.count_spread = number(1, 50) / 100.0;
    scenario.count_seed = static_cast<std::uint64_t>(number(0, 1000));
  }
}

Period draw_period() {
  Period period{time_or_none(-5, -2), {}};
  if (chance(85)) period.lasting = time_or_none(-4, -1);
  return period;
}

std::string draw_link(const Topology& topology) {
  std::string name = one_of(topology.links).name;
  if (chance(50)) name.erase(name.rfind('.'));  // both directions
  return name;
}

World draw_world(const Cluster& cluster) {
  World world;
  const int ranks = cluster.ranks();
  const auto rank = [&] { return number(0, ranks - 1); };
  if (chance(30))
    for (int i = number(1, 3); i > 0; --i)
      world.ranks.push_back({rank(), draw_period(), chance(40) ? 0 : number(1, 30) / 10.0});
  if (chance(25)) {
    const Topology topology = make_topology(cluster);
    for (int i = number(1, 3); i > 0; --i)
      world.links.push_back(
          {draw_link(topology), draw_period(), chance(40) ? 0 : number(1, 30) / 20.0});
  }
  if (ranks > 1 && chance(25))
    for (int i = number(1, 2); i > 0; --i) {
      const int from = rank();
      world.flows.push_back({from, (from + number(1, ranks - 1)) % ranks, draw_period(),
                             chance(50) ? rate() : BytesPerSecond{}});
    }
  if (chance(25)) world.concurrent_jobs = number(2, 3);
  return world;
}

Scenario draw_scenario(const Wanted& wanted) {
  Scenario scenario;
  scenario.cluster = draw_cluster(wanted);
  const bool training = !chance(8);
  scenario.compressor = training ? one_of(std::vector<const Compressor*>(all_compressors().begin(),
                                                                         all_compressors().end()))
                                 : find_compressor("dense");
  if (training)
    draw_model(scenario);
  else
    scenario.payload = Bytes{std::llround(rough(0, 7))};
  if (wanted.plain || chance(85)) scenario.collective = draw_collective(scenario, training);
  scenario.density = rough(-4, -2);
  if (scenario.sparse()) scenario.costs = draw_costs(*scenario.compressor, scenario.density);
  if (scenario.compressor->two_modes && chance(30)) scenario.mode = "paper";
  draw_schedule(scenario, wanted);
  if (!wanted.plain) scenario.world = draw_world(scenario.cluster);
  if (!wanted.in_step && chance(40)) {
    const Noise noise{number(0, 10) / 100.0, wanted.plain ? 0 : number(0, 10) / 100.0,
                      static_cast<std::uint64_t>(number(1, 1000))};
    scenario = replica_of(scenario, noise, number(0, 9));
  }
  return scenario;
}

rc::Gen<Scenario> any_scenario(const Wanted& wanted = {}) {
  return rc::gen::exec([wanted] { return draw_scenario(wanted); });
}

// ---- what failed, in words ----------------------------------------------------------------------

std::string to_text(const Period& period) {
  return " at " + gradcast::to_text(period.at) +
         (period.lasting ? " for " + gradcast::to_text(*period.lasting) : " for ever");
}

std::string described(const Scenario& scenario) {
  std::ostringstream out;
  out << "compressor " << scenario.compressor->name << " mode '" << scenario.mode << "' collective "
      << (scenario.collective != nullptr ? scenario.collective->name : "auto") << " density "
      << scenario.density << " selection " << to_text(scenario.selection) << "\nfusion "
      << to_text(scenario.fusion) << " overlap " << scenario.overlap << " queue "
      << to_text(scenario.queue) << " streams " << scenario.network_streams << " encode "
      << to_text(scenario.encode_stream) << " slowdown " << scenario.encode_slowdown << " wire "
      << scenario.wire_bytes_per_element << " B in " << scenario.wire_messages << " count spread "
      << scenario.count_spread << " seed " << scenario.count_seed << "\ncluster";
  for (const ClusterProperty& property : properties_of(scenario.cluster))
    if (property.value != "none" && property.value != "0" && property.value != "0s")
      out << " " << property.name << "=" << property.value;
  const auto list = [&](const char* name, const std::vector<double>& values) {
    if (!values.empty()) out << "\n" << name;
    for (const double value : values) out << " " << number_to_text(value);
  };
  list("nic slowness", scenario.cluster.nic_slowness);
  list("rank speeds", scenario.rank_speeds);
  if (scenario.payload.count > 0) out << "\npayload " << scenario.payload.count << " B";
  for (std::size_t i = 0; i < scenario.model.tensors.size(); ++i)
    out << "\ntensor " << scenario.model.tensors[i].elements << " forward "
        << number_to_text(scenario.trace.tensors[i].forward.count()) << " backward "
        << number_to_text(scenario.trace.tensors[i].backward.count());
  out << "\nupdate " << number_to_text(scenario.trace.update.count());
  if (!scenario.costs.rows.empty())
    out << "\ncosts of 1,000 elements for 1 worker: encode "
        << number_to_text(scenario.costs.rows[0].encode.count()) << " decode "
        << number_to_text(scenario.costs.rows[0].decode.count()) << ", of 1,000,000: encode "
        << number_to_text(scenario.costs.rows[2].encode.count()) << " decode "
        << number_to_text(scenario.costs.rows[2].decode.count()) << " selected "
        << number_to_text(scenario.costs.rows[2].selected);
  for (const RankEvent& event : scenario.world.ranks)
    out << "\nrank " << event.rank << to_text(event.period) << " at speed " << event.speed;
  for (const LinkEvent& event : scenario.world.links)
    out << "\nlink " << event.link << to_text(event.period) << " has " << event.share;
  for (const BackgroundFlow& flow : scenario.world.flows)
    out << "\nflow " << flow.from << " > " << flow.to << to_text(flow.period) << " at most "
        << number_to_text(flow.most.value) << " B/s";
  out << "\njobs " << scenario.world.concurrent_jobs << "\n";
  return out.str();
}

}  // namespace

namespace gradcast {

void showValue(const Scenario& scenario, std::ostream& out) { out << "\n" << described(scenario); }

}  // namespace gradcast

// ---- running them -------------------------------------------------------------------------------

namespace {

/// Ends the program, with the scenario on standard error, where one run takes longer than this.
constexpr unsigned kMostSeconds = 60;

class Watchdog {
 public:
  Watchdog(const Scenario& scenario, std::string_view engine) {
    text_ = "this scenario does not end on " + std::string(engine) + ":\n" + described(scenario);
    std::signal(SIGALRM, bark);
    ::alarm(kMostSeconds);
  }
  ~Watchdog() { ::alarm(0); }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  static void bark(int) {
    static_cast<void>(!::write(STDERR_FILENO, text_.data(), text_.size()));
    std::abort();
  }
  static inline std::string text_;
};

RunRecord played(const Engine& engine, const Scenario& scenario, const Plan& plan) {
  const Watchdog watchdog(scenario, engine.name);
  return engine.run(plan, scenario.cluster, scenario.world);
}

IterationResult result_of(const Engine& engine, const Scenario& scenario) {
  const Plan plan = make_plan(scenario);
  return summarize(plan, played(engine, scenario, plan));
}

double seconds(const char* engine, const Scenario& scenario) {
  return result_of(*find_engine(engine), scenario).iteration.count();
}

/// Those that this build has and that can run it in a moment.
std::vector<const Engine*> engines_for(const Scenario& scenario) {
  const Plan plan = make_plan(scenario);
  std::vector<const Engine*> able;
  for (const Engine& engine : all_engines()) {
    if (!engine.built() || engine.name == "simgrid") continue;
    if (!engine.refusal(plan, scenario.cluster, scenario.world).empty()) continue;
    const std::int64_t messages =
        messages_of(plan, scenario.cluster) * scenario.world.concurrent_jobs;
    if (engine.name == "simgrid-exact" && messages > kMostMessages) continue;
    able.push_back(&engine);
  }
  return able;
}

bool few_messages(const Scenario& scenario) {
  return messages_of(make_plan(scenario), scenario.cluster) <= kMostMessages;
}

double apart(double a, double b) { return a == b ? 0 : std::abs(a - b) / std::max(a, b); }

/// A property that is checked of so many scenarios, by a seed of its own.
template <class Body>
void holds(const std::string& description, int scenarios, Body body) {
  SECTION(description) {
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    if (std::getenv("RC_PARAMS") == nullptr) params.seed = 2026;
    if (params.maxSuccess == rc::detail::TestParams().maxSuccess) params.maxSuccess = scenarios;
    params.maxDiscardRatio = 20;
    rc::detail::TestMetadata metadata;
    metadata.id = description;
    metadata.description = description;
    rc::detail::TestListenerAdapter silent;
    const auto result = rc::detail::checkProperty(rc::detail::toProperty(body), metadata, params,
                                                  silent, rc::detail::configuration().reproduce);
    std::ostringstream said;
    rc::detail::printResultMessage(result, said);
    INFO("seed " << params.seed << "\n" << said.str());
    CHECK(result.template is<rc::detail::SuccessResult>());
  }
}

/// The largest difference seen, and where.
struct Worst {
  double apart = 0;
  std::string where;

  void add(double its, const Scenario& scenario) {
    if (its <= apart) return;
    apart = its;
    where = described(scenario);
  }
};

// ---- properties ---------------------------------------------------------------------------------

bool lasts_for_ever(const World& world) {
  const auto stops = [](const auto& events, auto of) {
    return std::any_of(events.begin(), events.end(),
                       [&](const auto& event) { return event.*of == 0 && !event.period.lasting; });
  };
  return stops(world.ranks, &RankEvent::speed) || stops(world.links, &LinkEvent::share);
}

void require_parts(const IterationResult& result) {
  const Seconds parts[] = {
      result.forward, result.backward, result.encode,   result.exposed_communication,
      result.decode,  result.update,   result.overhead, result.wait};
  const double iteration = result.iteration.count();
  double sum = 0;
  for (const Seconds part : parts) {
    RC_ASSERT(part >= Seconds{0});
    sum += part.count();
  }
  RC_ASSERT(std::isfinite(iteration));
  RC_ASSERT(std::abs(sum - iteration) <= 1e-9 * iteration);
  RC_ASSERT(result.exposed_communication.count() <=
            result.communication.count() + 1e-12 * iteration);
  RC_ASSERT(result.hidden_codec >= Seconds{0});
}

void require_same(const RunRecord& a, const RunRecord& b) {
  RC_ASSERT(a.lost == b.lost);
  RC_ASSERT(a.class_of == b.class_of);
  RC_ASSERT(a.flows_simulated == b.flows_simulated);
  RC_ASSERT(a.steps.size() == b.steps.size());
  for (std::size_t id = 0; id < a.steps.size(); ++id)
    for (std::size_t step = 0; step < a.steps[id].size(); ++step) {
      RC_ASSERT(a.steps[id][step].start == b.steps[id][step].start);
      RC_ASSERT(a.steps[id][step].end == b.steps[id][step].end);
    }
}

void any_scenario_ends() {
  const Scenario scenario = *any_scenario();
  const Plan plan = make_plan(scenario);
  for (const Engine* engine : engines_for(scenario)) {
    RC_LOG() << engine->name << "\n";
    const RunRecord record = played(*engine, scenario, plan);
    const IterationResult result = summarize(plan, record);
    if (record.lost.empty())
      require_parts(result);
    else
      RC_ASSERT(lasts_for_ever(scenario.world));
    require_same(record, played(*engine, scenario, plan));
  }
}

Cluster with_twice_the_bandwidth(Cluster cluster) {
  for (BytesPerSecond* rate :
       {&cluster.nic.bandwidth, &cluster.intra.bandwidth, &cluster.pcie_bandwidth,
        &cluster.leaf_uplink_bandwidth, &cluster.pod_uplink_bandwidth})
    rate->value *= 2;
  for (const NodeOverride& override : std::vector<NodeOverride>(cluster.overrides()))
    if (override.property.ends_with("bandwidth"))
      set_property(cluster, override.name(),
                   gradcast::to_text(BytesPerSecond{2 * parse_rate(override.value).value}));
  return cluster;
}

/// Whether messages of several ranks share links in the exact engine. A rank that is late leaves
/// more to the others then, and what they do may be what the last waits for.
bool meets(const Engine& engine, const Scenario& scenario) {
  return engine.name == "simgrid-exact" &&
         (scenario.cluster.ranks() > scenario.cluster.nodes ||
          scenario.cluster.nodes_per_leaf > 0 || !scenario.collective->name.starts_with("ring-"));
}

void require_no_later(const Engine& engine, const Scenario& scenario, const Scenario& quicker,
                      double slack) {
  const double before = result_of(engine, scenario).iteration.count();
  const double after = result_of(engine, quicker).iteration.count();
  RC_LOG() << engine.name << ": " << before << " s, quicker " << after << " s\n";
  RC_ASSERT(after <= before * (1 + slack));
}

void bandwidth_helps() {
  const Scenario scenario = *any_scenario({.plain = true, .in_order = true});
  Scenario quicker = scenario;
  quicker.cluster = with_twice_the_bandwidth(scenario.cluster);
  for (const Engine* engine : engines_for(scenario))
    require_no_later(*engine, scenario, quicker, 1e-9);
}

void a_slow_rank_hinders() {
  const Scenario scenario = *any_scenario({.plain = true, .in_order = true});
  Scenario slower = scenario;
  slower.rank_speeds.resize(static_cast<std::size_t>(scenario.cluster.ranks()), 1);
  slower.rank_speeds[static_cast<std::size_t>(number(0, scenario.cluster.ranks() - 1))] *=
      number(50, 99) / 100.0;
  for (const Engine* engine : engines_for(scenario))
    require_no_later(*engine, slower, scenario, meets(*engine, scenario) ? 0.25 : 1e-9);
}

// How far engines may be apart.
constexpr double kClosely = 1e-3;
/// Ranks' compute times have a standard deviation of up to a tenth of the mean.
constexpr double kWithJitter = 0.05;
/// Where rounds meet on the links, as below or of several GPUs on a NIC, PCIe or uplink: a fair
/// network is slower than one round after another. The worst of 2,500 was 0.31.
constexpr double kWhereRoundsMeet = 0.45;

/// Chunks differ by a byte, and so do engines on messages of a few bytes.
constexpr double kRounding = 1e-6;  // seconds

/// Rounds whose messages come from different ranks, so that one is still being received when that
/// of the next round comes: none is where ranks begin together.
bool rounds_meet(const Scenario& scenario) {
  const std::string_view name = scenario.collective->name;
  return name.starts_with("recursive-") || name == "sparse-all-reduce" ||
         name == "bruck-all-gather";
}

void agree(const Scenario& scenario, double bound, Worst& worst) {
  const double fluid = seconds("simgrid-fluid", scenario);
  if (!few_messages(scenario)) RC_DISCARD();
  const double exact = seconds("simgrid-exact", scenario);
  RC_LOG() << "exact " << exact << " s, fluid " << fluid << " s\n";
  RC_ASSERT(std::abs(exact - fluid) <= bound * std::max(exact, fluid) + kRounding);
  worst.add(apart(exact, fluid), scenario);
}

void analytic_agrees() {
  const Scenario scenario = *any_scenario({.flat = true, .plain = true});
  const double fluid = seconds("simgrid-fluid", scenario);
  RC_ASSERT(std::abs(seconds("analytic", scenario) - fluid) <= kClosely * fluid + kRounding);
}

Worst alike;
Worst with_jitter[2];  // where no rounds meet, and where some do
Worst several_gpus[1];

void exact_agrees() {
  const Scenario scenario = *any_scenario({.flat = true, .plain = true, .in_step = true});
  agree(scenario, kClosely, alike);
}

void exact_agrees_with_jitter() {
  const Scenario scenario = *any_scenario({.flat = true, .plain = true});
  const bool meet = rounds_meet(scenario);
  agree(scenario, meet ? kWhereRoundsMeet : kWithJitter, with_jitter[meet]);
}

void exact_agrees_with_several_gpus() {
  agree(*any_scenario({.plain = true, .in_step = true, .several_gpus = true}), kWhereRoundsMeet,
        several_gpus[0]);
}

void print(const char* what, const Worst& worst) {
  std::cout << "worst of exact and fluid, " << what << ": " << 100 * worst.apart << " %\n"
            << worst.where << "\n";
}

struct Property {
  const char* description;
  int scenarios;  // of 2,000 and more
  void (*body)();
};

constexpr Property kProperties[] = {
    {"it ends, its parts add up, and it is the same again", 1000, any_scenario_ends},
    {"twice the bandwidth is no slower", 400, bandwidth_helps},
    {"a slower rank is no faster", 400, a_slow_rank_hinders},
    {"analytic and fluid agree where nothing contends", 200, analytic_agrees},
    {"exact and fluid agree where nothing contends", 200, exact_agrees},
    {"exact and fluid are near with jitter", 200, exact_agrees_with_jitter},
    {"exact and fluid are not too far with several GPUs a node", 200,
     exact_agrees_with_several_gpus},
};

void check_all(int divided_by) {
  if (!find_engine("simgrid-fluid")->built()) return;
  for (const Property& property : kProperties)
    holds(property.description, property.scenarios / divided_by, property.body);
}

}  // namespace

TEST_CASE("what holds of every scenario, some of them", "[scenario]") { check_all(20); }

// About 20 s.
TEST_CASE("what holds of every scenario, 2,600 of them", "[scenario][slow]") {
  check_all(1);
  // Sections are run one after another, the last of them last.
  if (several_gpus[0].apart == 0) return;
  print("alike", alike);
  print("with jitter", with_jitter[0]);
  print("with jitter, rounds meet", with_jitter[1]);
  print("several GPUs", several_gpus[0]);
}
