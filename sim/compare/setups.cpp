#include "sim/compare/setups.hpp"

#include <algorithm>

#include "sim/compare/groups.hpp"

namespace gradcast {
namespace {

/// Rows of one set-up, as indices; those that count, in their order.
std::vector<std::vector<std::size_t>> setups_of(const std::vector<ComparedRun>& runs) {
  std::vector<std::vector<std::size_t>> setups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].counts()) continue;
    const auto same = [&](const std::vector<std::size_t>& setup) {
      return same_setup(runs[setup.front()].run, runs[i].run);
    };
    const auto found = std::find_if(setups.begin(), setups.end(), same);
    if (found == setups.end())
      setups.push_back({i});
    else
      found->push_back(i);
  }
  return setups;
}

/// The name of each row's algorithm: "topk", or "topk 0.01 code" if the set-up has runs of it at
/// several densities and modes.
std::vector<std::string> labels_of(const std::vector<ComparedRun>& runs, const Aspect& algorithm,
                                   const std::vector<std::size_t>& setup) {
  std::vector<std::string> labels;
  for (const std::size_t i : setup) {
    const std::string name = algorithm.of(runs[i]);
    bool densities = false;
    bool modes = false;
    for (const std::size_t other : setup) {
      if (algorithm.of(runs[other]) != name) continue;
      densities = densities || runs[other].run.density != runs[i].run.density;
      modes = modes || runs[other].run.mode != runs[i].run.mode;
    }
    labels.push_back(name + (densities ? " " + number_to_text(runs[i].run.density) : "") +
                     (modes ? " " + runs[i].run.mode : ""));
  }
  return labels;
}

const ComparedRun* dense_of(const std::vector<ComparedRun>& runs, const ComparedRun& like) {
  for (const ComparedRun& other : runs)
    if (other.run.compressor == "dense" && same_setup(other.run, like.run)) return &other;
  return nullptr;
}

/// An algorithm's runs of a set-up.
struct Entrant {
  std::string label;
  Seconds measured{0};  // sums; divided by the rows they are means
  Seconds forecast{0};
  int rows = 0;

  Seconds mean_measured() const { return measured / rows; }
  Seconds mean_forecast() const { return forecast / rows; }
};

std::vector<Entrant> entrants_of(const std::vector<ComparedRun>& runs,
                                 const std::vector<std::size_t>& setup,
                                 const std::vector<std::string>& labels) {
  std::vector<Entrant> entrants;
  for (std::size_t i = 0; i < setup.size(); ++i) {
    auto found = std::find_if(entrants.begin(), entrants.end(),
                              [&](const Entrant& entrant) { return entrant.label == labels[i]; });
    if (found == entrants.end()) found = entrants.insert(found, Entrant{labels[i]});
    found->measured += runs[setup[i]].run.iteration;
    found->forecast += runs[setup[i]].predicted();
    ++found->rows;
  }
  return entrants;
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
    const ComparedRun* dense = dense_of(runs, run);
    if (dense == nullptr || run.run.payload.count > 0) continue;
    run.measured_speedup = dense->run.iteration / run.run.iteration;
    run.predicted_speedup = dense->predicted() / run.predicted();
  }
}

std::vector<SpeedupPair> speedups_of_fastest(const std::vector<ComparedRun>& runs) {
  std::vector<SpeedupPair> pairs;
  const Aspect algorithm = by_algorithm(runs);
  for (const std::vector<std::size_t>& setup : setups_of(runs)) {
    const std::vector<std::string> labels = labels_of(runs, algorithm, setup);
    std::size_t best = 0;
    for (std::size_t i = 1; i < setup.size(); ++i)
      if (runs[setup[i]].run.iteration < runs[setup[best]].run.iteration) best = i;
    const ComparedRun& fastest = runs[setup[best]];
    for (std::size_t i = 0; i < setup.size(); ++i) {
      const ComparedRun& run = runs[setup[i]];
      if (labels[i] != labels[best])
        pairs.push_back({run.run.source, run.run.model, labels[best], labels[i],
                         run.run.iteration / fastest.run.iteration,
                         run.predicted() / fastest.predicted()});
    }
  }
  return pairs;
}

std::vector<Ranking> rankings_of(const std::vector<ComparedRun>& runs) {
  std::vector<Ranking> rankings;
  const Aspect algorithm = by_algorithm(runs);
  for (const std::vector<std::size_t>& setup : setups_of(runs)) {
    std::vector<Entrant> entrants = entrants_of(runs, setup, labels_of(runs, algorithm, setup));
    if (entrants.size() < 2) continue;
    Ranking ranking{.setup = runs[setup.front()], .measured = {}, .forecast = {}, .swapped = {}};
    const auto by = [](Seconds (Entrant::*time)() const) {
      return [time](const Entrant& a, const Entrant& b) { return (a.*time)() < (b.*time)(); };
    };
    std::stable_sort(entrants.begin(), entrants.end(), by(&Entrant::mean_measured));
    ranking.measured = names_of(entrants);
    for (std::size_t a = 0; a < entrants.size(); ++a)
      for (std::size_t b = a + 1; b < entrants.size(); ++b) {
        const Entrant& faster = entrants[a];
        const Entrant& slower = entrants[b];
        if (faster.mean_measured() < slower.mean_measured() &&
            faster.mean_forecast() > slower.mean_forecast())
          ranking.swapped.push_back({faster.label, slower.label,
                                     100 * (slower.mean_measured() / faster.mean_measured() - 1)});
      }
    // The sort is stable and begins with the measured order, so equal forecasts keep that order.
    std::stable_sort(entrants.begin(), entrants.end(), by(&Entrant::mean_forecast));
    ranking.forecast = names_of(entrants);
    rankings.push_back(std::move(ranking));
  }
  return rankings;
}

}  // namespace gradcast
