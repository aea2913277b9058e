#include "sim/compare/entrants.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "sim/compare/groups.hpp"

namespace gradcast {
namespace {

/// Rows of one set-up, as indices, in their order.
std::vector<std::vector<std::size_t>> setups_of(const std::vector<ComparedRun>& runs) {
  std::vector<std::vector<std::size_t>> setups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].counts() || runs[i].is_upper_bound()) continue;
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

/// Aspects that may tell runs of one algorithm apart within a set-up, in the order of the label.
const std::vector<Aspect>& telling_aspects() {
  static const std::vector<Aspect> aspects = {
      {"density", [](const ComparedRun& c) { return number_to_text(c.run.density); }},
      {"parameter",
       [](const ComparedRun& c) {
         return c.run.parameter ? number_to_text(*c.run.parameter) : std::string();
       }},
      {"mode", [](const ComparedRun& c) { return c.run.mode; }},
      {"selection", [](const ComparedRun& c) { return to_text(c.run.selection); }},
      {"fusion", [](const ComparedRun& c) { return to_text(c.run.fusion); }},
      {"overlap",
       [](const ComparedRun& c) { return std::string(c.run.overlap ? "overlap" : "no overlap"); }},
  };
  return aspects;
}

/// The name of each row's algorithm, with each aspect in which runs differ that have the same name
/// up to there.
std::vector<std::string> labels_of(const std::vector<ComparedRun>& runs, const Aspect& algorithm,
                                   const std::vector<std::size_t>& setup) {
  std::vector<std::string> labels;
  for (const std::size_t i : setup) labels.push_back(algorithm.of(runs[i]));
  for (const Aspect& aspect : telling_aspects()) {
    std::map<std::string, std::set<std::string>> values;  // by label so far
    for (std::size_t i = 0; i < setup.size(); ++i)
      values[labels[i]].insert(aspect.of(runs[setup[i]]));
    for (std::size_t i = 0; i < setup.size(); ++i)
      if (const std::string its = aspect.of(runs[setup[i]]);
          values[labels[i]].size() > 1 && !its.empty())
        labels[i] += " " + its;
  }
  return labels;
}

}  // namespace

std::vector<SetupEntrants> entrants_of(const std::vector<ComparedRun>& runs) {
  std::vector<SetupEntrants> all;
  const Aspect algorithm = by_algorithm(runs);
  for (const std::vector<std::size_t>& setup : setups_of(runs)) {
    const std::vector<std::string> labels = labels_of(runs, algorithm, setup);
    std::vector<Entrant> entrants;
    std::vector<int> rows;  // one per entrant
    for (std::size_t i = 0; i < setup.size(); ++i) {
      const ComparedRun& run = runs[setup[i]];
      std::size_t at = 0;
      while (at < entrants.size() && entrants[at].label != labels[i]) ++at;
      if (at == entrants.size()) {
        entrants.push_back({.label = labels[i], .compressed = run.is_compressed()});
        rows.push_back(0);
      }
      entrants[at].measured += run.run.iteration;
      entrants[at].forecast += run.predicted();
      ++rows[at];
    }
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      entrants[i].measured /= rows[i];
      entrants[i].forecast /= rows[i];
    }
    all.push_back({runs[setup.front()], std::move(entrants)});
  }
  return all;
}

}  // namespace gradcast
