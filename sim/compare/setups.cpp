#include "sim/compare/setups.hpp"

#include <algorithm>

#include "sim/compare/entrants.hpp"

namespace gradcast {
namespace {

const ComparedRun* fastest_dense_of(const std::vector<ComparedRun>& runs, const ComparedRun& like) {
  const ComparedRun* fastest = nullptr;
  for (const ComparedRun& other : runs)
    if (!other.is_compressed() && same_setup(other.run, like.run) &&
        (fastest == nullptr || other.run.iteration < fastest->run.iteration))
      fastest = &other;
  return fastest;
}

std::vector<std::string> names_of(const std::vector<Entrant>& entrants) {
  std::vector<std::string> names;
  names.reserve(entrants.size());
  for (const Entrant& entrant : entrants) names.push_back(entrant.label);
  return names;
}

}  // namespace

void add_speedups(std::vector<ComparedRun>& runs) {
  for (ComparedRun& run : runs) {
    const ComparedRun* dense = fastest_dense_of(runs, run);
    if (dense == nullptr || run.run.payload.count > 0) continue;
    run.measured_speedup = dense->run.iteration / run.run.iteration;
    run.predicted_speedup = dense->predicted() / run.predicted();
    run.dense_fusion = to_text(dense->run.fusion);
    run.dense_counts = dense->counts();
    if (run.is_compressed())
      run.speedup_interval =
          speedup_interval(run.predicted(), run.doubt, dense->predicted(), dense->doubt);
  }
}

std::vector<SpeedupPair> speedups_of_fastest(const std::vector<ComparedRun>& runs) {
  std::vector<SpeedupPair> pairs;
  for (const auto& [setup, entrants] : entrants_of(runs)) {
    const Entrant& fastest = *std::min_element(
        entrants.begin(), entrants.end(),
        [](const Entrant& a, const Entrant& b) { return a.measured < b.measured; });
    for (const Entrant& other : entrants)
      if (&other != &fastest)
        pairs.push_back({setup.run.source, setup.run.model, fastest.label, other.label,
                         other.measured / fastest.measured, other.forecast / fastest.forecast});
  }
  return pairs;
}

std::vector<Ranking> rankings_of(const std::vector<ComparedRun>& runs) {
  std::vector<Ranking> rankings;
  for (auto& [setup, entrants] : entrants_of(runs)) {
    if (entrants.size() < 2) continue;
    Ranking ranking{.setup = setup, .measured = {}, .forecast = {}, .swapped = {}};
    const auto by = [](Seconds Entrant::*time) {
      return [time](const Entrant& a, const Entrant& b) { return a.*time < b.*time; };
    };
    std::stable_sort(entrants.begin(), entrants.end(), by(&Entrant::measured));
    ranking.measured = names_of(entrants);
    for (std::size_t a = 0; a < entrants.size(); ++a)
      for (std::size_t b = a + 1; b < entrants.size(); ++b) {
        const Entrant& faster = entrants[a];
        const Entrant& slower = entrants[b];
        if (faster.measured < slower.measured && faster.forecast > slower.forecast)
          ranking.swapped.push_back(
              {faster.label, slower.label, 100 * (slower.measured / faster.measured - 1)});
      }
    // The sort is stable and begins with the measured order, so equal forecasts keep that order.
    std::stable_sort(entrants.begin(), entrants.end(), by(&Entrant::forecast));
    ranking.forecast = names_of(entrants);
    rankings.push_back(std::move(ranking));
  }
  return rankings;
}

}  // namespace gradcast
