#include "sim/breakeven/mapping.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "sim/base/progress.hpp"
#include "sim/breakeven/contest.hpp"
#include "sim/breakeven/forecasts.hpp"
#include "sim/breakeven/quantity.hpp"
#include "sim/breakeven/sentences.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/forecast/workers.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {
namespace {

/// [run][row][column]
using Seen = std::vector<std::vector<std::vector<RunForecast>>>;

/// The engine itself, or its fluid one if it chooses between two.
const Engine& map_engine(const Engine& engine) {
  return engine.fluid.empty() ? engine : *find_engine(engine.fluid);
}

/// Physics of all candidates, then fitted of all.
std::vector<Choices> runs_of(const Contestant& dense, const std::vector<Contestant>& contestants,
                             DataFiles& files) {
  std::vector<Choices> runs;
  runs.emplace_back(dense.physics(), files);
  for (const Contestant& contestant : contestants) runs.emplace_back(contestant.physics(), files);
  if (!dense.estimates.fitted) return runs;
  runs.emplace_back(dense.fitted(), files);
  for (const Contestant& contestant : contestants) runs.emplace_back(contestant.fitted(), files);
  return runs;
}

/// 1, 2, 4, ... as far as there may be as many ranks.
std::vector<int> usual_nodes(int gpus_per_node) {
  std::vector<int> all;
  for (int nodes = 1; nodes <= 64 && nodes * gpus_per_node <= kMostRanks; nodes *= 2)
    all.push_back(nodes);
  return all;
}

/// A map without verdicts.
WinMap empty_map(const BreakEvenAsked& asked, const std::vector<Contestant>& contestants,
                 const Contestant& dense, const Scenario& scenario) {
  WinMap map;
  map.bandwidths = asked.map_bandwidths;
  map.candidates.emplace_back("dense");
  for (const Contestant& contestant : contestants) map.candidates.push_back(contestant.name);
  for (const std::string& name : map.candidates)
    map.families.emplace_back(family_text(known_compressor(name).family));
  if (dense.estimates.fitted) map.software = software_of(*dense.estimates.fitted);
  map.model = scenario.model->name;
  const int gpus = scenario.cluster.gpus_per_node;
  map.setting = map.model + " on " + scenario.cluster.name + " (" + std::to_string(gpus) +
                (gpus == 1 ? " GPU" : " GPUs") + " a node, " +
                in_words(Quantity::Density, asked.request.density, 0) +
                (dense.schedules.size() > 1 ? "; dense by its fastest schedule)" : ")");
  map.nodes = asked.map_nodes.empty() ? usual_nodes(gpus) : asked.map_nodes;
  return map;
}

/// A piece of work is one candidate on so many nodes.
Seen forecast_all(const WinMap& map, std::vector<Choices>& runs, const Engine& engine,
                  std::size_t jobs, bool quiet) {
  for (Choices& run : runs) run.prepare();
  const std::size_t rows = map.nodes.size();
  std::vector<std::size_t> items(runs.size() * rows);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = i;
  Seen seen(runs.size(), std::vector<std::vector<RunForecast>>(rows));
  Progress progress(std::vector<double>(items.size(), 1), quiet);
  std::size_t done = 0;
  const auto make = [&](std::size_t item) {
    std::vector<RunForecast> row;
    for (const double bandwidth : map.bandwidths)
      row.push_back(runs[item / rows].at(
          {{Quantity::Nodes, map.nodes[item % rows]}, {Quantity::NicBandwidth, bandwidth}},
          engine));
    return pack(row);
  };
  const auto take = [&](std::size_t item, const std::string& answer) {
    seen[item / rows][item % rows] = unpack_forecasts(answer);
    if (++done < items.size()) progress.show(done, "map");
  };
  const bool platform = !runs[0].scenario().cluster.platform_file.empty();
  run_forecasts(workers_for(engine, platform), jobs, items, {make, take});
  progress.clear();
  return seen;
}

bool some_fitted(const std::vector<Contestant>& contestants) {
  return std::any_of(contestants.begin(), contestants.end(),
                     [](const Contestant& each) { return each.costs_fitted; });
}

/// An unfitted compressor has no software costs, so it would win unfairly over a fitted one.
void leave_out_unfitted(WinMap& map, const std::vector<Contestant>& contestants, Seen& seen) {
  if (!some_fitted(contestants)) return;
  const std::size_t first_fitted = map.candidates.size();  // dense
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    if (contestants[i].costs_fitted) continue;
    map.left_out.push_back(contestants[i].name);
    for (auto& row : seen[first_fitted + 1 + i])
      for (RunForecast& forecast : row) forecast.problem = "no run with it was fitted";
  }
}

/// The cells over all candidates. Their runs begin with number `first`.
std::vector<std::vector<MapCell>> cells_of(const WinMap& map, const Seen& seen, std::size_t first,
                                           bool costs_known) {
  std::vector<std::vector<MapCell>> cells(map.nodes.size());
  for (std::size_t row = 0; row < map.nodes.size(); ++row)
    for (std::size_t column = 0; column < map.bandwidths.size(); ++column) {
      std::vector<RunForecast> competing;
      for (std::size_t i = 0; i < map.candidates.size(); ++i)
        competing.push_back(seen[first + i][row][column]);
      cells[row].push_back(cell_of(competing, map.families, costs_known));
    }
  return cells;
}

}  // namespace

WinMap make_map(const BreakEvenAsked& asked, const std::vector<Contestant>& contestants,
                const Engine& engine, DataFiles& files, bool quiet) {
  BreakEvenAsked against_dense = asked;
  against_dense.against = "dense";
  const Contestant opponent = opponent_of(against_dense, files);
  const Estimates& dense = opponent.estimates;
  std::vector<Choices> runs = runs_of(opponent, contestants, files);
  const Scenario& scenario = runs[0].scenario();
  for (const Quantity axis : {Quantity::Nodes, Quantity::NicBandwidth})
    require_settable(scenario, axis);
  WinMap map = empty_map(asked, contestants, opponent, scenario);
  map.engine = std::string(map_engine(engine).name);
  Seen seen = forecast_all(map, runs, map_engine(engine), asked.jobs, quiet);
  if (dense.fitted) leave_out_unfitted(map, contestants, seen);
  map.physics = cells_of(map, seen, 0, true);
  if (dense.fitted)
    map.fitted = cells_of(map, seen, map.candidates.size(), some_fitted(contestants));
  for (const std::vector<RunForecast>& row : seen[0]) {
    std::vector<int> workers;
    for (const RunForecast& forecast : row) workers.push_back(forecast.ranks);
    map.workers.push_back(workers);
  }
  return map;
}

}  // namespace gradcast
