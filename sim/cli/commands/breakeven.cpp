// `gradcast breakeven`: at which bandwidth, size, density or kernel cost a compressor begins or
// stops to pay.
#include <algorithm>
#include <set>
#include <utility>

#include "sim/answers/answer.hpp"
#include "sim/base/interruption.hpp"
#include "sim/base/process_pool.hpp"
#include "sim/base/progress.hpp"
#include "sim/base/text.hpp"
#include "sim/breakeven/asked.hpp"
#include "sim/breakeven/forecasts.hpp"
#include "sim/breakeven/report.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/options/engine_flag.hpp"
#include "sim/options/request_flags.hpp"
#include "sim/options/transfer_flags.hpp"

namespace gradcast::commands {
namespace {

Flags make_flags() {
  Flags flags(
      "breakeven",
      "Finds the NIC bandwidth, number of nodes, density or kernel cost at which a compressor\n"
      "begins or stops to pay, by physics alone and with software fitted to published runs, and\n"
      "says where the two disagree. Each root is checked 1 % to either side. --compressor takes a\n"
      "name, a list, or all that the costs have.",
      {"breakeven --model resnet-50 --compressor gaussian --over nic-bandwidth",
       "breakeven --model vgg-16 --compressor topk,dgc --over nodes --to 128 --nic-bandwidth "
       "25Gbps",
       "breakeven --model alexnet --compressor topk --against gaussian --over kernel-cost",
       "breakeven --model resnet-50 --map --nodes 1..32 --nic-bandwidth 1Gbps..100Gbps"});
  add_breakeven_flags(flags);
  add_request_flags(flags);
  add_transfer_flags(flags);
  add_engine_flag(flags);
  return flags;
}

void require_uninterrupted() {
  if (Interruption::asked()) throw Error(ExitCode::Interrupted, "interrupted: nothing was written");
}

/// All that is known of one compressor, or of dense, before anything is forecast.
struct Contestant {
  std::string name;
  Estimates estimates;
  bool costs_fitted = false;  // runs with it were fitted, so that its fitted costs are others
};

/// Throws where the costs lack it, as a forecast would.
void require_costs(const Scenario& scenario) {
  if (!scenario.sparse()) return;
  (void)CompressorCosts(scenario.costs, {.compressor = std::string(scenario.compressor->name),
                                         .mode = scenario.mode,
                                         .implementation = scenario.implementation});
}

/// Throws what a forecast would.
Contestant contestant_of(const Request& request, const BreakEvenAsked& asked, DataFiles& files) {
  Contestant contestant{request.compressor, estimates_of(request, asked.software, files)};
  const Scenario physics = make_scenario(contestant.estimates.physics, files);
  require_costs(physics);
  if (!contestant.estimates.fitted) return contestant;
  const Scenario fitted = make_scenario(*contestant.estimates.fitted, files);
  require_costs(fitted);
  contestant.costs_fitted = costs_fitted(contestant.estimates, files);
  return contestant;
}

/// Throws UsageError where the software asked for is of no fit.
void require_fitted_software(const Flags& flags, const BreakEvenAsked& asked, DataFiles& files) {
  if (!flags.given("fitted") || asked.software == "none") return;
  DataFiles others(files.root());  // what is looked at here need not be an input of the answer
  const Cluster cluster = flags.value("fitted", [&](const std::string& name) {
    return load_cluster(others.read(kClusters, name));
  });
  if (cluster.forecast_deviation > Seconds{0} || cluster.forecast_deviation_share > 0) return;
  throw UsageError("--fitted: '" + asked.software +
                   "' is no fitted cluster: it does not say what its fit left unexplained");
}

/// The compressors asked for. Of `all` those that the costs and the collective allow: the others
/// are told.
std::vector<Contestant> contestants_of(const Flags& flags, const BreakEvenAsked& asked,
                                       DataFiles& files) {
  const std::vector<std::string> names =
      asked.all() ? compressors_in(load_cost_table(
                        files.read(kCostTables, asked.request.costs, asked.request.costs_folder)))
                  : asked.compressors;
  const bool several = names.size() > 1;
  std::vector<Contestant> contestants;
  std::string refused;
  for (const std::string& name : names) {
    if (name == asked.against && !asked.map) continue;
    try {
      contestants.push_back(
          contestant_of(with_compressor(asked.request, name, several), asked, files));
    } catch (const std::exception& error) {
      if (!asked.all()) throw;
      refused = name + " is left out: " + error.what();
      flags.note(refused);
    }
  }
  if (contestants.empty())
    throw UsageError("no compressor is left to compare" +
                     (refused.empty() ? "" : " (" + refused + ")"));
  return contestants;
}

/// A platform file says what its nodes and links are. Throws ValueError, as a flag would.
void require_free(Scenario scenario, Quantity over) {
  if (!scenario.cluster.platform_file.empty())
    set_value(scenario, over, 2 * own_value(over, scenario) + 1);
}

std::string shape_of(const Scenario& scenario, std::optional<Quantity> over) {
  std::vector<std::string> words;
  const Cluster& cluster = scenario.cluster;
  const std::string gpus =
      std::to_string(cluster.gpus_per_node) + (cluster.gpus_per_node == 1 ? " GPU" : " GPUs");
  if (over == Quantity::Nodes)
    words.push_back("nodes of " + gpus);
  else
    words.push_back(std::to_string(cluster.nodes) + (cluster.nodes == 1 ? " node" : " nodes") +
                    " of " + gpus);
  if (over != Quantity::NicBandwidth && own_value(Quantity::NicBandwidth, scenario) > 0)
    words.push_back(
        in_words(Quantity::NicBandwidth, own_value(Quantity::NicBandwidth, scenario), 0));
  if (over != Quantity::Density && scenario.sparse())
    words.push_back(in_words(Quantity::Density, scenario.density, 0));
  return join(words);
}

/// What an answer's rows say of the run.
std::vector<std::pair<std::string, Json>> setting_of(const Scenario& scenario,
                                                     const Request& request, Quantity over) {
  const bool nodes = over == Quantity::Nodes;
  const bool rate = over == Quantity::NicBandwidth;
  const bool density = over == Quantity::Density;
  return {{"batch", scenario.batch()},
          {"fusion", to_text(scenario.fusion)},
          {"overlap", scenario.overlap ? "yes" : "no"},
          {"costs", request.costs},
          {"costs_scaled_to", request.costs_device},
          {"cluster", request.cluster},
          {"nodes", nodes ? Json() : Json(scenario.cluster.nodes)},
          {"gpus_per_node", scenario.cluster.gpus_per_node},
          {"nic_bandwidth", rate || !scenario.cluster.platform_file.empty()
                                ? Json()
                                : Json(to_text(scenario.cluster.nic.bandwidth))},
          {"density", density ? Json() : Json(scenario.density)}};
}

std::string software_of(const Asked& fitted) {
  return fitted.software.empty() ? fitted.request.cluster : fitted.software;
}

/// The searches of all compressors.
std::vector<Answered> answer_questions(const Flags& flags, const BreakEvenAsked& asked,
                                       const std::vector<Contestant>& contestants,
                                       const Engine& engine, DataFiles& files) {
  const Quantity over = *asked.over;
  Forecasts forecasts(over, engine, files);
  const Contestant opponent =
      contestant_of(with_compressor(asked.request, asked.against, true), asked, files);
  const Estimates& against = opponent.estimates;
  // What kernels cost is the compressor's alone, so that the other stays as it is.
  const bool other_varies = over != Quantity::KernelCost;
  const std::size_t other = forecasts.add(against.physics, other_varies);
  const std::size_t other_fitted =
      against.fitted ? forecasts.add(*against.fitted, other_varies) : other;
  std::vector<Question> questions;
  std::vector<Scenario> scenarios;
  for (const Contestant& contestant : contestants) {
    const std::size_t its = forecasts.add(contestant.estimates.physics, true);
    scenarios.push_back(forecasts.probe(its).scenario());
    require_free(scenarios.back(), over);
    const LookedAt range = range_of(asked, {&scenarios.back(), &forecasts.probe(other).scenario()});
    questions.push_back({its, other, range});
    if (!contestant.estimates.fitted) continue;
    questions.push_back({forecasts.add(*contestant.estimates.fitted, true), other_fitted, range});
  }
  std::optional<Progress> progress;
  Searching searching;
  searching.processes = asked.processes;
  searching.stop = [] { return Interruption::asked(); };
  searching.progress = [&](std::size_t done, std::size_t all) {
    if (!progress) progress.emplace(std::vector<double>(all, 1), flags.quiet());
    if (done < all) progress->show(done, "break-even over " + to_text(over));
  };
  const std::vector<Finding> findings = answers_to(questions, forecasts, searching);
  progress.reset();
  require_uninterrupted();
  if (std::none_of(findings.begin(), findings.end(),
                   [](const Finding& finding) { return finding.pays_at_start.has_value(); }))
    throw UsageError("nothing that was looked at has an answer: " + findings.front().problem);

  std::vector<Answered> all;
  std::size_t next = 0;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    const Contestant& contestant = contestants[i];
    const Scenario& scenario = scenarios[i];
    Answered answered;
    answered.model = scenario.model.name;
    answered.setting = setting_of(scenario, contestant.estimates.physics.request, over);
    Told& told = answered.told;
    told.over = over;
    told.setting = scenario.model.name + " on " + scenario.cluster.name + " (" +
                   shape_of(scenario, over) + ")";
    told.compressor = contestant.name;
    told.against = asked.against;
    told.gpus_per_node = scenario.cluster.nodes_alike() ? scenario.cluster.gpus_per_node : 0;
    told.physics = findings[next++];
    if (contestant.estimates.fitted) {
      told.software = software_of(*contestant.estimates.fitted);
      for (const Contestant* each : {&contestant, &opponent})
        if (!each->costs_fitted) told.unfitted.push_back(each->name);
      told.fitted = findings[next++];
    }
    all.push_back(answered);
  }
  return all;
}

/// A coarse grid needs no messages: where `simgrid` is asked for, collectives are flows.
const Engine& map_engine(const Engine& engine) {
  return engine.name == "simgrid" ? *find_engine("simgrid-fluid") : engine;
}

/// All candidates on all cells; a piece of work is one candidate on so many nodes.
WinMap make_map(const Flags& flags, const BreakEvenAsked& asked,
                const std::vector<Contestant>& contestants, const Engine& engine,
                DataFiles& files) {
  WinMap map;
  map.engine = std::string(engine.name);
  map.bandwidths = asked.map_bandwidths;
  std::vector<Probe> probes;  // physics of all, then fitted of all
  map.candidates.emplace_back("dense");
  const Estimates dense =
      estimates_of(with_compressor(asked.request, "dense", true), asked.software, files);
  probes.emplace_back(dense.physics, files);
  for (const Contestant& contestant : contestants) {
    map.candidates.push_back(contestant.name);
    probes.emplace_back(contestant.estimates.physics, files);
  }
  if (dense.fitted) {
    map.software = software_of(*dense.fitted);
    probes.emplace_back(*dense.fitted, files);
    for (const Contestant& contestant : contestants)
      probes.emplace_back(*contestant.estimates.fitted, files);
  }
  const Scenario& scenario = probes[0].scenario();
  for (const Quantity axis : {Quantity::Nodes, Quantity::NicBandwidth})
    require_free(scenario, axis);
  map.model = scenario.model.name;
  const int gpus = scenario.cluster.gpus_per_node;
  map.setting = map.model + " on " + scenario.cluster.name + " (" + std::to_string(gpus) +
                (gpus == 1 ? " GPU" : " GPUs") + " a node, " +
                in_words(Quantity::Density, asked.request.density, 0) + ")";
  map.nodes = asked.map_nodes;
  if (map.nodes.empty())
    for (int nodes = 1; nodes <= 64 && nodes * gpus <= kMostRanks; nodes *= 2)
      map.nodes.push_back(nodes);

  for (Probe& probe : probes) probe.scenario();  // read here, once for all processes
  const std::size_t rows = map.nodes.size();
  std::vector<std::size_t> items(probes.size() * rows);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = i;
  // [probe][row][column]
  std::vector<std::vector<std::vector<Forecast>>> seen(probes.size(),
                                                       std::vector<std::vector<Forecast>>(rows));
  Progress progress(std::vector<double>(items.size(), 1), flags.quiet());
  std::size_t done = 0;
  run_in_pool(asked.processes, items,
              {[&](std::size_t item) {
                 std::vector<Forecast> row;
                 for (const double bandwidth : map.bandwidths)
                   row.push_back(probes[item / rows].at({{Quantity::Nodes, map.nodes[item % rows]},
                                                         {Quantity::NicBandwidth, bandwidth}},
                                                        engine));
                 return pack(row);
               },
               [&](std::size_t item, const std::string& answer) {
                 seen[item / rows][item % rows] = unpack_forecasts(answer);
                 if (++done < items.size()) progress.show(done, "map");
               },
               [] { return Interruption::asked(); }});
  progress.clear();
  require_uninterrupted();

  // Of two compressors the one that nobody fitted would win by what is not known of it.
  const bool some_fitted = std::any_of(contestants.begin(), contestants.end(),
                                       [](const Contestant& each) { return each.costs_fitted; });
  if (dense.fitted && some_fitted)
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      if (contestants[i].costs_fitted) continue;
      map.left_out.push_back(contestants[i].name);
      for (auto& row : seen[contestants.size() + 1 + i + 1])
        for (Forecast& forecast : row) forecast.problem = "no run with it was fitted";
    }

  const std::size_t candidates = map.candidates.size();
  const auto verdicts = [&](std::size_t first) {
    std::vector<std::vector<Verdict>> cells(rows);
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < map.bandwidths.size(); ++column) {
        std::vector<Forecast> competing;
        for (std::size_t i = 0; i < candidates; ++i)
          competing.push_back(seen[first + i][row][column]);
        cells[row].push_back(verdict_of(competing));
      }
    return cells;
  };
  map.physics = verdicts(0);
  if (dense.fitted) map.fitted = verdicts(candidates);
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<int> workers;
    for (const Forecast& forecast : seen[0][row]) workers.push_back(forecast.ranks);
    map.workers.push_back(workers);
  }
  return map;
}

}  // namespace

int breakeven(int argc, const char* const* argv) {
  const Interruption interruption;
  Flags flags = make_flags();
  if (!flags.parse(argc, argv)) return 0;
  BreakEvenAsked asked = read_breakeven(flags);
  const Engine& engine = chosen_engine(flags);

  DataFiles files = DataFiles::standard();
  try {
    const TransferChoice transfer = read_transfer(flags, files);
    transfer.apply(asked.request);
    require_fitted_software(flags, asked, files);
    const std::vector<Contestant> contestants = contestants_of(flags, asked, files);
    std::vector<Answered> answers;
    std::optional<WinMap> map;
    if (asked.over) answers = answer_questions(flags, asked, contestants, engine, files);
    if (asked.map) map = make_map(flags, asked, contestants, map_engine(engine), files);

    Answer answer;
    std::vector<std::string> sentences;
    std::set<std::string> engines;
    for (const Answered& answered : answers) {
      for (const Json& row : rows_of(answered)) {
        answer.rows.push_back(row);
        if (row["engine"] != "") engines.insert(row["engine"]);
      }
      const auto said = sentences_of(answered.told);
      sentences.insert(sentences.end(), said.begin(), said.end());
    }
    if (!answers.empty()) answer.table = breakeven_table(answers);
    if (map) {
      engines.insert(map->engine);
      const auto said = map_sentences(*map);
      sentences.insert(sentences.end(), said.begin(), said.end());
      answer.more["map"] = map_rows(*map);
      if (flags.format() == Format::Csv) answer.rows = map_rows(*map);
      answer.table += (answers.empty() ? "" : "\n") + map_table(*map);
    }
    answer.summary["sentences"] = sentences;
    answer.seed = asked.request.count_spread > 0 ? Json(asked.request.seed) : Json();
    deliver(flags, files.inputs(), join({engines.begin(), engines.end()}), answer);
    note_engine(flags, engine);
    if (const auto& fitted = contestants.front().estimates.fitted;
        flags.given("fitted") && fitted && fitted->software.empty())
      flags.note("the cluster has a fit of its own, " + fitted->request.cluster +
                 ": --fitted changes nothing");
    std::vector<UsedCosts> used;
    for (const Contestant& contestant : contestants)
      used.push_back({asked.request.costs, contestant.name, asked.request.implementation,
                      asked.request.costs_folder});
    note_transfer(flags, transfer, used, files);
  } catch (const ValueError& error) {
    throw UsageError(error.what());
  }
  return 0;
}

}  // namespace gradcast::commands
